"""`context-engine audit`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from api.audit_reading import read_audit
from api.cli.common import json_option, plural, say, settings_of_memory
from context_engine.clock import parse_utc
from context_engine.errors import UsageError

DEFAULT_LIMIT = 50


@click.command("audit")
@click.option("--client", help="Only requests of this client, as token list names it.")
@click.option("--since", help="Not older: 2026-11-02 or 2026-11-02T09:05:00Z.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="Only the last so many.",
)
@json_option
def command(client: str | None, since: str | None, limit: int, as_json: bool) -> None:
    """Show who asked the memory for what, oldest first: never the words, only what left.

    Requests without a valid token have no client.
    """
    home = settings_of_memory().paths
    home.create()
    report = read_audit(home.audit_log, client=client, since=_moment(since), limit=limit)
    if as_json:
        # escaped: names are callers' words, and a terminal obeys control and bidi characters
        data = {"requests": list(report.requests), "unreadable": report.unreadable}
        click.echo(json.dumps(data, ensure_ascii=True, indent=2))
        return
    for request in report.requests:
        click.echo(_line(request))
    if not report.requests:
        say("no such requests")
    if report.unreadable:
        say(f"{plural(report.unreadable, 'line')} of the log cannot be read")


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_utc(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--since {text!a} is no date: write 2026-11-02 or 2026-11-02T09:05:00Z"
        ) from error


def _line(request: dict[str, Any]) -> str:
    return (
        f"{_shown(request['time'])}  {_shown(request['client'] or '-'):<16} "
        f"{_shown(request['scope'] or '-'):<8} {_shown(request['transport']):<5} "
        f"{_shown(request['action']):<20} {_shown(request['outcome'])}, "
        f"{plural(len(request['results']), 'result')}, {_shown(request['ms'])} ms"
    )


def _shown(value: object) -> str:
    """Return `value` without anything that a terminal would obey."""
    return ascii(str(value))[1:-1]
