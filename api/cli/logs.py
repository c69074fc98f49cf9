"""`context-engine logs`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain

import click

from api.cli.common import say, settings_of_memory
from api.log_reading import LogLine, concerns, follow, last_lines, parts
from context_engine.errors import UsageError

_COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}
_SHOWN_APART = ("timestamp", "level", "event", "component")


@click.command("logs")
@click.option("--follow", "-f", "followed", is_flag=True, help="Go on showing what comes.")
@click.option("--part", help="Only of this part: worker, extractor, indexer, api, supervisor …")
@click.option("--event", "wanted", help="Only what concerns this event or job, by its id.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Only the last so many lines.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def command(
    *, followed: bool, part: str | None, wanted: str | None, limit: int, as_json: bool
) -> None:
    """Show what the parts of the engine logged, in order of time."""
    folder = settings_of_memory().paths.logs
    there = parts(folder)
    if part is not None and part not in there:
        raise UsageError(f"no part {part!a} has a log; there are: {', '.join(there) or 'none yet'}")
    lines: Iterable[LogLine] = last_lines(folder, part, wanted, limit)
    if not lines and not followed:
        say("no such lines")
    if followed:
        lines = chain(lines, follow(folder, part))
    for line in lines:
        if wanted is None or concerns(line, wanted):
            click.echo(_json(line) if as_json else _text(line))


def _json(line: LogLine) -> str:
    # escaped: what is logged holds file names and errors, which a terminal would obey
    return json.dumps({"part": line.part, **line.fields}, ensure_ascii=True)


def _text(line: LogLine) -> str:
    level = str(line.fields.get("level", "info"))
    head = f"{line.at[:19].replace('T', ' ')} {line.part:<10} {level:<8}"
    message = _printable(str(line.fields.get("event", "")))
    rest = " ".join(
        f"{name}={_printable(str(value))}"
        for name, value in line.fields.items()
        if name not in _SHOWN_APART and value is not None
    )
    return f"{click.style(head, fg=_COLOURS.get(level))}{message}  {rest}".rstrip()


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
