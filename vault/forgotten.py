"""Documents and messages that the owner had forgotten: recognised by tombstones when they return.

By the source's own ids when the same export is read again, and by their words when they come in
another form. A document that was forgotten stays so as it grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from context_engine.events import SourceDocument, Utterance
from vault.escape import canonical
from vault.tombstones import Grave, Tombstones, fold

RECOGNISED = 24
"""Characters from which on words alone tell a message: a plain はい is said everywhere."""


def document_graves(document_id: str, messages: Iterable[tuple[str, str]]) -> tuple[Grave, ...]:
    """Return what is set for a forgotten document and its messages, (marker, text) each."""
    graves: list[Grave] = [("document", document_id)]
    for marker, text in messages:
        graves.append(("message", marker))
        if words := _words(text):
            graves.append(("text", words))
    return tuple(graves)


def without_forgotten(stones: Tombstones, document: SourceDocument) -> SourceDocument | None:
    """Return what of `document` was not forgotten; None when nothing is left."""
    if not stones.marks:
        return document
    if stones.has(("document", document.document_id)):
        return None
    kept = tuple(said for said in document.utterances if not _is_forgotten(stones, said))
    if len(kept) == len(document.utterances):
        return document
    # a title is often made of the first words
    title = document.source if stones.has(("title", fold(document.title))) else document.title
    return replace(document, utterances=kept, title=title) if kept else None


def without_titles(stones: Tombstones, state: Any) -> Any:
    """Return a reading state in which no title of a forgotten document stands as a value."""
    if not stones.marks:
        return state
    if isinstance(state, str):
        return "" if stones.has(("title", fold(state))) else state
    if isinstance(state, list):
        return [without_titles(stones, value) for value in state]
    if isinstance(state, Mapping):
        return {key: without_titles(stones, value) for key, value in state.items()}
    return state


def _is_forgotten(stones: Tombstones, said: Utterance) -> bool:
    words = _words(said.text)
    return stones.has(("message", said.marker)) or bool(words and stones.has(("text", words)))


def _words(text: str) -> str:
    words = fold(canonical(text))
    return words if len(words) >= RECOGNISED else ""
