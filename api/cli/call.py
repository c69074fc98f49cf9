"""`context-engine call`: the table of operations on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.cli.common import caller_scope, say, scope_option, settings_of_memory
from api.dispatch import perform
from api.exchange import Exchange
from api.notify import OutboxNotifier
from api.operations.budget import to_json
from api.operations.registry import OPERATIONS
from api.problems import Problem
from api.services import Engine
from context_engine.clock import SystemClock
from context_engine.logs import configure

_WRONG_USE = "invalid_arguments"


@click.command("call")
@click.argument("operation", type=click.Choice(list(OPERATIONS)))
@click.argument("arguments", default="{}")
@scope_option
def command(operation: str, arguments: str, scope: str | None) -> int:
    """Call OPERATION as an assistant would, with ARGUMENTS as JSON (`-`: from stdin).

    Prints the answer as JSON. It is written to the audit log like any other request.
    """
    settings = settings_of_memory()
    settings.paths.create()
    configure("call", folder=settings.paths.logs)
    clock, audit = SystemClock(), AuditLog(settings.paths.audit_log)
    caller = Caller("cli", caller_scope(settings, scope), Transport.CLI, str(Path.cwd()))
    exchange = Exchange(Transport.CLI, operation, clock.monotonic(), caller)
    given = sys.stdin.buffer.read() if arguments == "-" else arguments.encode("utf-8", "replace")
    services = Engine(settings, OutboxNotifier(settings), clock).services
    outcome = perform(OPERATIONS[operation], services, caller, given, audit)
    if isinstance(outcome, Problem):
        exchange.outcome = outcome.code
    else:
        exchange.results = outcome.result_ids()
    exchange.record(audit, clock)
    if isinstance(outcome, Problem):
        say(f"{outcome.code}: {outcome.message}")
        return 2 if outcome.code == _WRONG_USE else 1
    click.echo(to_json(outcome))
    return 0
