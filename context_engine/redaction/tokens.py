"""Keys and tokens that providers made recognisable by their form."""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from context_engine.redaction.forms import RUNS, SCATTERED, SHAPES, Form
from context_engine.redaction.model import EDGE_BEHIND, LEFT_EDGE, Span, Subject
from context_engine.redaction.values import is_masked, is_varied, is_wordy

_IN_RUN = (string.ascii_letters + string.digits + "_-").encode()
_CLASSES = bytes(ord("a") if byte in _IN_RUN else ord(" ") for byte in range(256))
_RUN = b"a" * 16
_REACH = 24
"""How far before a run of token characters a literal can stand (`1//0`, `.atlasv1.`)."""

_TAIL = 100
"""How far behind a run a token without a literal must be seen to be known."""

_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")
_AWS_REACH = 200
_PREFIX = 8
_LONGEST_BOUNDED = 300


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a form when it is first needed: all of them would cost each command's start."""
    return re.compile(pattern, re.ASCII)


def _by_anchor(forms: Iterable[Form], left_edge: str = "") -> dict[str, list[Form]]:
    table: defaultdict[str, list[Form]] = defaultdict(list)
    for form in forms:
        for anchor in form.anchors:
            table[anchor].append(form._replace(pattern=left_edge + form.pattern))
    return dict(table)


def _any_of(literals: Iterable[str]) -> re.Pattern[bytes]:
    """Return a regex for the literals, grouped by first letter so that most are never compared."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for literal in sorted(literals, key=len, reverse=True):
        groups[literal[0]].append(re.escape(literal[1:]))
    branches = (f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items())
    return re.compile("|".join(branches).encode())


_RUN_FORMS = _by_anchor(RUNS, LEFT_EDGE)
_RUN_ANCHOR = _any_of(_RUN_FORMS)
_SCATTERED_FORMS = _by_anchor(SCATTERED)
_SHAPES = tuple(
    (kind, re.compile(first + EDGE_BEHIND + rest, re.ASCII)) for kind, first, rest in SHAPES
)


def tokens(subject: Subject) -> Iterator[Span]:
    """Yield tokens known by their form."""
    for start, end in _regions(subject.ascii.translate(_CLASSES)):
        yield from _in_region(subject, start, end)
    for anchor, forms in _SCATTERED_FORMS.items():
        places = ((place, forms) for place in subject.places(anchor.encode()))
        yield from _known(subject.text, places)


def _in_region(subject: Subject, start: int, end: int) -> Iterator[Span]:
    anchors = _RUN_ANCHOR.finditer(subject.ascii, start, end)
    places = ((anchor.start(), _RUN_FORMS[anchor[0].decode()]) for anchor in anchors)
    for span in _known(subject.text, places):
        yield span
        if span.kind == "aws-access-key":
            yield from _aws_secret(subject.text, span.end)
    for kind, shape in _SHAPES:
        for match in shape.finditer(subject.text, start, end + _TAIL):
            yield _whole(subject.text, match, kind)


def _known(text: str, places: Iterable[tuple[int, list[Form]]]) -> Iterator[Span]:
    """Yield the tokens that have a literal of theirs at one of `places`, none inside another."""
    end = 0
    for place, forms in places:
        found = _first(text, place, forms) if place >= end else None
        if found:
            kind, match = found
            end = match.end()
            if not _is_illustration(match[0][:_LONGEST_BOUNDED]):
                yield Span(match.start(), end, kind)


def _is_illustration(token: str) -> bool:
    """Tell whether a token of a known form holds nothing: ghp_xxxxxxxx, sk-your-key-goes-here."""
    return is_masked(token) or is_masked(token[_PREFIX:]) or is_wordy(token)


def _first(text: str, place: int, forms: list[Form]) -> tuple[str, re.Match[str]] | None:
    for form in forms:
        match = (
            _around(text, place, form)
            if form.before
            else _compiled(form.pattern).match(text, place)
        )
        if match:
            return form.kind, match
    return None


def _around(text: str, place: int, form: Form) -> re.Match[str] | None:
    """Match a token that begins before its literal."""
    pattern = _compiled(form.pattern)
    start = max(0, place - form.before)
    match = pattern.search(text, start, place + _LONGEST_BOUNDED)
    return pattern.match(text, match.start()) if match and match.start() <= place else None


def _whole(text: str, match: re.Match[str], kind: str) -> Span:
    """Return the span of a match that may have been cut off by its region's end."""
    full = match.re.match(text, match.start()) or match
    return Span(full.start(), full.end(), kind)


def _aws_secret(text: str, position: int) -> Iterator[Span]:
    """Yield the secret half of an AWS key pair, which has no form of its own."""
    match = _AWS_SECRET.search(text, position, position + _AWS_REACH)
    if match and is_varied(match[0]):
        yield Span(match.start(), match.end(), "aws-secret-key")


def _regions(classes: bytes) -> Iterator[tuple[int, int]]:
    """Yield runs of 16 or more token characters with what stands just before, none twice."""
    end = 0
    run = classes.find(_RUN)
    while run >= 0:
        stop = classes.find(b" ", run)
        stop = len(classes) if stop < 0 else stop
        yield max(end, run - _REACH), stop
        end = stop
        run = classes.find(_RUN, stop)
