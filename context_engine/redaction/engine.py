"""Run every detector over a text and replace what they find."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from types import MappingProxyType

from context_engine.redaction.assignments import assignments
from context_engine.redaction.blocks import private_blocks, private_keys
from context_engine.redaction.cards import cards
from context_engine.redaction.commands import commands
from context_engine.redaction.contacts import emails, phones
from context_engine.redaction.headers import headers
from context_engine.redaction.model import (
    BLANK,
    MARKER,
    CustomPattern,
    Detector,
    Redacted,
    RedactionOptions,
    Span,
    Subject,
    marker,
)
from context_engine.redaction.tokens import tokens
from context_engine.redaction.urls import url_passwords

# Where two find the same characters, the earlier one names them.
DETECTORS: tuple[Detector, ...] = (
    private_blocks,
    private_keys,
    tokens,
    headers,
    commands,
    url_passwords,
    assignments,
    cards,
)

_ROUNDS = 6
_FENCE = re.compile(r"^[ \t>]*(```+|~~~+)", re.MULTILINE)
_INDENT = 8
"""Indentation and quote marks before a Markdown link definition (`[x]: …`) stay below this."""
_DEFAULTS = RedactionOptions()


def redact(text: str, options: RedactionOptions = _DEFAULTS) -> Redacted:
    """Return `text` with each secret replaced by `[redacted:<kind>]`.

    Redacting the result again changes nothing. Takes time linear in the length of `text`.
    """
    detectors = _detectors(options)
    counts: Counter[str] = Counter()
    for _ in range(_ROUNDS):
        # a replacement can bring a further secret to light (two glued together, for instance)
        spans = _find(text, detectors)
        if not spans:
            break
        counts.update(span.kind for span in spans)
        text = "".join(_replace(text, spans))
    return Redacted(text, MappingProxyType(dict(counts)))


def _detectors(options: RedactionOptions) -> tuple[Detector, ...]:
    extra: list[Detector] = [_custom(pattern) for pattern in options.patterns]
    extra += [emails] if options.emails else []
    extra += [phones] if options.phones else []
    return (*DETECTORS, *extra)


def _custom(pattern: CustomPattern) -> Detector:
    def detect(subject: Subject) -> Iterator[Span]:
        for match in pattern.regex.finditer(subject.text):
            yield Span(match.start(), match.end(), pattern.name)

    return detect


def _find(text: str, detectors: Iterable[Detector]) -> list[Span]:
    # Same length, so that offsets agree, and nothing in it that a detector would take up again.
    subject = Subject(MARKER.sub(lambda found: BLANK * len(found[0]), text))
    found = [
        (span, order)
        for order, detector in enumerate(detectors)
        for span in detector(subject)
        if any(character.isalnum() for character in subject.text[span.start : span.end])
    ]
    found.sort(key=lambda item: (item[0].start, -item[0].end, item[1]))
    return _merge(span for span, _ in found)


def _merge(spans: Iterable[Span]) -> list[Span]:
    """Join overlapping spans; the one that begins first, or is longer, gives the kind."""
    merged: list[Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            if span.end > merged[-1].end:
                merged[-1] = merged[-1]._replace(end=span.end)
        else:
            merged.append(span)
    return merged


def _replace(text: str, spans: list[Span]) -> Iterator[str]:
    position = 0
    for span in spans:
        yield text[position : span.start]
        yield marker(span.kind)
        yield _lost_fence(text, span) or _no_link(text, span)
        position = span.end
    yield text[position:]


def _lost_fence(text: str, span: Span) -> str:
    """Return the fence line that must stay when a removed block opened or closed a code block."""
    removed = text[span.start : span.end]
    fences = _FENCE.findall(removed) if "\n" in removed else []
    if len(fences) % 2 == 0:
        return ""
    return f"\n{fences[-1]}" + ("" if text.startswith("\n", span.end) else "\n")


def _no_link(text: str, span: Span) -> str:
    """Return a space where the marker's brackets would otherwise turn into a Markdown link."""
    following = text[span.end : span.end + 1]
    if following in {"(", "["}:
        return " "
    line = text[max(0, span.start - _INDENT) : span.start].rpartition("\n")
    begins_line = (line[1] or span.start < _INDENT) and not line[2].strip(" >")
    return " " if following == ":" and begins_line else ""
