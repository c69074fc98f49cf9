"""Makes any str safe and small enough to embed, in bounded time.

The mapping follows SentencePiece's `nmt_nfkc`, with which the E5 family was trained: NFKC, control
characters out, invisible ones a space, the wave-like U+FF5E of Japanese ranges kept.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARACTERS = 8_192
"""512 tokens of at most 16 characters: what lies behind cannot reach a model of that length."""

_SPACES = re.compile(r"\s+")
_INVISIBLE = re.compile("[\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_KEPT = "\uff5e"


def clean(text: str) -> str:
    """Return `text` normalised, on one line, without what a tokenizer must not meet.

    The result has no control characters, no surrogates, no double spaces, and at most
    MAX_CHARACTERS characters. Time does not grow with the length of `text`.
    """
    head = text[: 4 * MAX_CHARACTERS]
    head = _INVISIBLE.sub(" ", _CONTROL.sub("", head))
    # Cut before NFKC as well: its reordering of combining marks is quadratic in their number.
    head = _SPACES.sub(" ", head)[:MAX_CHARACTERS]
    head = _KEPT.join(unicodedata.normalize("NFKC", part) for part in head.split(_KEPT))
    return _SPACES.sub(" ", head).strip()[:MAX_CHARACTERS]
