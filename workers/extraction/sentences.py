"""What of a message its author said: sentences outside code, logs, quotations and pasted text.

Positions are kept, so that evidence stays a verbatim slice of the message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCE = 400
"""Characters; what is longer is rarely one statement of a person."""


@dataclass(frozen=True)
class Sentence:
    """`text == message[start:end]`; `paragraph` counts blank lines before it."""

    text: str
    start: int
    end: int
    paragraph: int


_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_NOT_SAID = re.compile(
    r"""\s{0,3}(?:
        [>＞|｜]                                          # quotation, table
      | </?[A-Za-z!]                                      # markup
      | \#{1,6}\s                                         # heading
      | [$%]\s\S                                          # shell
      | (?:\+\+\+|---|@@)\s                               # diff
      | Traceback\b | File\s" | at\s[\w.$<>]+\(           # stack traces
      | \[?\d{4}[-/]\d\d[-/]\d\d[T\s]\d\d:\d\d            # log lines
      | \[?\d\d:\d\d:\d\d
      | \[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE)\b[\]:\s]
      | \w*(?:Error|Exception|Warning):\s
      | (?:npm|yarn|make|fatal|error|warning|hint|panic)(?:\[\w+\])?[:!]\s
      | (?:From|To|Cc|Subject|Date|Sent|差出人|宛先|件名|送信日時)[:：]\s
    )""",
    re.VERBOSE,
)
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_ATTRIBUTED = re.compile(
    r"\s*(?:[-*・•]\s*)?([^\s:：、。]{1,16}(?:\s[A-Z][\w.]{0,14})?)[:：](?!//)\s*\S"
)
_PASTE = re.compile(
    r"""(?:
        \b(?:summari[sz]e|translate|proofread|review|rewrite|rephrase|explain|analy[sz]e|polish
           |turn\s(?:this|these)|fix\s(?:this|the)|look\sat|check\s(?:this|these)|read\s(?:this
               |these)
           |here(?:'s|\sis|\sare)|answer|reply|respond|pasted?|pasting|got\sthis|says?|wrote
               |forwarded|below|following)\b
      | 以下|下記|下に|次の(?:文|メール|ログ|文章|内容|記事|コード|メッセージ|メモ)|貼(?:り|る|っ)
          |ペースト
      | 要約|翻訳|訳して|返信|返事|回答|添削|校正|レビュー|直して|読んで|転送|引用|届いた|来た
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_PASTED = re.compile(r"(?:下|以下)に(?:貼|張|コピ)\S{0,8}$|\b(?:pasted|copied) below\W*$")
_PASTE_BELOW = re.compile(
    r"(?:以下|次|下記)の(?:文|メール|ログ|内容|記事|メッセージ|メモ|レビュー|コメント|議事)"
    r"|届いた|来た(?:メール|返信)"
    r"|\b(?:this|the following) (?:mail|e-?mail|message|text|article|page|log|letter|review|post)\b"
)
_BREAK = re.compile(r"[。！？!?]+[」』）)\"”]?|(?<=[^\s.])\.+[\"”)]?(?=\s|$)|\n")
_SALUTATION = re.compile(
    r"\s*(?:(?:Dear|Hi|Hello|Hey)\s[\w .'-]{1,40}[,:!]|[^\s。、]{1,16}\s?(?:様|さま|御中|各位)|各位)\s*$"
    r"|\s*(?:お世話になって|いつもお世話に|拝啓)"
)
_BLOCK_OPEN = re.compile(r"\s*<([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>\s*$")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Ms|Mrs|Dr|St|No|[A-Za-z]))$")
_OPEN = "「『（("
_CLOSE = "」』）)"
_WRAPPED_AT = 60


def _said_lines(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield (position, line, paragraph) of the lines that are the author's own."""
    position, paragraph = 0, 0
    foreign = _foreign_lines(text)
    for number, line in enumerate(text.splitlines(keepends=True)):
        start, position = position, position + len(line)
        body = line.rstrip()
        if not body:
            paragraph += 1
        elif number not in foreign:
            yield start, body, paragraph


def _foreign_lines(text: str) -> set[int]:
    """Return the numbers of the lines that quote, log, list or paste what others wrote."""
    lines = text.splitlines()
    foreign = set(_attributed_lines(lines))
    closing: str | None = None
    for number, line in enumerate(lines):
        if closing is not None:
            foreign.add(number)
            closing = None if closing in line else closing
        elif (closing := _opens_block(lines, number)) is not None or _is_foreign(line):
            foreign.add(number)
        elif number > 0 and _SALUTATION.match(line):
            return foreign | set(range(number, len(lines)))
        elif _announces_paste(lines, number):
            return foreign | set(range(number + 1, len(lines)))
    return foreign


def _opens_block(lines: list[str], number: int) -> str | None:
    """Return what closes the code or markup block that begins on this line."""
    fence = _FENCE.match(lines[number])
    if fence is not None:
        return fence.group().strip()
    tag = _BLOCK_OPEN.match(lines[number])
    return f"</{tag.group(1)}>" if tag is not None else None


def _is_foreign(line: str) -> bool:
    return bool(_NOT_SAID.match(line) or _INDENTED.match(line))


def _announces_paste(lines: list[str], number: int) -> bool:
    """`Summarise this page for me:` makes the rest of the message somebody else's text."""
    line = lines[number].rstrip()
    if not any(other.strip() for other in lines[number + 1 : number + 4]):
        return False
    if line.endswith((":", "：")):
        return _PASTE.search(line) is not None
    gap = not lines[number + 1].strip()
    return _PASTED.search(line) is not None or (gap and _PASTE_BELOW.search(line) is not None)


def _attributed_lines(lines: list[str]) -> frozenset[int]:
    """Lines like `- Kim: …`: minutes or a pasted chat when two or more names speak."""
    found = [number for number, line in enumerate(lines) if _ATTRIBUTED.match(line)]
    return frozenset(found) if len(found) >= 2 else frozenset()  # noqa: PLR2004 -- two


def own_sentences(text: str) -> list[Sentence]:
    """Return the sentences that the author of `text` said, in order."""
    found: list[Sentence] = []
    for start, end, paragraph in _runs(text):
        found.extend(_split(text, start, end, paragraph))
    return found


def _runs(text: str) -> Iterator[tuple[int, int, int]]:
    """Join lines that were wrapped by hand; yield (start, end, paragraph)."""
    current: tuple[int, int, int] | None = None
    width = 0
    for start, line, paragraph in _said_lines(text):
        end = start + len(line)
        if current is not None:
            follows = start == current[1] + 1 and line[:1].islower()
            if follows and width >= _WRAPPED_AT:
                current, width = (current[0], end, paragraph), len(line)
                continue
            yield current
        current, width = (start, end, paragraph), len(line)
    if current is not None:
        yield current


def _split(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    begin = start
    for match in _BREAK.finditer(text, start, end):
        if match.group() == "\n" or _inside(text, begin, match.start(), end):
            continue
        here = match.start()
        if match.group().startswith(".") and _ABBREVIATION.search(
            text, max(begin, here - 12), here
        ):
            continue
        yield from _sentence(text, begin, match.end(), paragraph)
        begin = match.end()
    yield from _sentence(text, begin, end, paragraph)


def _inside(text: str, begin: int, here: int, end: int) -> bool:
    """Tell whether a bracket opened since `begin` is still open, and will be closed."""
    depth = 0
    for char in text[max(begin, here - MAX_SENTENCE) : here]:
        depth += (char in _OPEN) - (char in _CLOSE)
    return depth > 0 and any(char in _CLOSE for char in text[here : min(end, here + 120)])


def _sentence(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip(" \t　-*・•"))
    piece = text[start:end].rstrip()
    if piece and len(piece) <= MAX_SENTENCE:
        yield Sentence(piece, start, start + len(piece), paragraph)


_QUOTED = re.compile(
    r"「[^」]{0,200}」|『[^』]{0,200}』|\"[^\"\n]{0,200}\"|“[^”]{0,200}”|`[^`\n]{0,200}`"
)


def without_quotations(sentence: str) -> str:
    """Return the sentence with quoted and code spans blanked out, positions kept."""
    return _QUOTED.sub(lambda match: "〓" * len(match.group()), sentence)
