"""Is what a name was given a secret? The looser the writing, the more the value must look it."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from context_engine.redaction import values
from context_engine.redaction.names import Trust


class Style(Enum):
    """How a value stands to its name."""

    QUOTED = auto()
    """password = "…": a literal."""
    CITED = auto()
    """the password "…": quoted, but nothing says that it is assigned."""
    ENV = auto()
    """DB_PASSWORD=…: a literal without quotes, to the end of the word."""
    FIELD = auto()
    """password: …"""
    CODE = auto()
    """password = …: a literal, a name or an expression."""
    PROSE = auto()
    """the password is …"""


class Value(NamedTuple):
    """A value's place and how it was written."""

    start: int
    end: int
    style: Style


_LITERAL = frozenset({Style.QUOTED, Style.ENV})
_UNQUOTED = frozenset({Style.FIELD, Style.CODE, Style.PROSE})
_TOLD = frozenset({Style.PROSE, Style.CITED})
_SHORTEST = {Trust.STRONG: 4, Trust.MEDIUM: 8, Trust.WEAK: 20}
_LOOKED_AT = 256
_PIN_LENGTH = range(4, 9)
_SHORTEST_UNQUOTED = 6
"""Shorter ones are words like v1, 8GB."""
_SHORTEST_IN_PROSE = 12
"""Of tokens and keys; a sentence about tokens holds many short names with digits."""
_SHORTEST_LETTERS = 20
"""Of tokens and keys without a digit."""


def is_secret(text: str, trust: Trust, value: Value) -> bool:
    """Tell whether `value`, given to a name of `trust`, is a secret."""
    literal = values.narrow(text[value.start : value.end][:_LOOKED_AT])
    if trust is Trust.DIGITS:
        return literal.isdigit() and len(literal) in _PIN_LENGTH
    if len(literal) < _SHORTEST[trust] or values.is_placeholder(literal):
        return False
    if value.style in _UNQUOTED and values.is_expression(literal):
        return False
    if trust is Trust.STRONG:
        return _is_password(text, value, literal)
    return _is_key(trust, value.style, literal)


def _is_password(text: str, value: Value, literal: str) -> bool:
    if " " in literal:
        return value.style is Style.QUOTED and not values.is_sentence(literal)
    if value.style in _LITERAL:
        if values.is_path(literal) or (values.is_type(literal) and values.is_identifier(literal)):
            return False
        return not _is_passed_on(text, value, literal)
    if values.is_technical(literal) or len(literal) < _SHORTEST_UNQUOTED:
        return False
    if value.style is Style.FIELD and text[value.end : value.end + 1] in {"", "\n", "\r"}:
        return not values.is_dotted(literal)
    return values.is_mixed(literal) and not values.is_identifier(literal)


def _is_passed_on(text: str, value: Value, literal: str) -> bool:
    """Tell whether `password=user_password,` is a line of a call rather than of an env file."""
    return (
        value.style is Style.ENV
        and text[value.end : value.end + 1] in {",", ")"}
        and values.is_identifier(literal)
    )


def _is_key(trust: Trust, style: Style, literal: str) -> bool:
    if " " in literal or literal.isdigit() or values.is_type(literal) or values.is_wordy(literal):
        return False
    if trust is Trust.WEAK:
        return values.is_varied(literal) and literal.isascii()
    if values.is_uuid(literal):
        return style is not Style.PROSE
    return not values.is_technical(literal) and _is_random(style, literal)


def _is_random(style: Style, literal: str) -> bool:
    if style is Style.FIELD or style in _LITERAL:
        jumbled = len(literal) >= _SHORTEST_LETTERS and values.is_jumbled(literal)
        if jumbled or style in _LITERAL:
            return jumbled or values.is_mixed(literal)
    shortest = _SHORTEST_IN_PROSE if style in _TOLD else _SHORTEST[Trust.MEDIUM]
    return (
        len(literal) >= shortest and values.is_mixed(literal) and not values.is_identifier(literal)
    )
