"""`context-engine save`."""

from __future__ import annotations

import getpass
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from api.cli.common import caller_scope, json_option, print_json, say, scope_option
from context_engine.errors import UsageError
from context_engine.insights import Kind
from context_engine.settings import Settings, load_settings

_MAX_INPUT = 40_000
_SAVED = {
    "created": "saved",
    "updated": "known already, further evidence noted",
    "unchanged": "known already, nothing to change",
    "kept": "known already, in words of yours, which stay as they are",
    "rejected": "turned down before, nothing was saved",
}


@click.command("save")
@click.argument("content")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    required=True,
    help="Which of the five kinds of insight it is.",
)
@click.option("--title", help="The statement in one line; default: its first sentence.")
@click.option("--evidence", help="What was said, word for word.")
@click.option("--project", help="The project it belongs to.")
@click.option("--person", "people", multiple=True, help="Whom it is about; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated.")
@scope_option
@json_option
def command(scope: str | None, as_json: bool, **given: Any) -> int:
    """Save one insight; CONTENT is the whole statement, `-` reads it from stdin.

    It is raw until you accept it with `context-engine review`. What is known already gains
    evidence; what contradicts it is replaced, stays readable and says by what.
    """
    settings = load_settings()
    answer = _save(settings, scope, _arguments(given))
    if as_json:
        print_json(answer)
    else:
        _print(answer)
    return 0


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    from vault.statements import summary_of

    content = given["content"]
    if content == "-":
        content = sys.stdin.read(_MAX_INPUT)
    if not content.strip():
        raise UsageError("nothing to save: the content is empty")
    title = given["title"] or summary_of(content)
    filled = {key: value for key, value in given.items() if value}
    return {**filled, "content": content, "title": title}


def _save(settings: Settings, scope: str | None, arguments: dict[str, Any]) -> dict[str, Any]:
    from api.audit import AuditLog
    from api.caller import Caller, Transport
    from api.dispatch import perform
    from api.exchange import Exchange
    from api.notify import OutboxNotifier
    from api.operations.save_insight import SAVE_INSIGHT
    from api.problems import Problem
    from api.services import Engine
    from context_engine.clock import SystemClock
    from context_engine.logs import configure

    configure("save", folder=settings.paths.logs)
    settings.paths.create()
    clock, audit = SystemClock(), AuditLog(settings.paths.audit_log)
    folder = str(Path.cwd())
    caller = Caller(_user(), caller_scope(settings, scope), Transport.CLI, folder)
    exchange = Exchange(Transport.CLI, SAVE_INSIGHT.name, clock.monotonic(), caller)
    engine = Engine(settings, OutboxNotifier(settings), clock)
    answer = perform(SAVE_INSIGHT, engine.services, caller, arguments, audit)
    if isinstance(answer, Problem):
        exchange.outcome = answer.code
        exchange.record(audit, clock)
        raise UsageError(answer.message)
    exchange.results = answer.result_ids()
    exchange.record(audit, clock)
    return answer.model_dump(mode="json")


def _user() -> str:
    with suppress(OSError, KeyError):
        return f"cli-{getpass.getuser()}"
    return "cli"


def _print(answer: dict[str, Any]) -> None:
    say(_SAVED.get(answer["outcome"], answer["outcome"]))
    if answer["path"]:
        click.echo(answer["path"])
    for item in answer["resembles"]:
        say(f"  {item['relation']:<13} {item['similarity']:.2f}  {item['path']}  {item['title']}")
    for warning in answer["warnings"]:
        say(f"note: {warning}")
