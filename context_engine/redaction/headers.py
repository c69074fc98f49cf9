"""Credentials in HTTP headers and on curl's command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_placeholder

_AUTHORIZATION = re.compile(
    r"authorization\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"'`]?\s{0,3}(?:(?:bearer|basic|token|apikey|digest|negotiate|key)[ =]{1,3})?"
    r"([^\s\"'`\\]{8,}+)",
    re.IGNORECASE,
)
_BEARER = re.compile(r"bearer\s{1,3}([A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE)
_COOKIE = re.compile(
    r"cookie2?\\*[\"']?\s{0,3}[:=]\s{0,3}\\*[\"'`]?([\w.%-]{1,80}=[^\n\"'`\\]{6,}+)", re.IGNORECASE
)
_CURL_USER = re.compile(
    r"(?<=\s)(?:-u|--user|--proxy-user|-U)[ =]?[\"']?([^\s:\"']{1,64}):([^\s\"']{1,256})"
)


def credentials(subject: Subject) -> Iterator[Span]:
    """Yield what follows Authorization, Cookie, Bearer and `curl -u`."""
    yield from _after(subject, b"authorization", _AUTHORIZATION, "authorization")
    yield from _after(subject, b"cookie", _COOKIE, "cookie")
    for span in _after(subject, b"bearer", _BEARER, "authorization"):
        if any(character.isdigit() for character in subject.text[span.start : span.end]):
            yield span
    for start in subject.places(b"curl"):
        match = _CURL_USER.search(subject.text, start, start + 500)
        if match and not is_placeholder(match[2]):
            yield Span(*match.span(2), "password")


def _after(subject: Subject, literal: bytes, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    for start in subject.places(literal):
        match = pattern.match(subject.text, start)
        if match and not is_placeholder(match[1]):
            yield Span(*match.span(1), kind)
