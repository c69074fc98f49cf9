"""Bounds on the number of tokens of a text, without any model's tokenizer."""

from __future__ import annotations

import re

_PIECE = re.compile(r"[A-Za-z]+|[0-9]|\s+|[^\sA-Za-z0-9]")
_LETTERS_PER_TOKEN = 3
_ASCII_PER_TOKEN_AT_MOST = 12
_OTHER_PER_TOKEN_AT_MOST = 4
_BMP = 0xFFFF
_ASCII = 0x7F


def _cost(piece: str) -> int:
    first = piece[0]
    if first.isspace():
        # runs of spaces merge into few tokens, line breaks hardly
        return piece.count("\n") + (len(piece) + 15) // 16
    if ord(first) > _ASCII:
        # an ideograph or kana is one token or less; an emoji falls into its bytes
        return 1 if ord(first) <= _BMP else 3
    return (len(piece) + _LETTERS_PER_TOKEN - 1) // _LETTERS_PER_TOKEN


def most_tokens(text: str) -> int:
    """Return a number of tokens that `text` does not exceed in common vocabularies."""
    return sum(_cost(match.group()) for match in _PIECE.finditer(text))


def reach(text: str, start: int, room: int) -> int:
    """Return how far `room` tokens go from `start`: at least one character, at most the end."""
    left = room
    for match in _PIECE.finditer(text, start):
        cost = _cost(match.group())
        if cost > left:
            step = 1 if match.group()[0].isspace() else _LETTERS_PER_TOKEN
            return max(start + 1, min(match.end(), match.start() + left * step))
        left -= cost
    return len(text)


def least_tokens(text: str) -> int:
    """Return a number of tokens that `text` has at least, to notice that a server cut it."""
    ascii_letters = sum(1 for char in text if char.isascii() and not char.isspace())
    other = sum(1 for char in text if not char.isascii())
    return ascii_letters // _ASCII_PER_TOKEN_AT_MOST + other // _OTHER_PER_TOKEN_AT_MOST
