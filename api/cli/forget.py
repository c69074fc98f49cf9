"""`context-engine forget`."""

from __future__ import annotations

import sys
from typing import Any

import click

from api.cli.common import json_option, plural, print_json, say, settings_of_memory
from api.cli.terminal import clip
from api.forgetting import (
    Plan,
    carry_out,
    finish_interrupted,
    history_advice,
    plan_event,
    plan_insight,
    plan_note,
)
from api.forgetting.plan import place_of_argument
from context_engine.errors import NotFoundError, UsageError
from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import Hit, SearchRequest
from vault.notes import read_note
from workers.outbox import Outbox

_SHOWN = 10
_ID_LENGTH = 12


@click.command("forget")
@click.argument("what", metavar="PATH|ID|QUERY", required=False)
@click.option("--event", metavar="ID", help="The conversation or page that an event brought.")
@click.option("--insights", is_flag=True, help="Also what was drawn from it.")
@click.option("--history", is_flag=True, help="Say how to purge earlier versions, Git's included.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    what: str | None, event: str | None, insights: bool, history: bool, yes: bool, as_json: bool
) -> int:
    """Forget a note for good: the file, what waits in queues, the index, the traces in logs.

    PATH is a note (work/sources/…/x.md), ID an insight. For anything else the memory is searched
    and the places found are named. A tombstone without any text keeps a later import from bringing
    it back. Works with the engine running and without.
    """
    settings = settings_of_memory()
    home = settings.paths
    home.create()
    resumed = finish_interrupted(settings)
    if resumed:
        say(f"finished {plural(resumed, 'interrupted forgetting')} first")
    plan = _plan(home, what, event, insights=insights)
    if plan is None:
        return 1
    advice = history_advice(home, plan) if history else ()
    if not as_json:
        _preview(home, plan)
    if not yes and not _agreed():
        say("nothing was forgotten")
        return 1
    left = carry_out(settings, plan)
    if as_json:
        print_json({**_plan_json(plan), "left_to_do": list(left), "history": list(advice)})
    else:
        say("forgotten")
        for line in advice:
            click.echo(line)
    for line in left:
        say(f"note: {line}")
    return 1 if left else 0


def _plan(home: Home, what: str | None, event: str | None, *, insights: bool) -> Plan | None:
    outbox = Outbox(home.outbox)
    if (what is None) == (event is None):
        raise UsageError("say what to forget: a note's PATH, an insight's ID, a QUERY, or --event")
    if event is not None:
        return plan_event(home, outbox, event, insights=insights)
    text = what or ""
    place = place_of_argument(home, text)
    if place is not None:
        return plan_note(home, outbox, *place, insights=insights)
    if len(text) == _ID_LENGTH and set(text) <= set("0123456789abcdef"):
        return plan_insight(home, text)
    if text.endswith(".md"):
        raise NotFoundError(f"there is no note {text!a}; write it as work/… or as a file's path")
    return _chosen(home, outbox, text, insights=insights)


def _chosen(home: Home, outbox: Outbox, query: str, *, insights: bool) -> Plan | None:
    """Show where the memory speaks of `query`, and take the one that a person names."""
    found = _found(home, query)
    if not found:
        say("nothing found")
        return None
    for number, hit in enumerate(found, 1):
        click.echo(f"{number:2}. {clip(hit.title, 70)}\n    {hit.scope.value}/{hit.path}")
    if not sys.stdin.isatty():
        say("name one of these: context-engine forget PATH")
        return None
    choice = click.prompt("which one (0: none)", type=click.IntRange(0, len(found)), default=0)
    if choice == 0:
        return None
    hit = found[choice - 1]
    return plan_note(home, outbox, hit.scope, hit.path, insights=insights)


def _found(home: Home, query: str) -> list[Hit]:
    from index.search import Searcher

    searcher = Searcher(home, None)
    try:
        hits = [
            hit
            for scope in (Scope.PERSONAL, Scope.WORK)
            for hit in searcher.search(scope, SearchRequest(query, limit=_SHOWN)).hits
        ]
    finally:
        searcher.close()
    hits.sort(key=lambda hit: -hit.score)
    return list({(hit.scope, hit.path): hit for hit in hits}.values())[:_SHOWN]


def _preview(home: Home, plan: Plan) -> None:
    click.echo("This would go for good:")
    for scope, path in plan.notes:
        try:
            title = read_note(home, scope, path).title
        except NotFoundError:
            title = "gone already"
        click.echo(f"  note     {scope.value}/{path}  {clip(title, 50)}")
    for part in plan.sections:
        click.echo(f"  section  {part.scope.value}/{part.path}  {part.insight_id}")
    if plan.events:
        click.echo(f"  events   {len(plan.events)} with what waits of them, their index and traces")
    _preview_left(plan)


def _preview_left(plan: Plan) -> None:
    if plan.left:
        click.echo(f"These were drawn from it and stay ({len(plan.left)}); --insights takes them:")
        for scope, path in plan.left[:_SHOWN]:
            click.echo(f"  note     {scope.value}/{path}")
    if plan.identity:
        click.echo("This stays in your identity; take it out with: context-engine identity edit")
        for line in plan.identity[:_SHOWN]:
            click.echo(f"  line     {clip(line, 70)}")


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("nobody can be asked here; look at what would go, then add --yes")
    return click.confirm("forget it?", default=False)


def _plan_json(plan: Plan) -> dict[str, Any]:
    return {
        "notes": [f"{scope.value}/{path}" for scope, path in plan.notes],
        "sections": [
            {"note": f"{part.scope.value}/{part.path}", "insight_id": part.insight_id}
            for part in plan.sections
        ],
        "events": list(plan.events),
        "insights": list(plan.insights),
        "kept": [f"{scope.value}/{path}" for scope, path in plan.left],
        "kept_in_identity": list(plan.identity),
    }
