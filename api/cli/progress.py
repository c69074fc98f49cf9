"""Progress on a terminal: a bar for reading, one for working; silent where nobody watches."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TimeRemainingColumn,
)
from rich.text import Text

from api.cli.common import plural
from connectors.base import ReadOptions
from context_engine.events import BadRecord
from workers.collector import CollectReport

_KB = 1024
LINE_SECONDS = 10.0
"""Where nobody watches a bar, a line now and then says that it goes on."""


class _Described(ProgressColumn):
    """What a bar is about; how much was taken in so far, as it is when the bar is drawn.

    A source may have read all its bytes long before it has told what they mean.
    """

    def __init__(self, taken: Callable[[], str]) -> None:
        super().__init__()
        self._taken = taken

    def render(self, task: Task) -> Text:
        """Return the text before the bar."""
        counted = f"{self._taken()}, " if task.fields.get("counted") else ""
        return Text(f"{counted}{task.description}")


class Meter:
    """Shows how far an ingest is."""

    def __init__(self, *, enabled: bool) -> None:
        self._progress = Progress(
            _Described(lambda: plural(self._report.messages, "message")),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not enabled,
        )
        self._reading = self._progress.add_task("reading KB", total=None, counted=True)
        self._working = self._progress.add_task("notes, insights, index", total=None, visible=False)
        self._embedding = self._progress.add_task("vectors", total=None, visible=False)
        self._most_missing = 0
        self._enabled = enabled
        self._report = CollectReport()
        self._file, self._file_bytes, self._file_messages = "", 0, 0
        self._done = 0
        self._next_line = time.monotonic() + LINE_SECONDS

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file_done()
        self._progress.stop()

    def reading(self, options: ReadOptions, report: CollectReport) -> ReadOptions:
        """Return `options` that tell this meter what is read; `report` counts what it is."""
        self._report = report
        return dataclasses.replace(options, progress=self._advance)

    def _advance(self, read: int, total: int, place: str = "") -> None:
        if place != self._file:
            self._file_done()
            self._file, self._file_bytes, self._file_messages = place, 0, self._report.messages
        self._file_bytes += read
        self._done += read
        self._progress.update(
            self._reading,
            advance=read / _KB,
            total=total / _KB if total else None,
        )
        self._line(f"{_size(self._done)} read")

    def _file_done(self) -> None:
        """Where nobody watches a bar, each file that brought something is a line."""
        brought = self._report.messages - self._file_messages
        if self._file and brought and not self._enabled:
            self._print(
                f"read {self._file}: {_size(self._file_bytes)}, {plural(brought, 'message')}"
            )
        self._file = ""

    def bad(self, record: BadRecord) -> None:
        """Say at once what could not be read."""
        self._print(f"refused {record.place}: {record.reason}")

    def working(self, done: int, total: int) -> None:
        """Show jobs done."""
        self._file_done()
        self._line(f"{done:,} of {total:,} jobs done")
        self._progress.update(self._working, completed=done, total=total, visible=True)

    def embedding(self, missing: int) -> None:
        """Show vectors to go."""
        self._line(f"{missing:,} chunks without vector yet")
        self._most_missing = max(self._most_missing, missing)
        self._progress.update(
            self._embedding,
            completed=self._most_missing - missing,
            total=self._most_missing,
            visible=True,
        )

    def _line(self, text: str) -> None:
        if not self._enabled and time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_SECONDS
            self._print(text)

    def _print(self, text: str) -> None:
        self._progress.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _size(count: int) -> str:
    return plural(count, "byte") if count < _KB else f"{count / _KB:,.0f} KB"
