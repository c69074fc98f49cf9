"""What the names of a transcript's file and folder tell: when the meeting was, its title."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

from connectors.text import EARLIEST, shorten

_GMT = re.compile(r"GMT(\d{8})-(\d{6})")
_UTC = re.compile(
    r"(?<!\d)(20\d{2})-?(\d{2})-?(\d{2})T(\d{2})[-:.]?(\d{2})[-:.]?(\d{2})(?:\.\d{1,6})?Z"
)
_DAYS = (
    re.compile(r"(?<!\d)(20\d{2})[-_./](\d{1,2})[-_./](\d{1,2})(?!\d)"),
    re.compile(r"(?<!\d)(20\d{2})年\s?(\d{1,2})月\s?(\d{1,2})日"),
    re.compile(r"(?<!\d)(20\d{2})(\d{2})(\d{2})(?!\d)"),
)
_TIME_OF_DAY = re.compile(r"(?<!\d)\d{1,2}[.:h時]\d{2}(?:[.:分]\d{2}秒?)?(?!\d)")
_GENERIC = re.compile(
    r"(?i)\b(?:meeting[ _-]?saved[ _-]?(?:closed[ _-]?caption|chat)|closed[ _-]?captions?|"
    r"audio[ _-]?transcript|transcripts?|recording|captions?|subtitles?|audio|cc|vtt|srt|"
    r"[0-9]{3,4}x[0-9]{3,4}|zoom \d)(?![^\W_])|文字起こし|議事録|字幕"
)
_COPY = re.compile(r"(?i)[ _-]*(?:\(\d{1,3}\)|- ?copy|のコピー)$")
_EDGES = " \t-_.,·|–—()[]"


def moment_in(*names: str) -> datetime | None:
    """Return when it was, from the first of `names` that has a date: a time in UTC, or a day.

    A day begins at 00:00 UTC: a local time of day without its zone is not taken.
    """
    for name in names:
        moment = _exact(name) or _day(name)
        if moment is not None:
            return moment
    return None


def _exact(name: str) -> datetime | None:
    gmt, utc = _GMT.search(name), _UTC.search(name)
    digits = gmt[1] + gmt[2] if gmt else "".join(utc.groups()) if utc else ""
    try:
        moment = datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC) if digits else None
    except ValueError:
        return None
    return moment if moment and moment >= EARLIEST else None


def _day(name: str) -> datetime | None:
    for pattern in _DAYS:
        for match in pattern.finditer(unicodedata.normalize("NFKC", name)):
            try:
                return datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC)
            except ValueError:
                continue
    return None


def title_in(*names: str) -> str:
    """Return the first of `names` that says more than when and what kind of file; may be empty."""
    for name in names:
        plain = unicodedata.normalize("NFC", name)
        for pattern in (_GMT, _UTC, *_DAYS, _TIME_OF_DAY):
            plain = pattern.sub(" ", plain)
        plain = _GENERIC.sub(" ", _COPY.sub("", plain.strip()).replace("_", " "))
        words = [word for word in plain.split() if word.strip(_EDGES)]
        title = " ".join(words).strip(_EDGES)
        if re.search(r"[^\W\d_]{2}", title):
            return shorten(title)
    return ""


def file_key(name: str) -> str:
    """Return the name of a file as its later downloads share it: without `(1)`."""
    stem, dot, extension = unicodedata.normalize("NFC", name).rpartition(".")
    return f"{_COPY.sub('', stem)}{dot}{extension}".casefold().strip()
