"""Values given to a name that says it is secret: env files, YAML, JSON, flags, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_placeholder

_NAME = re.compile(
    r"(?:password|passwd|passphrase|pwd|secret|(?:api|access|secret|private|account|encryption|signing)[_-]?key|token)"
    r"\\*[\"'\]]?\s{0,4}(?::=|=>|[:=：＝])\s{0,4}"
    r"(?:\\*(?P<quote>[\"'`])(?P<quoted>[^\"'`\n\\]{4,512})|(?P<bare>[^\s\"'`,;、。)]{6,512}))",
    re.IGNORECASE,
)
_LITERALS = (b"passw", b"passphrase", b"pwd", b"secret", b"key", b"token")
_JAPANESE = re.compile(
    r"(?:パスワード|パスフレーズ|暗証番号|APIキー|シークレット|トークン)\s?(?:は|：|:|＝|=|「)\s?[「\"'`]?([!-~]{4,256})"
)


def assignments(subject: Subject) -> Iterator[Span]:
    """Yield the values of assignments to secret names."""
    for literal in _LITERALS:
        for place in subject.places(literal):
            match = _NAME.match(subject.text, place)
            if match is None:
                match = _NAME.match(subject.text, max(0, place - 8)) if literal == b"key" else None
            if match is None:
                continue
            group = "quoted" if match["quoted"] else "bare"
            value = match[group]
            if is_placeholder(value) or (group == "bare" and not re.search(r"\d", value)):
                continue
            yield Span(*match.span(group), "password")
    for match in _JAPANESE.finditer(subject.text):
        if not is_placeholder(match[1]) and re.search(r"\d", match[1]):
            yield Span(*match.span(1), "password")
