"""Which lines of a message are not its author's words: code, logs, quotations, pasted text."""

from __future__ import annotations

import re

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
_LABEL = re.compile(
    r"(?:decisions?|decided|status|goals?|next(?: steps?)?|notes?|update|reason|cause|fix|learning"
    r"|rule|preference|blockers?|plan|deadline|to-?do|summary|problem|solution|result"
    r"|決定(?:事項)?|目標|進捗|状況|次(?:回|の一手)?|メモ|理由|原因|対策|結論|方針|課題|期限"
    r"|予定|残り?|背景|目的|結果|学び|担当|補足|注意)\Z",
    re.IGNORECASE,
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
_LISTED = re.compile(r"\s*(?:[-*・•+]|\d{1,2}[.)）])\s*\S")
_SALUTATION = re.compile(
    r"\s*(?:Dear|Hi|Hello|Hey)\s[\w .'-]{1,40}[,:!]\s*$"
    r"|\s*(?:[^\s。、]{1,16}\s?(?:様|さま|御中|各位)|各位)\s*$|\s*(?:お世話になって|いつもお世話に|拝啓)"
)
_BLOCK_OPEN = re.compile(r"\s*<([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>\s*$")


def foreign_lines(text: str) -> set[int]:
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
    gap = not lines[number + 1].strip()
    if line.endswith((":", "：")):
        below = next(other for other in lines[number + 1 :] if other.strip())
        return _PASTE.search(line) is not None or (gap and _LISTED.match(below) is None)
    return _PASTED.search(line) is not None or (gap and _PASTE_BELOW.search(line) is not None)


def _attributed_lines(lines: list[str]) -> frozenset[int]:
    """Lines like `- Kim: …`: minutes or a pasted chat when two or more names speak."""
    found = [
        number
        for number, line in enumerate(lines)
        if (match := _ATTRIBUTED.match(line)) and not _LABEL.match(match.group(1))
    ]
    return frozenset(found) if len(found) >= 2 else frozenset()  # noqa: PLR2004 -- two
