"""Is the value of an assignment a secret, or a stand-in for one?"""

from __future__ import annotations

import re

_REFERENCE = re.compile(
    r"[$<{%]|\(|\.\.\.|…|[\[{(]|process\.env|os\.environ|env\.|getenv|secrets?\.|vault:|\*{3,}|x{4,}|•{3,}",
    re.IGNORECASE,
)
_WORDS = frozenset(
    "password passwd pass pw secret token key apikey none null nil true false undefined changeme "
    "change_me change-me placeholder redacted removed hidden example dummy string str text "
    "required optional".split()
)


def is_placeholder(value: str) -> bool:
    """Tell whether `value` stands in for a secret: a variable, a mask, an instruction."""
    return bool(_REFERENCE.match(value)) or value.lower() in _WORDS or len(set(value)) <= 2
