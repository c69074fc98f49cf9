"""An invented activity log of Gemini, as Takeout tells it in JSON and in HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Record = dict[str, Any]

STYLES = "<style>" + ".mdl-cell{margin:8px}" * 8_000 + "</style>"
"""Real pages begin with a long style sheet."""


@dataclass(frozen=True)
class Locale:
    """How Google writes a row in one language and zone."""

    product: str
    prompted: str
    zone: str
    hours: float
    format: str
    folder: str
    file: str

    def local(self, at: datetime) -> str:
        moment = at + timedelta(hours=self.hours)
        text = moment.strftime(self.format)
        return text.replace(" 0", " ") + f" {self.zone}"


ENGLISH = Locale(
    "Gemini Apps", "Prompted ", "PST", -8, "%b %d, %Y, %I:%M:%S\u202f%p",
    "My Activity/Gemini Apps", "MyActivity",
)  # fmt: skip
JAPANESE = Locale(
    "Gemini アプリ", "送信したメッセージ: ", "JST", 9, "%Y/%m/%d %H:%M:%S",
    "マイ アクティビティ/Gemini アプリ", "マイアクティビティ",
)  # fmt: skip
GERMAN = Locale(
    "Gemini-Apps", "Eingegebener Prompt: ", "MEZ", 1, "%d.%m.%Y, %H:%M:%S",
    "Meine Aktivitäten/Gemini-Apps", "MeineAktivitäten",
)  # fmt: skip
BRITISH = Locale(
    "Gemini Apps", "Prompted ", "GMT", 0, "%d %b %Y, %H:%M:%S",
    "My Activity/Gemini Apps", "MyActivity",
)  # fmt: skip


@dataclass(frozen=True)
class Turn:
    """One prompt and its answers."""

    at: datetime
    prompt: str
    answers: tuple[str, ...] = ("<p>An answer.</p>",)
    thread: str | None = None
    notes: tuple[str, ...] = ()


def as_json(turns: Sequence[Turn], locale: Locale = ENGLISH) -> list[Record]:
    """Return the log, newest first."""
    return [_record(turn, locale) for turn in sorted(turns, key=lambda it: it.at, reverse=True)]


def _record(turn: Turn, locale: Locale) -> Record:
    record: Record = {
        "header": locale.product,
        "title": locale.prompted + turn.prompt,
        "time": turn.at.strftime("%Y-%m-%dT%H:%M:%S.568Z"),
        "products": [locale.product],
        "safeHtmlItem": [{"html": answer} for answer in turn.answers],
    }
    if turn.thread:
        record["titleUrl"] = f"https://gemini.google.com/app/{turn.thread}"
    if turn.notes:
        record["subtitles"] = [{"name": note} for note in turn.notes]
    return record


def as_html(turns: Sequence[Turn], locale: Locale = ENGLISH, styles: str = STYLES) -> bytes:
    """Return the log as the page that Takeout makes unless told otherwise."""
    cells = [_cell(turn, locale) for turn in sorted(turns, key=lambda it: it.at, reverse=True)]
    return page(cells, styles)


def page(cells: Sequence[str], styles: str = STYLES) -> bytes:
    return (
        f"<html><head><title>My Activity History</title>{styles}</head><body>"
        f'<div class="mdl-grid">{"".join(cells)}</div></body></html>'
    ).encode()


def _cell(turn: Turn, locale: Locale) -> str:
    prefix = locale.prompted.replace(" ", "\u00a0") if locale is ENGLISH else locale.prompted
    title = html.escape(turn.prompt)
    if turn.thread:
        title = f'<a href="https://gemini.google.com/app/{turn.thread}">{title}</a>'
    notes = "".join(f"{html.escape(note)}<br>" for note in turn.notes)
    answer = "".join(turn.answers)
    return cell(locale.product, f"{prefix}{title}<br>{notes}{locale.local(turn.at)}<br>{answer}")


def cell(product: str, content: str) -> str:
    width = "mdl-cell mdl-cell--12-col"
    text = "content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1"
    return (
        f'<div class="outer-cell {width} mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell {width}"><p class="mdl-typography--title">{product}<br></p></div>'
        f'<div class="{text}">{content}</div>'
        f'<div class="{text} mdl-typography--text-right"></div>'
        f'<div class="content-cell {width} mdl-typography--caption"><b>Products:</b><br>'
        f"&emsp;{product}<br></div></div></div>"
    )


def keep_note(**fields: Any) -> Record:
    return {
        "color": "DEFAULT",
        "isTrashed": False,
        "isPinned": False,
        "isArchived": False,
        "textContent": "Valkeyにする",
        "title": "Queue",
        "userEditedTimestampUsec": 1_791_190_800_000_000,
        "createdTimestampUsec": 1_791_180_000_000_000,
        **fields,
    }
