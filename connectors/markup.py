"""Pieces of Markdown that several sources write or read."""

from __future__ import annotations

import re


def fence(code: str, language: str = "") -> str:
    """Return `code` as a fenced block on lines of its own; the fence is longer than any inside."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    marks = "`" * (longest + 1)
    return f"\n{marks}{language}\n{code.strip(chr(10))}\n{marks}\n"


def quoted(text: str) -> str:
    """Return `text` as a block quote."""
    body = text.strip("\n")
    return "\n".join(f"> {line}".rstrip() for line in body.split("\n")) if body else ""


def without_comments(text: str) -> str:
    """Return Markdown without HTML comments, in which templates explain themselves."""
    pieces = []
    position = 0
    while (start := text.find("<!--", position)) >= 0:
        end = text.find("-->", start)
        if end < 0:
            break
        pieces.append(text[position:start])
        position = end + 3
    return "".join([*pieces, text[position:]])
