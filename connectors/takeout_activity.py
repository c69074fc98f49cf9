"""Google Takeout, everything else in the activity log: for those who ask for it by name.

A day of one product is a document. The rows are Google's account of what happened, not the
owner's words. Visits of web pages are not taken at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from connectors.takeout import Log, TakeoutConnector
from connectors.takeout_gemini import is_gemini
from connectors.takeout_records import Activity
from connectors.takeout_spool import Row
from connectors.text import clean_text
from context_engine.clock import isoformat
from context_engine.events import Role
from context_engine.ids import marker_id

_BROWSERS = frozenset({"chrome", ""})


def _is_wanted(product: str) -> bool:
    return product.lower() not in _BROWSERS and not is_gemini(product)


def _rows_of(activity: Activity, owner: str) -> Iterator[Row]:
    del owner
    text = clean_text("\n".join([activity.title, *activity.notes, activity.answer]))
    if text:
        words = "".join(activity.title.split())
        key = f"{isoformat(activity.at)}/{marker_id('activity', activity.product, words)}"
        document = f"{activity.product}/{activity.at:%Y-%m-%d}"
        yield Row(key, document, activity.at, 0, activity.product, Role.OTHER, text)


def _title_of(document: str, rows: Sequence[Row]) -> str:
    del rows
    product, _, day = document.rpartition("/")
    return f"{product} {day}"


CONNECTOR = TakeoutConnector(
    name="takeout-activity",
    accepts="Google Takeout: all other activity (Search, YouTube, Maps, …), a document a day",
    log=Log(_is_wanted, _rows_of, _title_of, "activity without text", notes=False),
)
