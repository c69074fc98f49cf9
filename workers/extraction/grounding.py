"""Whether what a model wrote is carried by the text it read."""

from __future__ import annotations

import re

from workers.extraction.textmatch import fold

_DISTINCTIVE = re.compile(
    r"https?://[^\s)>\]」]{3,200}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"
    r"|\d+(?:[.,:/]\d+)*|[A-Z][A-Za-z]*[A-Z0-9][A-Za-z0-9]*|[\u30a0-\u30ff]{4,}"
)
_MAX_NAME = 40
_PLACEHOLDERS = frozenset({"john doe", "jane doe", "owner", "user", "assistant", "other", "名前"})


def ungrounded(content: str, seen: str) -> bool:
    """Tell whether `content` names a number, address, identifier or loan word that `seen` lacks.

    seen: folded text, as `textmatch.fold` gives it.
    """
    known = seen.lower()
    return any(
        match.group().lower().rstrip(".,") not in known
        for match in _DISTINCTIVE.finditer(fold(content).text)
    )


def known_name(name: str, seen: str) -> str | None:
    """Return `name` when it occurs in the folded text `seen`; None for an invented one."""
    name = " ".join(name.split())
    if not 1 < len(name) <= _MAX_NAME or name.lower() in _PLACEHOLDERS:
        return None
    return name if fold(name).text in seen else None
