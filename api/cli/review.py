"""`context-engine review`: a person decides what is true."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from api.cli.common import json_option, plural, print_json, say, settings_of_memory
from api.cli.terminal import shown
from api.notify import OutboxNotifier
from api.review import (
    Choice,
    Desk,
    Edit,
    Item,
    Report,
    Result,
    accept,
    add_to_identity,
    batches,
    edit,
    find,
    merge,
    pending,
    reject,
    reseal,
    set_place,
    similar,
    summary,
    undo,
)
from context_engine.clock import SystemClock, isoformat
from context_engine.errors import ContextEngineError, UsageError
from context_engine.insights import Kind
from context_engine.scopes import Scope
from context_engine.settings import Settings

_KINDS = click.Choice([kind.value for kind in Kind])
_SCOPES = click.Choice([scope.value for scope in Scope])
scope_filter = click.option("--scope", type=_SCOPES, help="Only insights of this vault.")
kind_filter = click.option("--kind", type=_KINDS, help="Only this kind.")
ids_argument = click.argument("ids", nargs=-1, required=True, metavar="ID…")


@click.group("review", invoke_without_command=True)
@scope_filter
@kind_filter
@click.pass_context
def command(context: click.Context, scope: str | None, kind: str | None) -> int | None:
    """Decide what of the raw insights is true: one key each, on a terminal.

    The subcommands do the same one by one or in bulk. An ID may be written ID@HASH, with the
    content_hash that `list --json` gave: then text that changed since is not decided on.
    """
    if context.invoked_subcommand is not None:
        return None
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("review asks on a terminal; without one use: context-engine review list")
    from api.cli.review_screen import run

    settings = settings_of_memory()
    return run(settings, desk_of(settings), scopes_of(scope), kinds_of(kind))


@command.command("list")
@scope_filter
@kind_filter
@click.option("--project", help="Only this project.")
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many."
)
@click.option(
    "--offset",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Pass over so many first.",
)
@json_option
def list_(
    scope: str | None,
    kind: str | None,
    project: str | None,
    limit: int,
    offset: int,
    as_json: bool,
) -> None:
    """List the insights that wait, newest first."""
    page = pending(
        settings_of_memory().paths,
        scopes=scopes_of(scope),
        kinds=kinds_of(kind),
        project=project,
        limit=limit,
        offset=offset,
    )
    if as_json:
        print_json({"total": page.total, "insights": [item_json(item) for item in page.items]})
        return
    for item in page.items:
        click.echo(f"{item.insight_id}  {item.scope.value:<8} {item.kind.value:<8} "
                   f"{shown(item.title)}")  # fmt: skip
    say(f"{plural(page.total, 'insight')} wait" + ("" if page.total != 1 else "s"))


@command.command("show")
@click.argument("insight_id", metavar="ID")
@json_option
def show(insight_id: str, as_json: bool) -> int:
    """Show one insight with its evidence, its source and what resembles it."""
    settings = settings_of_memory()
    item = find(settings.paths, insight_id)
    if item is None:
        say(f"no vault holds an insight {insight_id!a}")
        return 1
    if as_json:
        print_json({**item_json(item), "similar": similar_json(settings, item)})
        return 0
    from api.cli.review_screen import card

    for line in card(item, similar_json(settings, item)):
        click.echo(line)
    return 0


@command.command("accept")
@ids_argument
@json_option
def accept_(ids: tuple[str, ...], as_json: bool) -> int:
    """Confirm insights: they count as validated from now on."""
    return done(lambda desk: accept(desk, choices_of(ids)), as_json=as_json)


@command.command("reject")
@ids_argument
@json_option
def reject_(ids: tuple[str, ...], as_json: bool) -> int:
    """Take insights out; extraction does not bring them back."""
    return done(lambda desk: reject(desk, choices_of(ids)), as_json=as_json)


@command.command("merge")
@ids_argument
@click.option("--into", required=True, metavar="ID", help="The insight that stays.")
@json_option
def merge_(ids: tuple[str, ...], into: str, as_json: bool) -> int:
    """Take the evidence of insights into another and take them out."""
    return done(lambda desk: merge(desk, choices_of(ids), into), as_json=as_json)


@command.command("edit")
@click.argument("insight_id", metavar="ID")
@click.option("--title", help="Replaces the statement in one line.")
@click.option("--content", help="Replaces what it says.")
@click.option("--project", help="Replaces the project.")
@click.option("--person", "people", multiple=True, help="Replaces the people; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Replaces the tags; may be repeated.")
@click.option("--accept", "accepted", is_flag=True, help="Confirm it at once.")
@json_option
def edit_(  # noqa: PLR0913, PLR0917 - one parameter an option
    insight_id: str,
    title: str | None,
    content: str | None,
    project: str | None,
    people: tuple[str, ...],
    tags: tuple[str, ...],
    accepted: bool,
    as_json: bool,
) -> int:
    """Change what an insight says; it stays raw without --accept."""
    changes = Edit(title, content, project, people or None, tags or None)
    if changes == Edit():
        raise UsageError("say what to change: --title, --content, --project, --person or --tag")
    (choice,) = choices_of((insight_id,))
    return done(lambda desk: edit(desk, choice, changes, accepted=accepted), as_json=as_json)


@command.command("set")
@ids_argument
@click.option("--kind", type=_KINDS, help="The kind it is to be.")
@click.option("--scope", type=_SCOPES, help="The vault it is to go to.")
@click.option("--subject", help="Whom or what it is about, for kinds person and project.")
@click.option("--widen", is_flag=True, help="Yes, readers of another scope shall see it.")
@json_option
def set_(
    ids: tuple[str, ...],
    kind: str | None,
    scope: str | None,
    subject: str | None,
    widen: bool,
    as_json: bool,
) -> int:
    """Move insights to another kind or scope; each gets a new ID."""
    new_kind, new_scope = Kind(kind) if kind else None, Scope(scope) if scope else None
    return done(
        lambda desk: set_place(
            desk, choices_of(ids), kind=new_kind, scope=new_scope, subject=subject, widen=widen
        ),
        as_json=as_json,
    )


@command.command("identity")
@click.argument("insight_id", metavar="ID")
@click.option(
    "--visibility",
    type=_SCOPES,
    default=Scope.PERSONAL.value,
    show_default=True,
    help="Scope of the widest readers it is for.",
)
@json_option
def identity(insight_id: str, visibility: str, as_json: bool) -> int:
    """Add what an insight says of you to your identity, and confirm it."""
    (choice,) = choices_of((insight_id,))
    return done(lambda desk: add_to_identity(desk, choice, Scope(visibility)), as_json=as_json)


@command.command("reseal")
@click.argument("ids", nargs=-1, metavar="[ID]…")
@click.option("--all", "every", is_flag=True, help="All that say validated without a seal.")
@json_option
def reseal_(ids: tuple[str, ...], every: bool, as_json: bool) -> int:
    """Confirm insights that say validated without a seal: from before seals, or without their key.

    Look at them first (`review list`): a file may say so of itself.
    """
    settings = settings_of_memory()
    choices = choices_of(ids) if ids else _unsealed(settings, every=every)
    return done(lambda desk: reseal(desk, choices), as_json=as_json)


@command.command("undo")
@click.argument("batch", required=False)
@json_option
def undo_(batch: str | None, as_json: bool) -> int:
    """Take back a decision, the latest by default."""
    return done(lambda desk: undo(desk, batch), as_json=as_json)


@command.command("log")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Only the last so many."
)
@json_option
def log(limit: int, as_json: bool) -> None:
    """List the latest decisions, which `undo` takes back."""
    found = batches(settings_of_memory().paths, limit)
    if as_json:
        rows = [{**dataclasses.asdict(one), "at": isoformat(one.at)} for one in found]
        print_json({"decisions": rows})
        return
    for one in found:
        undone = "  (undone)" if one.undone else ""
        what = f"{one.action} {plural(len(one.insights), 'insight')}"
        click.echo(f"{one.batch}  {isoformat(one.at)}  {one.by}  {what}{undone}")


@command.command("summary")
@json_option
def summary_(as_json: bool) -> None:
    """Say how many insights wait, and what was decided in the last seven days."""
    found = summary(settings_of_memory().paths, SystemClock().now())
    if as_json:
        oldest = isoformat(found.oldest) if found.oldest else None
        print_json({**dataclasses.asdict(found), "oldest": oldest})
        return
    said = f"{found.said_this_week:,} of them said in the last seven days"
    click.echo(f"{plural(found.waiting, 'insight')} waiting, {said}")
    for name, count in sorted(found.by_kind.items()):
        click.echo(f"  {name:<9} {count}")
    if found.claims_validated:
        click.echo(f"  {found.claims_validated} say validated without a seal: review reseal")
    decided = ", ".join(f"{name} {count}" for name, count in found.decided_this_week.items())
    click.echo(f"decided this week: {decided or 'nothing'}")


def desk_of(settings: Settings) -> Desk:
    """Return the desk of whoever sits at this machine."""
    settings.paths.create()
    return Desk(settings.paths, notify=OutboxNotifier(settings))


def scopes_of(scope: str | None) -> tuple[Scope, ...]:
    """Return the one scope asked for, else all."""
    return (Scope(scope),) if scope else tuple(Scope)


def kinds_of(kind: str | None) -> tuple[Kind, ...]:
    """Return the one kind asked for, else all."""
    return (Kind(kind),) if kind else tuple(Kind)


def choices_of(ids: Sequence[str]) -> tuple[Choice, ...]:
    """Return what `ID` and `ID@HASH` choose; `-` reads more from stdin, one a line."""
    words = [word for one in ids for word in (sys.stdin.read().split() if one == "-" else [one])]
    pairs = (word.partition("@") for word in words)
    return tuple(Choice(insight_id, content or None) for insight_id, _, content in pairs)


def done(decide: Callable[[Desk], Report], *, as_json: bool) -> int:
    """Carry a decision out, say what became of it, and return the exit code."""
    report = decide(desk_of(settings_of_memory()))
    if as_json:
        print_json(dataclasses.asdict(report))
    else:
        print_report(report)
    return 0 if report.ok else 1


def print_report(report: Report) -> None:
    """Say what a decision did."""
    for one in report.done:
        new = f" → {one.insight_id}" if one.insight_id != one.asked else ""
        reason = f": {shown(one.reason)}" if one.reason else ""
        click.echo(f"{shown(one.asked)}{new}  {one.result.value}{reason}")
    if report.batch and report.action != "undo" and _some(report):
        say(f"take it back with: context-engine review undo {report.batch}")


def item_json(item: Item) -> dict[str, Any]:
    """Return an insight as the command line prints it."""
    created = isoformat(item.created) if item.created else None
    return {**dataclasses.asdict(item), "place": item.place, "created": created}


def similar_json(settings: Settings, item: Item) -> list[dict[str, Any]]:
    """Return what resembles an insight by its words; nothing while there is no index."""
    from index.search import Searcher

    searcher = Searcher(settings.paths, None)
    try:
        return [dataclasses.asdict(one) for one in similar(searcher, item)]
    except ContextEngineError as error:
        say(f"not compared: {error}")
        return []
    finally:
        searcher.close()


def _some(report: Report) -> bool:
    return any(one.result is Result.DONE for one in report.done)


def _unsealed(settings: Settings, *, every: bool) -> tuple[Choice, ...]:
    page = pending(settings.paths, limit=sys.maxsize)
    found = [item for item in page.items if item.claims_validated]
    if not every:
        raise UsageError(
            f"{plural(len(found), 'insight')} say validated without a seal; name them, or --all"
        )
    return tuple(Choice(item.insight_id, item.content_hash) for item in found)
