"""Whatever a site answers: a live source reads it, or says by name why not."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.confluence_live import ConfluenceLiveConnector
from connectors.drive_api import Part, _told, part_of
from context_engine.errors import ContextEngineError
from context_engine.source_settings import ConfluenceSettings, LiveSettings
from support.confluence_site import AUTHORIZATION, EMAIL, TOKEN, Comment, Content, Site
from support.sources import json_values, mutate
from support.transcripts import MemoryLedger
from support.web import Asked


def site() -> Site:
    site = Site(step=50)
    site.add(Content("1", "家", "<p>a</p>"), Content("2", "B", "<p>b</p>", parent="1"))
    site.add(Comment("3", "2", "<p>c</p>", inline="b"), Comment("4", "2", "<p>d</p>", above="3"))
    return site


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_confluence_that_answers_anything_ends_in_documents_or_a_named_error(
    data: st.DataObject, monkeypatch: Any
) -> None:
    server = site()
    strange = data.draw(st.integers(min_value=0, max_value=12))
    asked = 0

    def answer(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        assert asked < 500, "asks without end"
        query = {name: request.url.params.get_list(name) for name in request.url.params}
        headers = {"authorization": AUTHORIZATION}
        told = Asked(request.method, request.url.path, query, headers, request.content)
        found = server.answer(told)
        body = mutate(found.body, data) if asked == strange + 1 else found.body
        return httpx.Response(found.status, content=json.dumps(body).encode())

    def client(base_url: str, headers: Any) -> httpx.Client:
        return httpx.Client(base_url=base_url, transport=httpx.MockTransport(answer))

    monkeypatch.setattr("connectors.confluence_live.open_client", client)
    told = {"site": "https://shop.example.com/wiki", "email": EMAIL, "token": TOKEN}
    live = LiveSettings(confluence=ConfluenceSettings.model_validate(told))
    with suppress(ContextEngineError):
        options = ReadOptions(live=live, pause=lambda _: None)
        list(ConfluenceLiveConnector().read((), MemoryLedger(), options))


@given(record=json_values)
def test_any_record_of_a_drive_is_a_part_or_nothing(record: Any) -> None:
    part = part_of(record)
    assert not isinstance(part, Part) or part.name.startswith("takeout-")


@given(body=st.binary(max_size=200) | json_values.map(lambda it: json.dumps(it).encode()))
def test_any_error_of_a_drive_is_put_into_words(body: bytes) -> None:
    assert all(isinstance(word, str) for word in _told(body))
