"""What `context-engine ingest` prints: what was read, or would be, and what was refused."""

from __future__ import annotations

from typing import Any

import click

from api.cli.common import plural, say
from context_engine.settings import Settings

_SHOWN = 20
"""Lines of one kind: a screenful."""


def print_summary(summary: dict[str, Any], settings: Settings) -> None:
    """Print what was read and what became of it."""
    insights = {kind: n for kind, n in summary["insights"].items() if n}
    click.echo(
        f"read      {plural(summary['events'], 'event')}, {plural(summary['messages'], 'message')}"
        f" ({summary['new']:,} new, {summary['unchanged']:,} unchanged)"
    )
    click.echo(
        f"written   {plural(summary['notes'], 'note')}, {plural(summary['chunks'], 'chunk')}"
        f" below {settings.paths.vaults}"
    )
    found = ", ".join(f"{n} {kind}" for kind, n in insights.items()) or "none"
    click.echo(f"insights  {found}")
    _print_older(summary)
    if summary["redacted"]:
        hidden = ", ".join(f"{n} {kind}" for kind, n in sorted(summary["redacted"].items()))
        click.echo(f"redacted  {hidden}")
    _print_refused(summary)
    for item in summary["quarantine"]:
        click.echo(f"given up  {item['queue']} ({item['class']}): {item['reason']}")
    if summary["quarantine"]:
        click.echo("          mend the cause, then: context-engine retry --all")
    _hint(summary)


def print_preview(summary: dict[str, Any]) -> None:
    """Print what would be read."""
    known = summary["messages"] - summary["new"]
    again = f", {known:,} known, to be brought up to date" if known else ""
    click.echo(
        f"would take {plural(summary['messages'], 'message')} ({summary['new']:,} new{again})"
        f" of {plural(summary['documents'], 'document')}"
    )
    years = ", ".join(f"{year}: {count:,}" for year, count in summary["years"].items())
    click.echo(f"by year   {years or 'nothing'}")
    if summary["withdrawn"]:
        click.echo(f"deleted   {summary['withdrawn']:,} at the source since")
    if summary["unchanged"]:
        click.echo(f"unchanged {summary['unchanged']:,} files or conversations read before")
    _print_older(summary)
    _print_refused(summary)
    click.echo("nothing was written")


def _print_older(summary: dict[str, Any]) -> None:
    if summary["older"]:
        said = plural(summary["older"], "message")
        click.echo(f"older     {said} left out, said before --since or nobody knows when")


def _print_refused(summary: dict[str, Any]) -> None:
    if summary["bad_count"]:
        click.echo(f"refused   {plural(summary['bad_count'], 'record')}, the rest went on:")
        for bad in summary["bad_records"][:_SHOWN]:
            click.echo(f"          {bad['place']}: {bad['reason']}")
        if summary["bad_count"] > _SHOWN:
            click.echo("          … all of them with --json")
    for kind, count in _most(summary["kept_types"]):
        click.echo(f"kept      {plural(count, 'record')} of unknown form {kind!r}, kept as text")
    for kind, count in _most(summary["unknown_types"]):
        click.echo(f"unknown   {plural(count, 'record')} of type {kind!r}, left out")


def _most(counted: dict[str, int]) -> list[tuple[str, int]]:
    """Return the kinds in order of their names; of very many the most frequent, and the rest."""
    most = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    rest = most[_SHOWN:]
    others = [(f"{len(rest)} other kinds", sum(count for _, count in rest))] if rest else []
    return sorted(most[:_SHOWN]) + others


def _hint(summary: dict[str, Any]) -> None:
    if summary["waiting_for_disk"]:
        say(
            f"{plural(summary['waiting_for_disk'], 'job')} waiting for a place that can be written "
            f"({summary['disk']}); the next ingest, or `context-engine up`, goes on with them"
        )
    if summary["waiting_for_llm"]:
        say(
            f"{plural(summary['waiting_for_llm'], 'conversation')} waiting for the local model; "
            "until it answers, insights come from rules (cues) and are marked raw"
        )
    if summary["events"] and not any(summary["insights"].values()) and not summary["pending"]:
        say("no insights: they come from what the owner says; owner_name in config.toml names you")
    if summary["pending"]:
        say(f"handed over; {plural(summary['pending'], 'job')} to go: context-engine status")
