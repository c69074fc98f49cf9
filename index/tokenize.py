"""Text to search tokens: one definition for the index and for queries.

Japanese has no spaces, so a run of CJK characters becomes its overlapping bigrams, plus each
kanji alone. Latin words and identifiers stay whole and are also given in parts. Everything is
NFKC and lower case; katakana is folded to hiragana, and a long vowel mark at the end of a
katakana word is dropped (サーバー finds サーバ). Linear in the length of the text.

FTS5 sees tokens joined by spaces through its `ascii` tokenizer, which splits at ASCII separators
only: unicode61 knows the characters of Unicode 6.1 and would drop newer ones.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import add

from context_engine.text import cap_marks

TOKENIZER = "cjk-bigram+latin-parts+stems/2"
"""Changes whenever the same text would get other tokens."""

FTS5_TOKENIZE = "ascii tokenchars '._-@+#'"
MAX_TOKEN = 64
"""Longer tokens (base64, minified names) are cut to this many characters."""
_MAX_WORD = 256

_KANJI = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7af"
_CJK = _KANJI + _KANA + _HANGUL
_WORD = rf"[^\W{_CJK}]"

_RUN = re.compile(rf"([{_CJK}]+)|({_WORD}+(?:[.\-@'’]{_WORD}+)*(?:\+\+|#(?!\w))?)")
_KANJI_ONE = re.compile(f"[{_KANJI}]")
_FINAL_LONG_MARK = re.compile(r"(?<=[ァ-ヺー]{3})ー+(?![ァ-ヺー])")
_POSSESSIVE = re.compile(r"['’](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_CONNECTOR = re.compile(r"[._\-@'’]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+")
_FOLD_KANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_ONE_WORD = re.compile(rf"[{_CJK}]{{1,4}}|[^\s{_CJK}]{{1,64}}")
_MAX_NAMING_QUERY = 500
_PLAIN_WORD = 0.2
"""Weight of a one-word query: what is meant may go by another word."""

_SYLLABLE = re.compile("[aeiouy]")
_SHORTEST_STEMMED = 4
_UNSAFE = re.compile(r"[\ud800-\udfff\x00]")


@dataclass(frozen=True)
class Name:
    """Something asked for by name: the tokens that a text must hold."""

    tokens: tuple[str, ...]
    alone: bool
    """Whether it is the whole query."""
    weight: float
    """How much of the query it is, 0 to 1."""


def normalise(text: str) -> str:
    """Return `text` in NFKC without NUL and lone surrogates, long vowel marks unified."""
    clean = unicodedata.normalize("NFKC", cap_marks(_UNSAFE.sub(" ", text)))
    return _FINAL_LONG_MARK.sub("", clean)


def fold(text: str) -> str:
    """Return `text` as phrases are compared: normalised, lower case, kana folded, one space."""
    return " ".join(normalise(text).lower().translate(_FOLD_KANA).split())


def tokenize(text: str) -> list[str]:
    """Return the tokens of `text`, repetitions included."""
    tokens: list[str] = []
    for match in _RUN.finditer(normalise(text)):
        cjk, word = match.groups()
        if cjk:
            tokens.extend(_cjk_tokens(cjk.translate(_FOLD_KANA)))
        else:
            for start in range(0, len(word), _MAX_WORD):
                tokens.extend(_word_tokens(word[start : start + _MAX_WORD]))
    return tokens


def names_in(text: str) -> tuple[Name, ...]:
    """Return what a query asks for by name.

    Names are identifiers (`get_user_id`, `ABC-123`, `config.toml`, `HTTPServer`), and the whole
    query when it is one Latin word or a short Japanese one.
    """
    clean = normalise(text[:_MAX_NAMING_QUERY]).strip()
    words = [match[2] for match in _RUN.finditer(clean) if match[2]]
    names = {word: _word_tokens(word[:_MAX_WORD])[:1] for word in words if is_identifier(word)}
    if not names and _ONE_WORD.fullmatch(clean):
        whole = [token for token in tokenize(clean) if len(token) > 1] or tokenize(clean)
        return (Name(tuple(whole), alone=True, weight=_PLAIN_WORD),) if whole else ()
    said = len("".join(clean.split()))
    return tuple(
        Name(tokens, alone=word == clean, weight=math.sqrt(len(word) / said))
        for word, tokens in names.items()
    )


def is_identifier(word: str) -> bool:
    """Tell whether a word is made of parts, as names in code, tickets and files are."""
    return len(_word_tokens(word[:_MAX_WORD])) > 1


def indexed(text: str) -> str:
    """Return the tokens of `text` as FTS5 is given them."""
    return " ".join(tokenize(text))


def _cjk_tokens(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [*map(add, run, run[1:]), *_KANJI_ONE.findall(run)]


@lru_cache(maxsize=65_536)
def _word_tokens(word: str) -> tuple[str, ...]:
    plain = _POSSESSIVE.sub("", word)
    lower = plain.lower()[:MAX_TOKEN]
    parts = [part for piece in _CONNECTOR.split(plain) for part in _parts(piece)]
    tokens = dict.fromkeys([lower])
    if len(parts) > 1:
        if not _VERSION.fullmatch(lower):
            tokens["".join(parts)[:MAX_TOKEN]] = None
        tokens.update(dict.fromkeys(part[:MAX_TOKEN] for part in parts))
    return tuple(stem(token) for token in tokens if token.strip("_"))


def _parts(piece: str) -> Iterator[str]:
    if piece.isascii() and not piece.islower() and not piece.isdigit():
        yield from (part.lower() for part in _CAMEL.findall(piece))
    elif piece:
        yield piece.lower()


@lru_cache(maxsize=65_536)
def stem(token: str) -> str:
    """Return an English word without plural, -ing, -ed, -ly and final e; others as they are.

    Lighter than Porter's algorithm: what it joins are forms of one word, hardly ever two words.
    """
    if len(token) < _SHORTEST_STEMMED or not (token.isascii() and token.isalpha()):
        return token
    word = _without_ending(_singular(token))
    if len(word) > _SHORTEST_STEMMED and word.endswith("ly"):
        word = word[:-2]
    if len(word) >= _SHORTEST_STEMMED and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) >= _SHORTEST_STEMMED and word.endswith("y") else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if len(base) < len(word) and _SYLLABLE.search(base) and len(base) >= len("run"):
            doubled = len(base) >= _SHORTEST_STEMMED and base[-1] == base[-2]
            return base[:-1] if doubled and base[-1] not in "lsz" else base
    return word
