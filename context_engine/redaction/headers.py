"""Credentials in HTTP headers: Authorization, Bearer, Cookie."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_identifier, is_mixed, is_placeholder, is_wordy

_OPEN = r"\\*[\"']?\s{0,3}[:=,]\s{0,3}\\*[\"'`]?\s{0,3}"
_SCHEME = r"(?:bearer|basic|token|apikey|digest|negotiate|key|bot|oauth)[ =]{1,3}"
_SCHEMED = re.compile(rf"authorization{_OPEN}{_SCHEME}([^\s\"'`\\\ufffc]{{8,}}+)", re.IGNORECASE)
_SCHEMELESS = re.compile(rf"authorization{_OPEN}([A-Za-z0-9._~+/=-]{{16,}}+)", re.IGNORECASE)
_BEARER = re.compile(r"bearer\s{1,3}([A-Za-z0-9._~+/=-]{16,}+)", re.IGNORECASE)
_COOKIE = re.compile(
    r"cookie2?\\*[\"']?\s{0,3}[:=]\s{0,3}\\*[\"'`]?([\w.%-]{1,80}=[^\n\"'`\\]{6,}+)", re.IGNORECASE
)
# A cookie worth hiding has a long or a mixed value: theme=dark has neither.
_SESSION = re.compile(r"=(?=[^;\s]{0,64}?\d)[^;\s\ufffc]{8,}|=[^;\s\ufffc]{24,}")
_LOOKED_AT = 256


def headers(subject: Subject) -> Iterator[Span]:
    """Yield what follows Authorization, Bearer, Cookie and Set-Cookie."""
    for span in _after(subject, b"authorization", _SCHEMED, "authorization"):
        if not is_placeholder(_start_of(subject, span)):
            yield span
    for literal, pattern in ((b"authorization", _SCHEMELESS), (b"bearer", _BEARER)):
        for span in _after(subject, literal, pattern, "authorization"):
            if _is_random(_start_of(subject, span)):
                yield span
    for span in _after(subject, b"cookie", _COOKIE, "cookie"):
        if _SESSION.search(subject.text, span.start, span.end):
            yield span


def _after(subject: Subject, literal: bytes, pattern: re.Pattern[str], kind: str) -> Iterator[Span]:
    """Yield the first group of `pattern` where `literal` begins it, none inside another."""
    end = 0
    for start in subject.places(literal):
        match = pattern.match(subject.text, start) if start >= end else None
        if match:
            end = match.end()
            yield Span(*match.span(1), kind)


def _start_of(subject: Subject, span: Span) -> str:
    return subject.text[span.start : min(span.end, span.start + _LOOKED_AT)]


def _is_random(value: str) -> bool:
    return not (
        is_placeholder(value) or is_wordy(value) or is_identifier(value) or not is_mixed(value)
    )
