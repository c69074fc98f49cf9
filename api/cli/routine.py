"""`context-engine routine`."""

from __future__ import annotations

import click

from api.cli.common import json_option, print_json, say, settings_of_memory
from api.routines.history import History
from api.routines.report import RoutineState, routine_states
from api.routines.runner import routine_named, run_routine
from context_engine.logs import configure
from context_engine.settings import Settings

_name = click.argument("name")


@click.group("routine")
def command() -> None:
    """List, run and pause what the engine does by itself: the [[routine]] of config.toml."""


def _settings() -> Settings:
    settings = settings_of_memory()
    settings.paths.create()
    return settings


@command.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """Show each routine: when it ran last, what came of it, when it runs next."""
    settings = _settings()
    states = routine_states(settings)
    if as_json:
        print_json({"routines": [state.as_json() for state in states]})
        return
    for state in states:
        click.echo(_line(state))
    if not states:
        say(f"no routines yet; add a [[routine]] to {settings.paths.config_file}")


def _line(state: RoutineState) -> str:
    last = f"{state.last.outcome} {state.last.started}" if state.last else "never ran"
    following = "paused" if state.paused else f"next {state.next_run}"
    if state.running:
        following = "running"
    failing = f", failed {state.failures} times in a row" if state.failing else ""
    return f"{state.name:<20} {state.source:<16} {state.when:<16} {last}, {following}{failing}"


@command.command("run")
@_name
@json_option
def run(name: str, *, as_json: bool) -> int:
    """Run NAME now and wait for its end: for a person, or a scheduler other than `up`.

    With `up` running it works off what was collected; otherwise the engine is started for it.
    A run that is going on already is left alone.
    """
    settings = _settings()
    configure("routines", folder=settings.paths.logs)
    result = run_routine(settings, routine_named(settings, name))
    if as_json:
        print_json(
            {
                "routine": result.routine,
                "outcome": result.outcome,
                "counts": result.counts,
                "error": result.error,
            }
        )
    elif result.outcome == "busy":
        say(f"{name} is running already")
    else:
        counts = ", ".join(f"{key} {value}" for key, value in result.counts.items())
        click.echo(f"{name}: {result.error or counts or 'done'}")
    return 1 if result.outcome == "failed" else 0


@command.command("history")
@click.argument("name", required=False)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Only the last so many.",
)
@json_option
def history(name: str | None, limit: int, *, as_json: bool) -> None:
    """Show the last runs, newest first."""
    settings = _settings()
    with History(settings.paths.routines) as kept:
        runs = kept.runs(name, limit)
    if as_json:
        print_json({"runs": [item.as_json() for item in runs]})
        return
    for item in runs:
        counts = ", ".join(f"{key} {value}" for key, value in item.counts.items())
        click.echo(f"{item.started} {item.routine:<20} {item.outcome:<8} {item.error or counts}")
    if not runs:
        say("no runs yet")


@command.command("pause")
@_name
def pause(name: str) -> None:
    """Let NAME rest until `resume`; `routine run` still runs it."""
    _set_paused(name, paused=True)


@command.command("resume")
@_name
def resume(name: str) -> None:
    """Let NAME run again; what it missed is made up for once."""
    _set_paused(name, paused=False)


def _set_paused(name: str, *, paused: bool) -> None:
    settings = _settings()
    routine_named(settings, name)
    with History(settings.paths.routines) as kept:
        kept.pause(name, paused=paused)
    say(f"{name} {'pauses' if paused else 'goes on'}")
