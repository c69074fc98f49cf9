"""Passwords inside URLs: `scheme://user:password@host`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_placeholder

_USER = re.compile(r"://[^\s:@/\[\"'<>`\ufffc]{0,128}:(?=[^\s\"'<>`\ufffc])")
_REST = re.compile(r"[^\s\"'<>`\ufffc]{1,300}")
_AUTHORITY_END = re.compile(r"[/?#]")
_PORT = re.compile(r"\d{1,5}(?:[/,?#]|\Z)|\[")
_TOKEN_ONLY = re.compile(r"(?<=http)s?://([A-Za-z0-9_-]{20,255})@(?=[\w.-])")
# Go's MySQL driver: user:password@tcp(host:3306)/db
_DSN_PASSWORD = re.compile(r":([^\s:@\"'`\ufffc]{1,128})\Z")
_DSN_REACH = 130


def url_passwords(subject: Subject) -> Iterator[Span]:
    """Yield the password of each URL that carries one, or the token in the user's place."""
    for start in subject.places(b"://"):
        user = _USER.match(subject.text, start)
        span = _password(subject.text, user.end()) if user else _token(subject, start)
        if span:
            yield span
    for at in subject.places(b"@tcp("):
        match = _DSN_PASSWORD.search(subject.text, max(0, at - _DSN_REACH), at)
        if match and not is_placeholder(match[1]):
            yield Span(*match.span(1), "url-password")


def _password(text: str, start: int) -> Span | None:
    """Return the password that begins at `start`: up to the last @ before the path.

    Where none stands before a slash, the password itself holds the slash, unescaped.
    """
    rest = _REST.match(text, start)
    if rest is None:
        return None
    slash = _AUTHORITY_END.search(rest[0])
    authority = rest[0][: slash.start()] if slash else rest[0]
    password = authority.rpartition("@")[0] or rest[0].partition("@")[0]
    if password == rest[0] or _PORT.match(password) or is_placeholder(password):
        return None
    return Span(start, start + len(password), "url-password")


def _token(subject: Subject, start: int) -> Span | None:
    # over SSH the user is no secret
    secure = subject.lower.startswith(b"s", start - 1)
    token = _TOKEN_ONLY.match(subject.text, start - secure)
    if token and any(character.isdigit() for character in token[1]):
        return Span(*token.span(1), "url-password")
    return None
