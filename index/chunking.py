"""Note bodies to chunks: sections of notes, messages of conversations, then the same splitter.

A piece is at most `SIZE` characters, plus up to `OVERLAP` characters of what stood before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

CHUNKER = "h2-message/800+100/1"
"""Changes whenever the same note would get other chunks."""

SIZE = 800
OVERLAP = 100

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+|$)")
_MAX_HEADING = 500
_SECTION_LEVEL = 2
_TABLE_HEADER = 2
_COMMENT = re.compile(r"<!--.*?-->")
_TABLE_ROW = re.compile(r"^ {0,3}\|")
_SENTENCE_END = re.compile(r"(?<=[。．！？!?])|(?<=\. )|(?<=\.\n)")
_SPACE = re.compile(r"(?<=\s)")


@dataclass(frozen=True)
class Section:
    """Text under one H2, or one message. `heading` is its heading path, outermost first."""

    heading: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Piece:
    """One chunk's text with the headings it stands under."""

    heading: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class _Block:
    kind: str
    """`text`, `fence`, `table` or `heading`."""
    text: str


def split_sections(body: str) -> Iterator[Section]:
    """Yield the sections of a note body (front matter removed), cut at H1 and H2 outside fences.

    An H1 starts a section without adding to the heading path: it repeats the note's title.
    """
    heading = ""
    lines: list[str] = []
    for line, fenced in _lines(body):
        found = None if fenced else _HEADING.match(line)
        if found is None or len(found[1]) > _SECTION_LEVEL:
            lines.append(line)
            continue
        yield from _section(heading, lines)
        heading = line[found.end() :][:_MAX_HEADING] if len(found[1]) == _SECTION_LEVEL else ""
        lines = []
    yield from _section(heading, lines)


def split_section(section: Section) -> Iterator[Piece]:
    """Yield the pieces of one section, in order; an empty section that has a heading is one."""
    if len(section.text) <= SIZE:
        yield Piece(section.heading, section.text)
        return
    for heading, blocks in _subsections(section):
        previous = ""
        for text in _pack(blocks):
            yield Piece(heading, _overlap(previous, text) + text)
            previous = text


def plain_heading(text: str) -> str:
    """Return a heading without the engine's markers and closing number signs."""
    return _COMMENT.sub("", text).rstrip(" \t#").strip()


def _section(heading: str, lines: Sequence[str]) -> Iterator[Section]:
    text = "\n".join(lines).strip("\n").rstrip()
    title = plain_heading(heading)
    if text or title:
        yield Section((title,) if title else (), text)


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it belongs to a code fence."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = mark[1] if mark else ""
            yield line, bool(mark)


def _blocks(text: str) -> Iterator[_Block]:
    """Yield paragraphs, fences, tables and headings; their texts joined by newlines are `text`."""
    kind, lines = "text", list[str]()
    for line, fenced in _lines(text):
        now = "fence" if fenced else _line_kind(line)
        starts = now != kind or now == "heading"
        if lines and (starts or (now == "text" and line.strip() and not lines[-1].strip())):
            yield _Block(kind, "\n".join(lines))
            lines = []
        kind = now
        lines.append(line)
    if lines:
        yield _Block(kind, "\n".join(lines))


def _line_kind(line: str) -> str:
    if _TABLE_ROW.match(line):
        return "table"
    return "heading" if _HEADING.match(line) else "text"


def _subsections(section: Section) -> Iterator[tuple[tuple[str, ...], list[_Block]]]:
    """Group the blocks of an oversize section by the H3…H6 they stand under."""
    path: list[tuple[int, str]] = []
    blocks: list[_Block] = []
    for block in _blocks(section.text):
        found = _HEADING.match(block.text) if block.kind == "heading" else None
        if found:
            # short subsections share a piece; only a full one is closed by the next heading
            if sum(len(b.text) for b in blocks) > SIZE // 2:
                yield (*section.heading, *(name for _, name in path)), blocks
                blocks = []
            if not blocks:
                level = len(found[1])
                path = [(depth, name) for depth, name in path if depth < level]
                path.append((level, plain_heading(block.text[found.end() :][:_MAX_HEADING])))
        blocks.append(block)
    if blocks:
        yield (*section.heading, *(name for _, name in path)), blocks


