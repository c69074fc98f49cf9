"""The interface's words: one catalogue a language, with the same keys in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "ja")
DEFAULT = "en"


@cache
def catalogue(language: str) -> Mapping[str, str]:
    """Return the texts of a language by key."""
    place = Path(__file__).parent / "locale" / f"{language}.json"
    texts: dict[str, str] = json.loads(place.read_text(encoding="utf-8"))
    return texts


def translate(language: str, key: str, **values: object) -> str:
    """Return the text of `key` with `values` put in. Raises KeyError for a key there is not."""
    return catalogue(language)[key].format(**values)


def known(language: str, key: str) -> str:
    """Return the text of `key`; its last piece when it is a word that the program did not foresee.

    For classes and states that come out of the data.
    """
    return catalogue(language).get(key) or key.rpartition(".")[2]


def choose(stated: str | None, accept: str) -> str:
    """Return the language a person chose, else the first of Accept-Language that there is."""
    if stated in LANGUAGES:
        return stated or DEFAULT
    ranked = sorted(map(_ranked, accept.lower().split(",")[:20]), key=lambda item: -item[1])
    wanted = (name.split("-")[0] for name, quality in ranked if quality > 0)
    return next((name for name in wanted if name in LANGUAGES), DEFAULT)


def _ranked(part: str) -> tuple[str, float]:
    name, _, rest = part.strip().partition(";")
    stated = rest.strip().removeprefix("q=")
    try:
        return name.strip(), float(stated) if stated else 1.0
    except ValueError:
        return name.strip(), 0.0
