"""E-mail addresses and phone numbers: no secrets, taken out only when the owner asks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject

_LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
_DOMAIN = re.compile(r"@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")
_PHONE = re.compile(
    r"(?<![\w.+-])(?:"
    r"\+\d{1,3}[ -]?(?:\(0\)[ -]?)?\d{1,4}(?:[ -]?\d{2,4}){2,4}"  # +81 90-1234-5678
    r"|0\d{1,4}-\d{1,4}-\d{3,4}"  # 03-1234-5678
    r"|0[5789]0\d{8}"  # 09012345678
    r"|\(0\d{1,4}\)[ ]?\d{1,4}-\d{3,4}"  # (03) 1234-5678
    r"|\(\d{3}\)[ ]?\d{3}-\d{4}|\d{3}[-.]\d{3}[-.]\d{4}"  # (415) 555-0132
    r")(?![\w-])"
)


def emails(subject: Subject) -> Iterator[Span]:
    """Yield e-mail addresses."""
    for at in subject.places(b"@"):
        domain = _DOMAIN.match(subject.text, at)
        local = _LOCAL.search(subject.text, max(0, at - 64), at)
        if domain and local and "." in domain[0]:
            yield Span(local.start(), domain.end(), "email")


def phones(subject: Subject) -> Iterator[Span]:
    """Yield phone numbers in Japanese, North American and international notation."""
    for match in _PHONE.finditer(subject.text):
        yield Span(match.start(), match.end(), "phone")
