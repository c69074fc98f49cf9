"""`context-engine ingest`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from api.cli.common import json_option, on_terminal, plural, print_json, say, scope_option
from api.cli.following import check_follow, until_interrupted
from api.cli.progress import Meter
from connectors.base import Connector, LiveConnector, ReadOptions
from connectors.registry import SOURCES, load
from context_engine.errors import ContextEngineError, UsageError
from context_engine.logs import configure
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.search import Searcher
from workers.collector import CollectReport, collect, read_options
from workers.handover import collect_spool
from workers.outbox import Outbox
from workers.parts import engine
from workers.progress import Progress, all_progress, run_progress, run_summary
from workers.refill import refill_ledger
from workers.supervisor import is_running

POLL_SECONDS = 0.1


@click.command("ingest")
@click.argument("source", type=click.Choice(sorted(SOURCES)))
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@scope_option
@click.option("--project", help="Project of everything read; default: from the source.")
@click.option("--follow", is_flag=True, help="Stay on and collect what happens: slack-live.")
@click.option("--wait", is_flag=True, help="With `up` running: wait until all is searchable.")
@json_option
def command(
    source: str,
    paths: tuple[Path, ...],
    scope: str | None,
    project: str | None,
    follow: bool,
    wait: bool,
    as_json: bool,
) -> int:
    """Collect SOURCE from PATHS (default: where it usually lies) into the memory.

    Only what is new is read. With `up` running the events are handed over to it; otherwise the
    engine is started for as long as it takes. Interrupt and run again: it goes on.
    """
    settings = load_settings()
    settings.paths.create()
    connector = load(source)
    chosen = _existing(connector, paths)
    if follow:
        check_follow(connector)
    configure("ingest", folder=settings.paths.logs)
    options = read_options(settings, Scope(scope) if scope else None, project)
    options = dataclasses.replace(options, follow=follow)
    summary = ingest(settings, connector, chosen, options, wait=wait)
    if as_json:
        print_json(summary)
    else:
        _print(summary, settings)
    return _exit_code(summary, source)


def _exit_code(summary: dict[str, Any], source: str) -> int:
    if not summary["events"] and not summary["unchanged"] and not summary["checkpoints"]:
        say(f"nothing here looks like {source} data; see: context-engine sources")
        return 1
    return 1 if summary["quarantined"] else 0


def _existing(connector: Connector, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    if paths and isinstance(connector, LiveConnector):
        raise UsageError(
            f"{connector.name} is asked over the network and takes no PATH; files are read by: "
            f"context-engine ingest {connector.shares} PATH"
        )
    chosen = paths or tuple(path.expanduser() for path in connector.default_paths)
    missing = [str(path) for path in chosen if not path.exists()]
    if missing:
        raise UsageError(
            f"no such file or folder: {', '.join(missing)}; name the place of your "
            f"{connector.name} data: context-engine ingest {connector.name} PATH"
        )
    return chosen


def ingest(
    settings: Settings,
    connector: Connector,
    paths: tuple[Path, ...],
    options: ReadOptions,
    *,
    wait: bool,
) -> dict[str, Any]:
    """Collect, work, and return what was read and what became of it.

    wait: also when a running engine takes the events over.
    """
    started = time.monotonic()
    outbox = Outbox(settings.paths.outbox)
    refill_ledger(settings.paths, outbox)
    report = CollectReport()
    with engine(settings) as handed_over, Meter(enabled=on_terminal()) as meter:
        options = meter.reading(options)
        if not handed_over:
            collect_spool(settings, outbox)
        with until_interrupted(connector.name) if options.follow else nullcontext():
            collect(
                connector,
                paths,
                outbox,
                options,
                redaction=settings.redaction_options,
                report=report,
                on_bad=meter.bad,
            )
        if handed_over and wait:
            _await(settings, lambda: run_progress(outbox, report.run_id), meter)
        elif not handed_over:
            # nobody else would finish what an interrupted run has left
            _await(settings, lambda: all_progress(outbox), meter)
    summary = run_summary(outbox, report)
    pending = all_progress(outbox).unfinished
    return summary | {
        "handed_over": handed_over,
        "pending": pending,
        "seconds": round(time.monotonic() - started, 2),
    }


def _await(settings: Settings, progress_of: Callable[[], Progress], meter: Meter) -> None:
    while (progress := progress_of()).unfinished:
        meter.working(progress.total - progress.unfinished, progress.total)
        _pause(settings)
    wait_for_vectors(settings, meter)


def _pause(settings: Settings) -> None:
    """Sleep for a moment; raise ContextEngineError when nobody works any more."""
    if not is_running(settings.paths):
        raise ContextEngineError(
            "the engine that took the events over has stopped; nothing is lost, "
            "run the command again to go on"
        )
    time.sleep(POLL_SECONDS)


def wait_for_vectors(settings: Settings, meter: Meter) -> None:
    """Return when every chunk has its vector or was given up."""
    searcher = Searcher(settings.paths, None)
    while (missing := _unembedded(searcher)) > 0:
        meter.embedding(missing)
        _pause(settings)


def _unembedded(searcher: Searcher) -> int:
    counted = [searcher.stats(scope) for scope in Scope]
    return sum(stats.chunks - stats.embedded - stats.quarantined for stats in counted)


def _print(summary: dict[str, Any], settings: Settings) -> None:
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
    if summary["redacted"]:
        hidden = ", ".join(f"{n} {kind}" for kind, n in sorted(summary["redacted"].items()))
        click.echo(f"redacted  {hidden}")
    _print_refused(summary)


def _print_refused(summary: dict[str, Any]) -> None:
    if summary["bad_count"]:
        click.echo(f"refused   {plural(summary['bad_count'], 'record')}, the rest went on:")
        for bad in summary["bad_records"][:20]:
            click.echo(f"          {bad['place']}: {bad['reason']}")
        if summary["bad_count"] > 20:  # noqa: PLR2004 - a screenful
            click.echo("          … all of them with --json")
    for kind, count in sorted(summary["unknown_types"].items()):
        click.echo(f"unknown   {plural(count, 'record')} of type {kind!r}, left out")
    for item in summary["quarantine"]:
        click.echo(f"given up  {item['queue']} ({item['class']}): {item['reason']}")
    _hint(summary)


def _hint(summary: dict[str, Any]) -> None:
    if summary["waiting_for_llm"]:
        say(
            f"{plural(summary['waiting_for_llm'], 'conversation')} waiting for the local model; "
            "until it answers, insights come from rules (cues) and are marked raw"
        )
    if summary["events"] and not any(summary["insights"].values()) and not summary["pending"]:
        say("no insights: they come from what the owner says; owner_name in config.toml names you")
    if summary["pending"]:
        say(f"handed over; {plural(summary['pending'], 'job')} to go: context-engine status")
