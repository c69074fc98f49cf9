"""An insight as Markdown: what it says, the evidence for it, and where that stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from context_engine.errors import UnsafePathError
from context_engine.insights import Insight
from context_engine.redaction import redact
from vault.escape import canonical, escape, one_line, trim, unescape
from vault.paths import split_relative

TITLE_LIMIT = 200
_SUMMARY_LIMIT = 160
_TAG_LIMIT = 40
_SOURCE = re.compile(r"Source: (?:\[(?P<title>[^\[\]]*)\]\((?P<link>[^()\s]*)\))\Z")
_TAGS = re.compile(r"Tags: (?P<tags>.+)\Z")
_SENTENCE_END = re.compile(r"(?<=[。!?！？])|(?<=\.)\s")


@dataclass(frozen=True)
class Statement:
    """What stands below an insight's heading; texts are as they were given, without escapes."""

    content: str
    evidence: str
    tags: tuple[str, ...] = ()
    source_title: str | None = None
    source_path: str | None = None


def clean_title(title: str) -> str:
    """Return an insight's title on one line, without secrets."""
    return one_line(redact(title).text, TITLE_LIMIT)


def clean_words(words: tuple[str, ...]) -> list[str]:
    """Return tags or names, each on one line without commas and brackets, none twice."""
    plain = (re.sub(r"[,\[\]<>|`#]", " ", one_line(redact(word).text, 80)) for word in words)
    return list(
        dict.fromkeys(" ".join(word.split())[:_TAG_LIMIT] for word in plain if word.strip())
    )


def summary_of(content: str) -> str:
    """Return the first sentence of `content`, at most 160 characters."""
    line = one_line(content, 4 * _SUMMARY_LIMIT)
    first = next((part.strip() for part in _SENTENCE_END.split(line) if part.strip()), "")
    return one_line(first, _SUMMARY_LIMIT)


def statement_of(insight: Insight, source_title: str | None) -> Statement:
    """Return what `insight` says, redacted and canonical."""
    return Statement(
        content=canonical(redact(insight.content).text),
        evidence=canonical(redact(insight.evidence).text),
        tags=tuple(clean_words(insight.tags)),
        source_title=source_title,
        source_path=_safe_path(insight.source_path),
    )


def render_statement(statement: Statement, folder: str) -> str:
    """Return the Markdown of a statement in a note that lies in `folder`; no edge is blank."""
    quote = "\n".join(f"> {line}".rstrip() for line in escape(statement.evidence).split("\n"))
    last = []
    if statement.tags:
        last.append(f"Tags: {', '.join(statement.tags)}")
    if statement.source_path:
        last.append(f"Source: {_link(statement, folder)}")
    paragraphs = [
        escape(statement.content),
        quote if statement.evidence else "",
        # two spaces: each on a line of its own
        "  \n".join(last),
    ]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def parse_statement(text: str, folder: str) -> Statement:
    """Return the statement that `render_statement` wrote, as far as a person left it so."""
    paragraphs = trim(text).split("\n\n")
    last = _last_lines(paragraphs[-1])
    tags, source = last or ((), None)
    if last:
        paragraphs.pop()
    quoted: list[str] = []
    while paragraphs and _is_quote(paragraphs[-1]) and not quoted:
        quoted = [line.removeprefix(">").removeprefix(" ") for line in paragraphs.pop().split("\n")]
    return Statement(
        content=unescape(trim("\n\n".join(paragraphs))),
        evidence=unescape("\n".join(quoted)),
        tags=tags,
        source_title=source["title"] if source else None,
        source_path=_from_folder(source["link"], folder) if source else None,
    )


def _last_lines(paragraph: str) -> tuple[tuple[str, ...], re.Match[str] | None] | None:
    tags: tuple[str, ...] = ()
    source: re.Match[str] | None = None
    for line in paragraph.split("\n"):
        found_tags, found_source = _TAGS.match(line.rstrip()), _SOURCE.match(line.rstrip())
        if found_tags:
            tags = tuple(tag.strip() for tag in found_tags["tags"].split(","))
        elif found_source:
            source = found_source
        else:
            return None
    return tags, source


def _is_quote(paragraph: str) -> bool:
    return all(line.startswith(">") for line in paragraph.split("\n"))


def _link(statement: Statement, folder: str) -> str:
    path = statement.source_path or ""
    title = statement.source_title or PurePosixPath(path).stem
    plain = " ".join(re.sub(r"[\[\]<>`\\]", " ", one_line(title, TITLE_LIMIT)).split())
    up = "../" * len(PurePosixPath(folder).parts)
    return f"[{plain}]({up}{path})"


def _from_folder(link: str, folder: str) -> str | None:
    up = "../" * len(PurePosixPath(folder).parts)
    return _safe_path(link.removeprefix(up))


def _safe_path(path: str | None) -> str | None:
    """Return a note's path when a link can lead there; engine-made names always can."""
    if path is None or re.search(r"[()\s<>]", path):
        return None
    try:
        split_relative(path)
    except UnsafePathError:
        return None
    return path
