"""Credentials in HTTP headers and on curl's command line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_identifier, is_mixed, is_placeholder, is_wordy

_OPEN = r"\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"'`]?\s{0,3}"
_SCHEMED = re.compile(
    r"authorization"
    + _OPEN
    + r"(?:bearer|basic|token|apikey|digest|negotiate|key|bot|oauth)[ =]{1,3}"
    r"([^\s\"'`\\]{8,}+)",
    re.IGNORECASE,
)
_SCHEMELESS = re.compile(r"authorization" + _OPEN + r"([A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE)
_BEARER = re.compile(r"bearer\s{1,3}([A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE)
_COOKIE = re.compile(
    r"cookie2?\\*[\"']?\s{0,3}[:=]\s{0,3}\\*[\"'`]?([\w.%-]{1,80}=[^\n\"'`\\]{6,}+)", re.IGNORECASE
)
# A cookie worth hiding has a long or a mixed value: theme=dark has neither.
_SESSION = re.compile(r"=(?=[^;\s]{0,64}?\d)[^;\s]{8,}|=[^;\s]{24,}")
_CURL_REACH = 500
_CURL_USER = re.compile(
    r"(?<=\s)(?:-u|--user|--proxy-user|-U)[ =]?[\"']?([^\s:\"']{1,64}):([^\s\"']{1,256})"
)


def credentials(subject: Subject) -> Iterator[Span]:
    """Yield what follows Authorization, Cookie, Bearer and `curl -u`."""
    yield from _after(subject, b"authorization", _SCHEMED, "authorization")
    yield from _random_after(subject, b"authorization", _SCHEMELESS, "authorization")
    yield from _random_after(subject, b"bearer", _BEARER, "authorization")
    for span in _after(subject, b"cookie", _COOKIE, "cookie"):
        if _SESSION.search(subject.text, span.start, span.end):
            yield span
    for start in subject.places(b"curl"):
        match = _CURL_USER.search(subject.text, start, start + _CURL_REACH)
        if match and not is_placeholder(match[2]):
            yield Span(*match.span(2), "password")


def _random_after(
    subject: Subject, literal: bytes, pattern: re.Pattern[str], kind: str
) -> Iterator[Span]:
    for span in _after(subject, literal, pattern, kind):
        value = subject.text[span.start : span.end]
        if is_mixed(value) and not is_wordy(value) and not is_identifier(value):
            yield span


def _after(subject: Subject, literal: bytes, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    for start in subject.places(literal):
        match = pattern.match(subject.text, start)
        if match and not is_placeholder(match[1]):
            yield Span(*match.span(1), kind)
