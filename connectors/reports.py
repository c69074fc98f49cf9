"""What a run reports of a file in which nearly everything is broken."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.base import Item
from context_engine.events import BadRecord

BAD_RECORDS_SHOWN = 100
"""Bad records of one file that are named one by one; the rest is counted."""


def named_or_counted(items: Iterator[Item], file: str) -> Iterator[Item]:
    """Pass on `items`, but of very many bad records only their number."""
    bad = 0
    for item in items:
        bad += isinstance(item, BadRecord)
        if not isinstance(item, BadRecord) or bad <= BAD_RECORDS_SHOWN:
            yield item
    if bad > BAD_RECORDS_SHOWN:
        yield BadRecord(file, f"{bad - BAD_RECORDS_SHOWN} more records could not be read")
