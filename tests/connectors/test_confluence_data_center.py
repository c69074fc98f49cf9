"""Confluence Data Center brings the same documents by its older API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from connectors.base import ReadOptions
from connectors.confluence_live import ConfluenceLiveConnector
from context_engine.clock import ManualClock
from context_engine.events import Role
from context_engine.source_settings import ConfluenceSettings, LiveSettings
from support.confluence import HOME, PAGE
from support.confluence_server import PAT, DataCenter
from support.confluence_site import AKI, Comment, Content, serving_site
from support.http_faults import Fault
from support.sources import read_source
from support.transcripts import MemoryLedger, Reading
from support.web import Web

Read = Callable[[], Reading]


@pytest.fixture
def site() -> DataCenter:
    site = DataCenter(token=f"Bearer {PAT}")
    site.add(
        Content(HOME, "Shop Home", "<p>Welcome</p>"),
        Content(PAGE, "キャッシュ", "<p>Valkeyに決めた。</p>", parent=HOME),
        Content("65600", "News", "<p>Out</p>", kind="blog post"),
    )
    return site


@pytest.fixture
def web(site: DataCenter) -> Iterator[Web]:
    with serving_site(site) as web:
        yield web


@pytest.fixture
def read(web: Web) -> Read:
    ledger = MemoryLedger()
    settings = ConfluenceSettings(
        site=f"{web.url}/wiki", api="data-center", token=SecretStr(PAT), spaces=("SHOP",)
    )
    live = LiveSettings(confluence=settings)
    options = ReadOptions(owner_name="Aki", live=live, pause=lambda _: None)
    connector = ConfluenceLiveConnector(ManualClock(datetime(2026, 12, 1, tzinfo=UTC)))
    return lambda: read_source(connector, ledger=ledger, options=options)


def test_pages_and_posts_become_documents_and_are_not_read_twice(
    site: DataCenter, web: Web, read: Read
) -> None:
    page = site.pages[PAGE]
    page.text += '<p><ac:link><ri:user ri:userkey="557058:aki"/></ac:link></p>'
    page.labels, page.attachments = ["infra"], ["図.png"]
    first = read()
    assert sorted(item.title for item in first.documents) == ["News", "Shop Home", "キャッシュ"]
    [document] = [item for item in first.documents if item.native_id == PAGE]
    assert document.meta["path"] == "Shop (SHOP) › Shop Home › キャッシュ"
    assert document.url == f"https://shop.example.com/wiki/display/SHOP/{PAGE}"
    [said] = document.utterances
    assert said.author == "Kim 金"
    assert said.at == datetime(2026, 11, 2, 0, 5, 11, tzinfo=UTC)
    assert "Valkeyに決めた。\n\n@Aki\n\nLabels: infra\n\nAttachments:\n\n- 図.png" in said.text
    web.asked.clear()
    assert read().documents == []
    assert web.paths(f"/content/{PAGE}") == []


def test_new_versions_comments_and_places_are_noticed(site: DataCenter, read: Read) -> None:
    site.add(Comment("65700", PAGE, "<p>Sure?</p>", inline="Valkey"))
    assert "> Valkey\n\nSure?" in read().texts
    site.pages[HOME].edit(title="Top")
    site.add(Comment("65701", PAGE, "<p>Yes</p>", by=AKI, at="2026-11-20T10:00:00.000Z"))
    changed = read()
    assert {item.native_id: item.meta["path"] for item in changed.documents} == {
        HOME: "Shop (SHOP) › Top",
        PAGE: "Shop (SHOP) › Top › キャッシュ",
    }
    assert [(item.text, item.role) for item in changed.said if item.author == "Aki"] == [
        ("Yes", Role.OWNER)
    ]


@pytest.mark.parametrize("purged", [True, False])
def test_a_deleted_page_is_withdrawn(site: DataCenter, read: Read, *, purged: bool) -> None:
    read()
    if purged:
        del site.pages[PAGE]
    else:
        site.pages[PAGE].status = "trashed"
    assert [(item.native_id, item.withdrawn) for item in read().documents] == [(PAGE, True)]
    assert read().documents == []


def test_a_page_that_moves_in_the_list_while_it_is_paged_is_not_held_for_deleted(
    site: DataCenter, read: Read
) -> None:
    site.add(*(Content(str(70_000 + n), f"P{n}", "<p>x</p>") for n in range(3)))
    read()

    def move(start: str) -> None:
        if start == "2":
            # the last of the list becomes its first: all others move down, it is passed over
            site.pages["70002"].modified = "2026-11-30T00:00:00.000Z"
            site.turn = None

    site.turn = move
    assert [item for item in read().documents if item.withdrawn] == []
    assert [item for item in read().documents if item.withdrawn] == []


def test_faults_that_pass_are_waited_for(web: Web, read: Read) -> None:
    web.faults.add("/rest/api/content", Fault(429, {"Retry-After": "3"}), Fault(half=True))
    web.faults.add(f"/content/{PAGE}", Fault(502))
    assert len(read().documents) == 3
    assert web.faults.left == 0
