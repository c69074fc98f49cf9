"""Marks around the context we hand to an assistant, so that we never collect our own words.

What is injected stands between `<context-engine …>` and `</context-engine>`. Whoever reads a
transcript cuts it out again with `strip_injected`; whoever injects uses `wrap_injected`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TAG = "context-engine"
OPEN = f"<{TAG}"
CLOSE = f"</{TAG}>"

# A marker ends at `>`; one that was cut short ends where the next tag or the text ends. Neither
# class overlaps its neighbour, so matching is linear.
_MARKER = re.compile(rf"<(/?){TAG}(?![\w-])[^<>]*>?", re.IGNORECASE)


def wrap_injected(text: str, kind: str) -> str:
    """Return `text` between the marks; marks inside it are taken out first."""
    # a blank in place of each: what stood around one must not join to another
    return f'{OPEN} kind="{kind}">\n{_MARKER.sub(" ", text).strip()}\n{CLOSE}'


def strip_injected(text: str) -> str:
    """Return `text` without what stands between our marks. Linear in the length of `text`.

    Marks nest. An open mark that is never closed hides all that follows: losing the end of one
    message is better than learning our own words as somebody's.
    """
    if OPEN not in text.lower() and CLOSE not in text.lower():
        return text
    return "".join(_outside(text))


def _outside(text: str) -> Iterator[str]:
    depth, position = 0, 0
    for marker in _MARKER.finditer(text):
        if depth == 0:
            yield text[position : marker.start()]
        depth = max(0, depth - 1) if marker.group(1) else depth + 1
        position = marker.end()
    if depth == 0:
        yield text[position:]
