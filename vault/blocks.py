"""The body of a note that the engine appends to: blocks under marked headings, bytes kept.

    ## heading <!-- ce:u=1f0e9d8c7b6a5948 owner key=value … h=0a1b2c3d -->

Source notes hold messages (`u`), project and person notes hold insights (`i`). Text from outside
passes through `vault.escape`, so that only such a line is a boundary. `h` is the hash of what the
engine wrote below the heading: when it no longer matches, a person edited the block. Headings
without a marker are a person's; they end the block above them and are left alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from vault.fences import find_fences

_BOUNDARY = re.compile(
    r"^## (?P<heading>[^\n]*?) ?<!-- ce:(?P<type>[ui])=(?P<marker>[0-9a-f]{12,32})"
    r"(?P<fields>(?: [^\s<>]+)*) -->[ \t]*\r?$",
    re.MULTILINE,
)
_FOREIGN = re.compile(r"^#{1,2}(?:[ \t]|\r?$)", re.MULTILINE)
_HASH_LENGTH = 8

WORD = "word"
"""The field that is written without a name: a message's role, an insight's confidence."""


@dataclass(frozen=True)
class Block:
    """One marked heading and its text. `raw` is all of it as it stands in the file.

    `raw` = heading line + text + `tail`, where `tail` is what a person added under headings of
    their own. `text` is still escaped, without blank edges.
    """

    type: str
    marker: str
    heading: str
    fields: Mapping[str, str]
    text: str
    tail: str
    raw: str

    @property
    def edited(self) -> bool:
        """Whether a person changed the text since the engine wrote it."""
        return self.fields.get("h") != _hash(self.heading, self.fields, self.text)


@dataclass(frozen=True)
class Body:
    """`lead` + the blocks' `raw` is the body, byte for byte."""

    lead: str
    blocks: tuple[Block, ...] = field(default=())

    def render(self) -> str:
        """Return the body's text, with a blank line before each block where one was missing."""
        pieces: list[str] = []
        for piece in filter(None, (self.lead, *(block.raw for block in self.blocks))):
            if pieces and not pieces[-1].endswith("\n\n"):
                pieces.append("\n" if pieces[-1].endswith("\n") else "\n\n")
            pieces.append(piece)
        return "".join(pieces)


def parse_body(body: str) -> Body:
    """Split `body` at its marked headings. A marker that occurs twice counts the first time."""
    matches: list[re.Match[str]] = []
    seen: set[str] = set()
    for match in _BOUNDARY.finditer(body):
        if match["marker"] not in seen:
            matches.append(match)
            seen.add(match["marker"])
    edges = [match.start() for match in matches[1:]] + [len(body)]
    blocks = tuple(
        _parse_block(match, body[match.start() : edge])
        for match, edge in zip(matches, edges, strict=False)
    )
    return Body(body[: matches[0].start()] if matches else body, blocks)


def make_block(kind: str, marker: str, heading: str, fields: Mapping[str, str], text: str) -> Block:
    """Return a block as the engine writes it; `heading` is one line, `text` is escaped."""
    complete = {**fields, "h": _hash(heading, fields, text)}
    pairs = "".join(
        f" {value}" if name == WORD else f" {name}={value}" for name, value in complete.items()
    )
    raw = f"## {heading} <!-- ce:{kind}={marker}{pairs} -->\n\n{text}\n"
    return Block(kind, marker, heading, complete, text, "", raw)


def replaced(old: Block, new: Block) -> Block:
    """Return `new` in the place of `old`, with what a person wrote under headings of their own."""
    gap = "\n" if old.tail else ""
    return replace(new, tail=old.tail, raw=f"{new.raw}{gap}{old.tail}")


def _hash(heading: str, fields: Mapping[str, str], text: str) -> str:
    """Return 8 hex digits over what a person sees; editors trim blanks at line ends."""
    lines = [heading, fields.get(WORD, ""), *text.strip().split("\n")]
    seen = "\n".join(line.rstrip() for line in lines)
    return hashlib.sha256(seen.encode("utf-8", "replace")).hexdigest()[:_HASH_LENGTH]


def _parse_block(match: re.Match[str], raw: str) -> Block:
    below = raw[match.end() - match.start() :].removeprefix("\r").removeprefix("\n")
    text, tail = _split_tail(below)
    return Block(
        type=match["type"],
        marker=match["marker"],
        heading=match["heading"].strip(),
        fields=dict(_fields(match["fields"])),
        text=_trimmed(text),
        tail=tail,
        raw=raw,
    )


def _fields(text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        name, equals, value = word.partition("=")
        yield (name, value) if equals else (WORD, word)


def _trimmed(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n").rstrip()


def _split_tail(text: str) -> tuple[str, str]:
    """Separate the block's own text from what begins with an unmarked `#` or `##` heading."""
    if not _FOREIGN.search(text):
        return text, ""
    lines = text.split("\n")
    code = find_fences([line.rstrip("\r") for line in lines]).code_lines()
    for number, line in enumerate(lines):
        if number not in code and _FOREIGN.match(line):
            return "\n".join([*lines[:number], ""]), "\n".join(lines[number:])
    return text, ""
