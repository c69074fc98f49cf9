"""What redaction takes and gives, and the views of a text that its detectors search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

MARKER = re.compile(r"\[redacted:[a-z-]{2,32}\]")

BLANK = "\ufffc"
"""Stands in detectors' eyes for what was redacted before. No value contains it."""

# A token begins where no letter or digit stands before it, except that of an escape: the n of \\n,
# the D of %3D, the m of a terminal's colour.
LEFT_EDGE = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})"
    r"|(?<=\[\dm)|(?<=\[\d\dm)|(?<=\[\d;\d\dm))"
)


def marker(kind: str) -> str:
    """Return what replaces a secret of `kind`."""
    return f"[redacted:{kind}]"


EDGE_BEHIND = LEFT_EDGE.replace(")|", ".)|").replace("))", ".))")
"""LEFT_EDGE, seen from behind the token's first character."""


class Span(NamedTuple):
    """Characters `start` to `end` of a text are a secret of `kind`."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Redacted:
    """`text` without secrets, and how many of which kind were taken out (never a value)."""

    text: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class CustomPattern:
    """A pattern of the owner's own. Build it with `custom_pattern`, which refuses slow ones."""

    name: str
    regex: re.Pattern[str]


@dataclass(frozen=True)
class RedactionOptions:
    """What to look for beyond secrets. E-mail addresses and phone numbers stay by default."""

    patterns: tuple[CustomPattern, ...] = ()
    emails: bool = False
    phones: bool = False


@dataclass(frozen=True)
class Subject:
    """A text and its byte views, one byte a character, so that offsets agree with the text's.

    Searching bytes for a literal runs at memory speed; a case-insensitive regex over a Japanese
    text does not reach 10 MB/s. So detectors look for a literal here, then look closely there.
    """

    text: str

    @cached_property
    def ascii(self) -> bytes:
        """The text with every character outside ASCII as a question mark."""
        return self.text.encode("ascii", "replace")

    @cached_property
    def lower(self) -> bytes:
        """`ascii` in lower case."""
        return self.ascii.lower()

    def places(self, literal: bytes) -> Iterator[int]:
        """Yield where `literal` (lower case) begins, whatever its case in the text."""
        found = self.lower.find(literal)
        while found >= 0:
            yield found
            found = self.lower.find(literal, found + 1)


Detector = Callable[[Subject], Iterator[Span]]
