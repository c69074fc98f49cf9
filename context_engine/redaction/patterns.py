r"""The owner's own patterns, held to a syntax in which no pattern can be slow.

Python's regular expressions backtrack: `(a+)+b`, but also a plain `\d+x`, take time that grows
faster than the text. So a pattern may repeat a character or a class, a bounded number of times,
and never a group. That is enough for ticket numbers, customer ids and host names.
"""

from __future__ import annotations

import re
import string
import warnings

from context_engine.errors import ConfigError
from context_engine.redaction.model import CustomPattern

_NAME = re.compile(r"[a-z](?:[a-z-]{0,30}[a-z])")
_MAX_LENGTH = 500
_MAX_REPEAT = 256
_MAX_WAYS = 512
"""Ways to divide a text among the variable repeats of one pattern: bounds what a match costs."""

_ATOM = re.compile(
    r"""
      (?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<escape>\\(?:[dDwWsSbB]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[^A-Za-z0-9]|[tnr]))
    | (?P<open>\((?:\?(?::|=|!|<=|<!))?)
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<anchor>[\^$])
    | (?P<char>[^\\()\[\]{}*+?|^$])
    """,
    re.VERBOSE,
)
_REPEAT = re.compile(r"\?|\{(?P<low>\d{1,4})(?:,(?P<high>\d{1,4}))?\}")


def custom_pattern(name: str, regex: str) -> CustomPattern:
    """Return a pattern ready to use; what it matches becomes `[redacted:<name>]`.

    Raises ConfigError when the name or the regular expression is refused, and says why.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"redaction pattern {name!r}: a name is 2 to 32 letters a-z and dashes")
    problem = _problem(regex)
    if problem:
        raise ConfigError(f"redaction pattern {name!r}: {problem}")
    return CustomPattern(name, re.compile(regex))


def _problem(regex: str) -> str | None:
    """Return why `regex` is refused, or None."""
    if len(regex) > _MAX_LENGTH:
        return f"longer than {_MAX_LENGTH} characters"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(regex)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return str(error)
    problem = _slow_part(regex)
    if problem:
        return problem
    if any(compiled.search(text) for text in ("", *string.ascii_letters, *string.digits, "あ")):
        return "would match a single character, and so most of every text"
    return None


def _slow_part(regex: str) -> str | None:
    position, ways = 0, 1
    while position < len(regex):
        atom = _ATOM.match(regex, position)
        if atom is None:
            return f"{regex[position : position + 10]!r} is not allowed; say {{1,64}} for + or *"
        repeat = _REPEAT.match(regex, atom.end())
        position = repeat.end() if repeat else atom.end()
        if repeat:
            problem, choices = _repeated(atom, repeat)
            if problem:
                return problem
            ways *= choices
    return None if ways <= _MAX_WAYS else "too many variable repeats; make some of them fixed"


def _repeated(atom: re.Match[str], repeat: re.Match[str]) -> tuple[str | None, int]:
    if atom.lastgroup == "close":
        return "a group cannot repeat; repeat a character or a class in it", 0
    if atom.lastgroup in {"open", "bar", "anchor"}:
        return f"{repeat[0]!r} repeats nothing", 0
    if repeat[0] == "?":
        return None, 2
    low = int(repeat["low"])
    high = int(repeat["high"] or low)
    if high > _MAX_REPEAT:
        return f"{repeat[0]} repeats more than {_MAX_REPEAT} times", 0
    return None, high - low + 1
