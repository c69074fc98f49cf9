"""Names of people in a sentence, as far as rules can tell them."""

from __future__ import annotations

import re

from workers.extraction.cue_words.table import NAME

_JA = re.compile(
    r"([一-龥ァ-ヶーA-Za-z々]{1,12})(?=さん|くん|君|ちゃん|先輩|部長|課長|社長|先生|氏)"
)
_EN_RELATION = re.compile(
    r"\b[Mm]y\s(?:manager|boss|lead|colleague|client|teacher|mentor|team\slead|wife|husband|partner)"
    r"\s([A-Z][a-z]+)"
)
_ROLES = re.compile(r"部長|課長|社長|専務|常務|母|父|妻|夫|娘|息子")


def people_in(sentence: str) -> tuple[str, ...]:
    """Return the names that the sentence calls by a title or puts first, without repetition."""
    found = [match.group(1) for match in _JA.finditer(sentence)]
    found += [match.group(1) for match in _EN_RELATION.finditer(sentence)]
    return tuple(dict.fromkeys(name for name in found if len(name) > 1))[:5]


def subject_of(sentence: str) -> str | None:
    """Return whom a sentence of kind `person` is about, None when no name is in it."""
    people = people_in(sentence)
    if people:
        return people[0]
    match = NAME.search(sentence) or _ROLES.search(sentence)
    return match.group() if match is not None else None
