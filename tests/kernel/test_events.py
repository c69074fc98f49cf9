"""An event survives the queue unchanged, and the same content has the same id."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from context_engine.events import (
    Ref,
    Role,
    SourceDocument,
    Utterance,
    decode_document,
    encode_document,
)
from context_engine.scopes import Scope

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TIMES = st.none() | st.datetimes(timezones=st.just(UTC))
UTTERANCES = st.builds(Utterance, TEXT, TEXT, st.sampled_from(Role), TIMES, TEXT)
DOCUMENTS = st.builds(
    SourceDocument,
    source=TEXT,
    native_id=TEXT,
    scope=st.sampled_from(Scope),
    title=TEXT,
    utterances=st.lists(UTTERANCES, max_size=3).map(tuple),
    started=TIMES,
    project=st.none() | TEXT,
    url=st.none() | TEXT,
    part=st.integers(1, 10_000),
    version=TEXT,
    refs=st.lists(st.builds(Ref, TEXT, TEXT, st.none() | TEXT), max_size=2).map(tuple),
    meta=st.dictionaries(TEXT, TEXT, max_size=3),
)

NIGHT = datetime(2026, 11, 2, 23, 59, 59, tzinfo=UTC)
HELLO = Utterance("u1", "aki", Role.OWNER, NIGHT, "Valkeyにしよう。")
DOCUMENT = SourceDocument("claude", "s1", Scope.WORK, "Redis", (HELLO,))


@given(DOCUMENTS)
def test_what_is_encoded_comes_back_the_same(document: SourceDocument) -> None:
    again = decode_document(encode_document(document))
    assert again == document
    assert (again.event_id, again.document_id) == (document.event_id, document.document_id)


def test_the_payload_is_plain_json() -> None:
    payload = orjson.loads(encode_document(DOCUMENT))
    assert payload["scope"] == "work"
    assert payload["utterances"][0]["text"] == "Valkeyにしよう。"
    assert payload["schema"] == 1


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        encode_document(DOCUMENT).replace(b'"work"', b'"everything"'),
        encode_document(DOCUMENT).replace(b'"owner"', b'"root"'),
        encode_document(DOCUMENT)[:-5],
    ],
)
def test_a_malformed_payload_is_refused(payload: bytes) -> None:
    with pytest.raises(ValidationError):
        decode_document(payload)


@pytest.mark.parametrize(
    "change",
    [
        {"source": "slack"},
        {"native_id": "s2"},
        {"part": 2},
        {"version": "7"},
        {"utterances": ()},
        {"utterances": (dataclasses.replace(HELLO, text="Redisのまま。"),)},
        {"utterances": (dataclasses.replace(HELLO, author="mio"),)},
        {"utterances": (HELLO, HELLO)},
    ],
)
def test_other_content_is_another_event(change: dict[str, Any]) -> None:
    assert dataclasses.replace(DOCUMENT, **change).event_id != DOCUMENT.event_id


@pytest.mark.parametrize(
    "change", [{"title": "Valkey"}, {"url": "https://x.test"}, {"meta": {"a": "b"}}]
)
def test_what_only_surrounds_the_content_makes_no_new_event(change: dict[str, Any]) -> None:
    assert dataclasses.replace(DOCUMENT, **change).event_id == DOCUMENT.event_id


def test_all_pieces_of_a_document_share_its_id() -> None:
    pieces = [
        dataclasses.replace(
            DOCUMENT, part=part, utterances=(dataclasses.replace(HELLO, text=text),)
        )
        for part, text in ((1, "a"), (2, "b"))
    ]
    assert len({piece.document_id for piece in pieces}) == 1
    assert len({piece.event_id for piece in pieces}) == 2


def test_an_event_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DOCUMENT.title = "x"  # type: ignore[misc]  # that is what must fail
