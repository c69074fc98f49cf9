"""What a model wrote, made harmless and bounded: plain text in one line, no markup that lives."""

from __future__ import annotations

import re
import unicodedata

from workers.extraction.language import language_of

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=[(\[])")
_SCHEME = re.compile(r"\b(javascript|vbscript|data|file):", re.IGNORECASE)
_LEADING = re.compile(r"^[\s#>*+\-=|`~_]+")
_TAG = re.compile(r"[^\w-]+")
_SENTENCE_END = re.compile(r"[。．！？!?]|[.](?=\s)")

TITLE_LENGTH = {"ja": 40, "en": 80}


def clean(text: str, limit: int) -> str:
    """Return `text` as one line of at most `limit` characters, no markup or control characters."""
    kept = "".join(
        " " if char.isspace() else char
        for char in unicodedata.normalize("NFC", text[: limit * 4])
        # Cc, Cf (bidi, zero width), Cs (half pairs), Co, Cn
        if char.isspace() or not unicodedata.category(char).startswith("C")
    )
    kept = _MARKUP.sub("‹", kept)
    kept = _LINK.sub("] ", kept)
    kept = _SCHEME.sub(r"\1 :", kept)
    return " ".join(kept.split())[:limit].rstrip()


def clean_title(text: str, limit: int = 80) -> str:
    """Return `text` as a title: no leading Markdown, no full stop at its end."""
    return _LEADING.sub("", clean(text, limit)).rstrip("。.").strip()


def clean_tag(text: str) -> str:
    """Return `text` as a tag of letters, digits and hyphens, at most 24 characters."""
    return _TAG.sub("-", clean(text, 48).lower()).strip("-_")[:24]


def title_from(sentence: str) -> str:
    """Return a verbatim title: the sentence's beginning, cut where a reader would pause."""
    text = clean(sentence, 400)
    match = _SENTENCE_END.search(text, 6)
    if match is not None:
        text = text[: match.start()]
    limit = TITLE_LENGTH[language_of(text)]
    if len(text) > limit:
        at = max(text.rfind(mark, limit // 2, limit) for mark in ("、", ",", " ", ";", "，"))
        text = text[: at if at > 0 else limit - 1].rstrip("、,; ") + "…"
    return _LEADING.sub("", text).rstrip("。.").strip()
