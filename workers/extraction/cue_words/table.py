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


def _table(*languages: tuple[Mapping[Kind, str], Mapping[str, str]]) -> Table:
    return tuple(
        (kind, re.compile("|".join(found), re.IGNORECASE))
        for kind in _ORDER
        if (found := [_filled(words[kind], parts) for words, parts in languages if kind in words])
    )


STRONG = _table((english.STRONG, english.FRAGMENTS), (japanese.STRONG, japanese.FRAGMENTS))
WEAK = _table((english.WEAK, english.FRAGMENTS), (japanese.WEAK, japanese.FRAGMENTS))
REASON = re.compile(f"{_any(english.REASON)}|{_any(japanese.REASON)}", re.IGNORECASE)
NAME = re.compile(_any(english.FRAGMENTS["name"]))
