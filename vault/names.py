"""File names: ASCII slug + id, lower case, at most 120 bytes. The title lives in front matter."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from context_engine.ids import short_id

MAX_NAME_BYTES = 120
"""Bytes of one file name with its `.md`; some sync tools and old file systems stop near here."""

_SLUG_LENGTH = 60
_TITLE_LIMIT = 1_000
_WORD = re.compile(r"[a-z0-9]+")
_ID = re.compile(r"[a-z0-9]{1,40}\Z")
_RESERVED = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)


def slug(title: str) -> str:
    """Return the ASCII words of `title` joined by `-`, at most 60 characters; "" when it has none.

    Accents are dropped, width is folded; Japanese leaves nothing behind and the id stands alone.
    """
    folded = unicodedata.normalize("NFKD", title[:_TITLE_LIMIT]).encode("ascii", "ignore")
    words = _WORD.findall(folded.decode("ascii").lower())
    whole = "-".join(words)
    if len(whole) <= _SLUG_LENGTH:
        return whole
    cut = whole[: _SLUG_LENGTH + 1]
    head, _, _ = cut.rpartition("-")
    return head or whole[:_SLUG_LENGTH]


def note_name(title: str, note_id: str, *, date: datetime | None = None, part: int = 1) -> str:
    """Return `[<date>-][<slug>-]<id>[-p002].md`.

    Raises ValueError when `note_id` is not lower-case ASCII letters and digits.
    """
    if not _ID.match(note_id):
        raise ValueError(f"not an id: {note_id!r}")
    pieces = [f"{date:%Y-%m-%d}" if date else "", slug(title), note_id]
    if part > 1:
        pieces.append(f"p{part:03d}")
    return "-".join(piece for piece in pieces if piece) + ".md"


def subject_slug(name: str) -> str:
    """Return the file stem of a project or person, or a source's folder.

    The plain slug when it says all of `name`; otherwise a hash is added, so that `C++` and `C#`,
    田中 and 田口 do not share a note.

    Raises ValueError when `name` is blank.
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    if not folded:
        raise ValueError("a subject needs a name")
    plain = slug(folded)
    spoken = re.sub(r"[ _.\-]+", "-", folded).strip("-")
    if plain and plain == spoken and plain not in _RESERVED:
        return plain
    return "-".join(piece for piece in (plain, short_id("subject", folded)) if piece)
