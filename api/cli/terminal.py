"""Text of the memory on a terminal: nothing that it obeys, wrapped by the width of characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_WIDE = frozenset("WF")
_NO_STARTERS = frozenset("、。，．・：；？！ー）」』】〉》]),.!?:;")


def shown(text: str) -> str:
    """Return `text` on one line without control and format characters, which a terminal obeys."""
    return " ".join("".join(map(_harmless, text)).split())


def width(text: str) -> int:
    """Return how many columns `text` takes."""
    return sum(map(_columns, text))


def clip(text: str, columns: int) -> str:
    """Return `text` as `shown`, cut to so many columns with an ellipsis."""
    line = shown(text)
    if width(line) <= columns:
        return line
    kept, used = "", 0
    for character in line:
        used += _columns(character)
        if used > columns - 1:
            break
        kept += character
    return f"{kept}…"


def wrapped(text: str, columns: int) -> Iterator[str]:
    """Yield lines of at most `columns`; Japanese breaks anywhere but before 。 and its like."""
    for paragraph in text.splitlines():
        yield from _wrapped(shown(paragraph), max(columns, 10))


def _wrapped(line: str, columns: int) -> Iterator[str]:
    while width(line) > columns:
        place = _break(line, columns)
        yield line[:place].rstrip()
        line = line[place:].lstrip()
    yield line


def _break(line: str, columns: int) -> int:
    """Return where to cut: behind the last space or wide character that fits, else anywhere."""
    used, last, fits = 0, 0, 0
    for place, character in enumerate(line):
        used += _columns(character)
        if used > columns:
            break
        fits = place + 1
        after = line[fits : fits + 1]
        if (character == " " or _columns(character) > 1) and after not in _NO_STARTERS:
            last = fits
    return last or fits


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cc":
        return " "
    return "" if category in {"Cf", "Cs", "Zl", "Zp"} else character
