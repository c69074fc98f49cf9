r"""Foreign text inside our Markdown: neutralised so that it can only be text, and read back whole.

A message that is archived, or a sentence that a model wrote, must not forge a message boundary, a
heading, one of our `<!-- ce:… -->` markers or live HTML, nor swallow what follows by a code fence
left open. `escape` puts backslashes where Markdown itself reads them as "literally"; `unescape`
takes out exactly these. Code (closed fences, code spans) keeps its look.

Both ways are one rule: before such a place, k backslashes become 2k+1, and 2k+1 become k. An even
number stays as it is and is never written, so the rule has an inverse whatever the text held.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator

from context_engine.text import cap_marks
from vault.fences import Fences, find_fences, is_sound, opens_fence

_Spans = list[tuple[int, int]]

_EDGES = re.compile(r"\A(?:[ \t]*\n)+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_BLOCK_START = r" *\\*(?:#{1,6}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|`{3}|~{3})"
_RISKY = re.compile(rf"<!--\s{{0,9}}ce\\*:|<[A-Za-z/!?]|!\\*\[|^{_BLOCK_START}", re.MULTILINE)
_MARKER = re.compile(r"(<!--\s{0,9}ce)(\\*)(?=:)")
_BLOCK = re.compile(r"^( *)(\\*)(?:(#{1,6}(?:[ \t]|$))|((?:=+|-+)[ \t]*$)|(`{3}|~{3}))")
_INLINE = re.compile(r"(?:(?<!\\)(?=\\*<[A-Za-z/!?])|(?<=!)(?=\\*\[))\\*")
_AUTOLINK = re.compile(r"<https?://[^\s<>`]*>", re.IGNORECASE)
_TICKS = re.compile(r"`+")

_HEADING_INDENT = 3


def canonical(text: str) -> str:
    r"""Return `text` as the vault holds it: NFC, `\n`, no control characters, no blank edges."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", _SURROGATE.sub("\ufffd", text))
    return trim(unicodedata.normalize("NFC", cap_marks(text)))


def trim(text: str) -> str:
    """Return `text` without blank edges; the first line keeps its indent, which may mean code."""
    return _EDGES.sub("", text).rstrip()


def one_line(text: str, limit: int) -> str:
    """Return `text` on one line, at most `limit` characters, blank runs folded."""
    folded = " ".join(canonical(text).split())
    return folded if len(folded) <= limit else folded[: limit - 1].rstrip() + "…"


def escape(text: str) -> str:
    """Return canonical `text` as Markdown that can only be paragraphs, lists, quotes and code."""
    if not _RISKY.search(text):
        return text
    text = _MARKER.sub(r"\1\\\2", text)
    lines = text.split("\n")
    fences = find_fences(lines)
    careful = _escape_lines(lines, fences)
    return careful if is_sound(careful, fences) else _escape_lines(lines, None)


def unescape(text: str) -> str:
    """Return the text that `escape` was given."""
    if not _RISKY.search(text):
        return text
    text = "\n".join(_plain_start(line) for line in text.split("\n"))
    text = _INLINE.sub(lambda match: _halved(match[0]), text)
    return _MARKER.sub(lambda match: match[1] + match[2][1:], text)


def _doubled(backslashes: str) -> str:
    return backslashes * 2 + "\\"


def _halved(backslashes: str) -> str:
    return backslashes[: len(backslashes) // 2] if len(backslashes) % 2 else backslashes


def _plain_start(line: str) -> str:
    match = _BLOCK.match(line)
    return f"{match[1]}{_halved(match[2])}{line[match.end(2) :]}" if match else line


def _escape_lines(lines: list[str], fences: Fences | None) -> str:
    """Escape line by line; without `fences` no line and no span is taken for code."""
    code = fences.code_lines() if fences else set()
    result = list(lines)
    for number in code:
        result[number] = _start(_inline(lines[number], None), live=False, after_text=False)
    for paragraph in _paragraphs(lines, code):
        texts = [lines[number] for number in paragraph]
        spans = _spans(texts) if fences else [[]] * len(texts)
        for position, number in enumerate(paragraph):
            inline = _inline(texts[position], spans[position])
            result[number] = _start(inline, live=True, after_text=position > 0)
    return "\n".join(result)


def _paragraphs(lines: list[str], code: set[int]) -> Iterator[list[int]]:
    """Yield runs of lines that are neither blank nor code: no paragraph is longer than its run."""
    run: list[int] = []
    for number, line in enumerate(lines):
        if number in code or not line.strip():
            if run:
                yield run
            run = []
        else:
            run.append(number)
    if run:
        yield run


def _start(line: str, *, live: bool, after_text: bool) -> str:
    match = _BLOCK.match(line)
    if not match:
        return line
    indent, backslashes, heading, underline, _ = match.groups()
    if not backslashes and live:
        near = len(indent) <= _HEADING_INDENT
        if heading:
            live = near
        elif underline:
            live = near and after_text
        else:
            live = opens_fence(line)
    else:
        live = len(backslashes) % 2 == 1
    return f"{indent}{_doubled(backslashes)}{line[match.end(2) :]}" if live else line


def _inline(line: str, spans: _Spans | None) -> str:
    """Escape tags and images outside `spans`; None: all of the line is code."""

    def replace(match: re.Match[str]) -> str:
        at = match.end()
        live = spans is not None and not _inside(spans, at)
        if live and not match[0]:
            live = not _AUTOLINK.match(line, at)
        return _doubled(match[0]) if live or len(match[0]) % 2 else match[0]

    return _INLINE.sub(replace, line)


def _inside(spans: _Spans, at: int) -> bool:
    before = bisect_right(spans, at, key=lambda span: span[0])
    return before > 0 and at < spans[before - 1][1]


def _spans(lines: list[str]) -> list[_Spans]:
    """Return the code spans of each line of a paragraph.

    When one line has a backtick run without partner, spans may reach over line ends and nobody
    short of a Markdown parser knows what is code: then none is.
    """
    spans = [_spans_of_line(line) for line in lines]
    found = [line for line in spans if line is not None]
    return found if len(found) == len(spans) else [[] for _ in spans]


def _spans_of_line(line: str) -> _Spans | None:
    if "\\`" in line:
        return None
    spans: _Spans = []
    start: re.Match[str] | None = None
    for ticks in _TICKS.finditer(line):
        if start is None:
            start = ticks
        elif len(ticks[0]) == len(start[0]):
            spans.append((start.start(), ticks.end()))
            start = None
    return spans if start is None else None
