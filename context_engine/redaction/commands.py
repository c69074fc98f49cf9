"""Passwords where a program takes them by position: `curl -u user:password`, `mysql -pPassword`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject
from context_engine.redaction.values import is_expression, is_placeholder

_VALUE = r"[^\s\"'`<>|;\ufffc]{4,256}"
_REACH = 400
"""How far behind a program's name its option may stand."""

# The program's name (lower case), and its option with the password as the group.
_PROGRAMS: tuple[tuple[bytes, re.Pattern[str]], ...] = (
    (
        b"curl",
        re.compile(rf"\s(?:-u|--user|--proxy-user|-U)[ =]?[\"']?[^\s:\"']{{1,64}}:({_VALUE})"),
    ),
    (b"sshpass", re.compile(rf"\s-p[ ]?[\"']?({_VALUE})")),
    (b"mysql", re.compile(rf"\s-p[\"']?({_VALUE})")),
    (b"redis-cli", re.compile(rf"\s-a[ ]?[\"']?({_VALUE})")),
    (b"docker login", re.compile(rf"\s-p[ ][\"']?({_VALUE})")),
    (b"htpasswd", re.compile(rf"\s-\w*b\w*[ ]\S{{1,80}}[ ]\S{{1,64}}[ ][\"']?({_VALUE})")),
    (b"openssl", re.compile(rf"\s-pass(?:in|out)?[ ][\"']?pass:({_VALUE})")),
)
_OPTION = re.compile(rb" -[a-z-]")
# What comes just before a password, and the rest with the password as the group.
_ADJACENT: tuple[tuple[bytes, re.Pattern[str]], ...] = (
    (
        b"convertto-securestring",
        re.compile(rf"[ ](?:-String[ ])?[\"']({_VALUE})[\"']", re.IGNORECASE),
    ),
    (b"auth", re.compile(rf"[ ]?=?[ ]?\([\"'][^\"'\n]{{1,64}}[\"'],[ ]?[\"']({_VALUE})[\"']")),
    (b":5432:", re.compile(rf"[\w*]{{1,63}}:[\w*]{{1,63}}:({_VALUE})")),  # .pgpass
)


def commands(subject: Subject) -> Iterator[Span]:
    """Yield passwords on command lines, in tuples of basic authentication, in .pgpass."""
    matches = list(_adjacent(subject))
    if _OPTION.search(subject.lower):
        matches += _on_command_lines(subject)
    for match in matches:
        if not is_placeholder(match[1]) and not is_expression(match[1]):
            yield Span(*match.span(1), "password")


def _adjacent(subject: Subject) -> Iterator[re.Match[str]]:
    for literal, pattern in _ADJACENT:
        for place in subject.places(literal):
            if match := pattern.match(subject.text, place + len(literal)):
                yield match


def _on_command_lines(subject: Subject) -> Iterator[re.Match[str]]:
    for literal, pattern in _PROGRAMS:
        for start, end in _windows(subject, literal):
            if match := pattern.search(subject.text, start, end):
                yield match


def _windows(subject: Subject, literal: bytes) -> Iterator[tuple[int, int]]:
    """Yield what follows each `literal` on its line, nothing twice."""
    covered = 0
    for place in subject.places(literal):
        start = max(place + len(literal), covered)
        end = min(start + _REACH, len(subject.text))
        newline = subject.ascii.find(b"\n", start, end)
        covered = newline if newline >= 0 else end
        yield start, covered
