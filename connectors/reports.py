"""Reading one file after the other, and what is reported of one in which nearly all is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from connectors.archive import Member, anywhere, walk_members
from connectors.base import Item, ReadOptions
from context_engine.events import BadRecord

BAD_RECORDS_SHOWN = 100
"""Bad records of one file that are named one by one; the rest is counted."""


def read_members(
    roots: Sequence[Path],
    options: ReadOptions,
    read: Callable[[Member], Iterator[Item]],
    *,
    enter: Callable[[str], bool] = anywhere,
) -> Iterator[Item]:
    """Yield what `read` makes of each file at or below `roots`, and what was refused and why.

    enter: says of an archive inside an archive, by its path, whether to look into it.
    """
    for item in walk_members(roots, options.progress, enter=enter):
        if isinstance(item, Member):
            yield from named_or_counted(read(item), item.place)
        else:
            yield item


def named_or_counted(items: Iterator[Item], file: str) -> Iterator[Item]:
    """Pass on `items`, but of very many bad records only their number."""
    bad = 0
    for item in items:
        bad += isinstance(item, BadRecord)
        if not isinstance(item, BadRecord) or bad <= BAD_RECORDS_SHOWN:
            yield item
    if bad > BAD_RECORDS_SHOWN:
        yield BadRecord(file, f"{bad - BAD_RECORDS_SHOWN} more records could not be read")