def _pack(blocks: Sequence[_Block]) -> Iterator[str]:
    """Yield texts of at most SIZE characters, whole blocks together where they fit."""
    held: list[str] = []
    size = 0
    for part in (part for block in blocks for part in _fit(block)):
        if held and size + len(part) + 1 > SIZE:
            yield "\n".join(held).strip("\n")
            held, size = [], 0
        held.append(part)
        size += len(part) + 1
    text = "\n".join(held).strip("\n")
    if text.strip():
        yield text


def _fit(block: _Block) -> Iterator[str]:
    """Yield a block whole when it fits, else in pieces that do."""
    if len(block.text) <= SIZE:
        yield block.text
    elif block.kind == "fence":
        yield from _split_fence(block.text)
    elif block.kind == "table":
        yield from _split_table(block.text)
    else:
        yield from _split_text(block.text)


def _split_fence(text: str) -> Iterator[str]:
    """Split code at lines; each piece is fenced again, so that it stays code."""
    opening, *lines = text.split("\n")
    mark = _FENCE.match(opening)
    closing = mark[1] if mark else "```"
    opening = opening[: SIZE // 8]
    if lines and lines[-1].strip() == closing:
        lines.pop()
    for body in _join(_bounded(lines), "\n", SIZE - len(opening) - len(closing) - 2):
        yield f"{opening}\n{body}\n{closing}"


def _split_table(text: str) -> Iterator[str]:
    """Split a table at rows; each piece repeats the header when that leaves room for rows."""
    lines = text.split("\n")
    header = "\n".join(lines[:_TABLE_HEADER])
    if len(lines) <= _TABLE_HEADER or len(header) > SIZE // 2:
        yield from _split_text(text)
        return
    for rows in _join(_bounded(lines[_TABLE_HEADER:]), "\n", SIZE - len(header) - 1):
        yield f"{header}\n{rows}"


def _split_text(text: str) -> Iterator[str]:
    """Split prose at lines, then sentences, then spaces, then anywhere."""
    yield from _join(_atoms(text), "", SIZE)


def _atoms(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        if len(line) <= SIZE:
            yield line
            continue
        for sentence in _cut(_SENTENCE_END, line):
            if len(sentence) <= SIZE:
                yield sentence
            else:
                yield from _bounded(_cut(_SPACE, sentence))


def _cut(where: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield `text` cut at the empty matches of `where`."""
    places = [0, *(match.start() for match in where.finditer(text)), len(text)]
    return (text[start:end] for start, end in pairwise(places) if end > start)


def _bounded(parts: Iterator[str] | Sequence[str]) -> Iterator[str]:
    """Yield the parts, those that are too long cut hard."""
    for part in parts:
        for start in range(0, max(len(part), 1), SIZE // 2):
            yield part[start : start + SIZE // 2]


def _join(parts: Iterator[str], separator: str, limit: int) -> Iterator[str]:
    """Yield neighbouring parts joined to at most `limit` characters."""
    held: list[str] = []
    size = 0
    for part in parts:
        if held and size + len(part) + len(separator) > limit:
            yield separator.join(held)
            held, size = [], 0
        held.append(part)
        size += len(part) + len(separator)
    if held:
        yield separator.join(held)


def _overlap(previous: str, text: str) -> str:
    """Return the end of the piece before, from a sentence or word start; none around code."""
    ends_in_structure = previous.endswith(("```", "~~~", "|")) or text.startswith(
        ("```", "~~~", "|")
    )
    if not previous or ends_in_structure:
        return ""
    tail = previous[-OVERLAP:]
    for where in (_SENTENCE_END, _SPACE):
        starts = [match.start() for match in where.finditer(tail) if 0 < match.start() < len(tail)]
        if starts:
            tail = tail[starts[0] :]
            break
    return tail.strip() + "\n" if tail.strip() else ""
