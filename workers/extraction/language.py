"""Which of the two languages a text is in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from context_engine.events import Role, Utterance
from workers.extraction.sentences import own_sentences

Language = Literal["ja", "en"]

_KANA = re.compile(r"[\u3041-\u30fa\uff66-\uff9d]")
_LATIN = re.compile(r"[A-Za-z]+")
_ENOUGH = 0.12
"""Share of kana against Latin words: Japanese about code is full of Latin identifiers."""
_LOOK_AT = 20_000


def language_of(text: str) -> Language:
    """Return `ja` when the text is written in kana to any real part, else `en`."""
    sample = text[:_LOOK_AT]
    kana = len(_KANA.findall(sample))
    words = len(_LATIN.findall(sample))
    return "ja" if kana > _ENOUGH * (kana + words) else "en"


def owner_language(messages: Sequence[Utterance]) -> Language:
    """Return the language of the owner's own sentences, or of all text when there are none."""
    said = _joined(
        sentence.text
        for message in messages
        if message.role is Role.OWNER
        for sentence in own_sentences(message.text)
    )
    return language_of(said or _joined(message.text for message in messages))


def _joined(texts: Iterable[str]) -> str:
    parts: list[str] = []
    size = 0
    for text in texts:
        parts.append(text)
        size += len(text)
        if size > _LOOK_AT:
            break
    return "\n".join(parts)
