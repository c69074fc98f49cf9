"""The cues of both languages, compiled, in the order in which they are asked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from context_engine.insights import Kind
from workers.extraction.cue_words import english, japanese

Table = tuple[tuple[Kind, re.Pattern[str]], ...]

# A sentence may hold several cues. The more a cue says about its kind, the earlier it is asked:
# "we decided to always use X" is a decision, "from now on X is done by Friday" a way of working.
_ORDER = (Kind.DECISION, Kind.PERSON, Kind.LEARNING, Kind.VALUE, Kind.PROJECT)


def _alternatives(text: str) -> list[str]:
    """Return the patterns of one entry: one a line; a line that begins with `|` goes on."""
    joined = re.sub(r"\n\s*\|", "|", text)
    return [line.strip() for line in joined.splitlines() if line.strip()]


def _any(text: str) -> str:
    return "(?:" + "|".join(_alternatives(text)) + ")"


def _filled(text: str, fragments: Mapping[str, str]) -> str:
    pattern = _any(text)
    # fragments may name earlier ones
    for name, fragment in reversed(list(fragments.items())):
        pattern = pattern.replace(f"<{name}>", _any(fragment))
    return pattern


def _table(words: Mapping[Kind, str], fragments: Mapping[str, str]) -> Table:
    return tuple(
        (kind, re.compile(_filled(words[kind], fragments), re.IGNORECASE))
        for kind in _ORDER
        if kind in words
    )


STRONG = {
    "en": _table(english.STRONG, english.FRAGMENTS),
    "ja": _table(japanese.STRONG, japanese.FRAGMENTS),
}
WEAK = {
    "en": _table(english.WEAK, english.FRAGMENTS),
    "ja": _table(japanese.WEAK, japanese.FRAGMENTS),
}
REASON = {
    "en": re.compile(_any(english.REASON), re.IGNORECASE),
    "ja": re.compile(_any(japanese.REASON), re.IGNORECASE),
}
NAME = re.compile(_any(english.FRAGMENTS["name"]))
_JAPANESE = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff]")


def language_of_sentence(sentence: str) -> str:
    """Return the table's key: one Japanese character decides, terms are often Latin."""
    return "ja" if _JAPANESE.search(sentence) else "en"
