"""Passwords inside URLs: `scheme://user:password@host`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_placeholder

_USERINFO = re.compile(r"://([^\s:@/\"'<>`]{0,128}):([^\s\"'<>`]{1,256}?)@(?=[\w\[.-])")
_TOKEN_ONLY = re.compile(r"://([A-Za-z0-9_-]{20,255})@(?=[\w.-])")
_PORT = re.compile(r"\d{1,5}/")


def url_passwords(subject: Subject) -> Iterator[Span]:
    """Yield the password of each URL that carries one, or the token in the user's place."""
    for start in subject.places(b"://"):
        match = _USERINFO.match(subject.text, start)
        if match:
            if not _PORT.match(match[2]) and not is_placeholder(match[2]):
                yield Span(*match.span(2), "url-password")
            continue
        token = _TOKEN_ONLY.match(subject.text, start)
        if token and any(character.isdigit() for character in token[1]):
            yield Span(*token.span(1), "url-password")
