"""What in a prompt names one thing: ticket numbers, identifiers, file names, hashes, error codes.

Found in any language; full-width letters count as their plain ones. Linear in the text's length.
"""

from __future__ import annotations

import re

from index.tokenize import normalise

MAX_TOKENS = 12
_MAX_TEXT = 10_000

_WORD = r"(?<![A-Za-z0-9_])"
_END = r"(?![A-Za-z0-9_])"
_FORMS = re.compile(
    "|".join(
        (
            # PAY-1423, ORA-00942; not UTF-8
            rf"{_WORD}[A-Za-z][A-Za-z0-9]{{1,9}}-[0-9]{{2,7}}{_END}",
            # E2043, 0x80070005
            rf"{_WORD}(?:[A-Za-z]{{1,5}}[0-9]{{3,8}}|0x[0-9a-fA-F]{{4,16}}){_END}",
            # #1423
            rf"(?<![\w&])#[0-9]{{2,7}}{_END}",
            # config.toml, 設計書.md
            r"[^\W.][\w-]{1,60}(?:\.[\w-]{1,40})?\.[A-Za-z][A-Za-z0-9]{0,4}" + _END,
            # retry_limit, MAX_RETRIES
            rf"{_WORD}[A-Za-z0-9]{{1,40}}(?:_[A-Za-z0-9]{{1,40}}){{1,6}}{_END}",
            # getUserId, PaymentRetryPolicy
            rf"{_WORD}[A-Za-z][a-z0-9]{{1,30}}(?:[A-Z][a-z0-9]{{1,30}}){{1,6}}{_END}",
            # a commit
            rf"{_WORD}(?=[a-f]{{0,39}}[0-9])(?=[0-9]{{0,39}}[a-f])[0-9a-f]{{7,40}}{_END}",
        )
    )
)
_STANDARDS = re.compile(
    r"(?:utf|sha|iso|rfc|aes|rsa|cp|gpt|covid|base|http|hs|es|ipv)-?[0-9]+", re.IGNORECASE
)
_NOT_IDENTIFIERS = frozenset({"github", "javascript", "typescript", "youtube", "openai", "macos"})


def distinctive(text: str) -> tuple[str, ...]:
    """Return the distinctive tokens of `text`, lower case, as they occur; at most twelve."""
    found = (match[0] for match in _FORMS.finditer(normalise(text[:_MAX_TEXT])))
    tokens = dict.fromkeys(token.lower() for token in found if not _is_common(token))
    return tuple(tokens)[:MAX_TOKENS]


def _is_common(token: str) -> bool:
    return token.lower() in _NOT_IDENTIFIERS or _STANDARDS.fullmatch(token) is not None


def holds(text: str, token: str) -> bool:
    """Return whether normalised lower-case `text` holds `token` as a word of its own."""
    at = text.find(token)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(token) : at + len(token) + 1]
        if not (_continues(before, token[0]) or _continues(after, token[-1])):
            return True
        at = text.find(token, at + 1)
    return False


def _continues(beside: str, edge: str) -> bool:
    """Tell whether a sign beside a token makes it part of a longer one: `pay-14230`, `xretry_a`."""
    return beside.isascii() and (beside.isalnum() or beside == "_") and edge.isascii()
