"""A live Confluence becomes the same documents as its exports, and stays what the site says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import SecretStr

from connectors.base import LiveConnector, ReadOptions
from connectors.confluence import ConfluenceConnector
from connectors.confluence_live import ConfluenceLiveConnector
from context_engine.clock import ManualClock
from context_engine.errors import AccessDeniedError, DependencyDownError, UsageError
from context_engine.events import Checkpoint, Role
from context_engine.source_settings import ConfluenceSettings, LiveSettings
from support import confluence as export
from support.confluence_site import AKI, EMAIL, KIM, TOKEN, Comment, Content, Site, serving_site
from support.http_faults import Fault
from support.sources import read_source
from support.transcripts import MemoryLedger, Reading, take
from support.web import Answer, Asked, Web

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOME, PLAN, CACHE = export.HOME, "65585", export.PAGE


def no_pause(seconds: float) -> None:
    del seconds


@pytest.fixture
def site() -> Site:
    site = Site()
    site.add(
        Content(HOME, "Shop Home", "<p>Welcome</p>"),
        Content(PLAN, "Plan", "<p>All plans</p>", parent=HOME),
        Content(CACHE, "キャッシュ", "<p>Valkeyに決めた。</p>", parent=PLAN),
    )
    return site


@pytest.fixture
def web(site: Site) -> Iterator[Web]:
    with serving_site(site) as web:
        yield web


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


Read = Callable[..., Reading]


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


@pytest.fixture
def read(web: Web, ledger: MemoryLedger, clock: ManualClock) -> Read:
    def read(pause: Callable[[float], None] = no_pause, spaces: tuple[str, ...] = ()) -> Reading:
        options = options_for(web, pause, spaces)
        return read_source(ConfluenceLiveConnector(clock), ledger=ledger, options=options)

    return read


def options_for(
    web: Web, pause: Callable[[float], None] = no_pause, spaces: tuple[str, ...] = ()
) -> ReadOptions:
    settings = ConfluenceSettings(
        site=f"{web.url}/wiki", email=EMAIL, token=SecretStr(TOKEN), spaces=spaces
    )
    return ReadOptions(owner_name="Aki", live=LiveSettings(confluence=settings), pause=pause)


def titles(reading: Reading) -> list[str]:
    return [document.title for document in reading.documents]


def test_a_page_is_a_document_with_its_place_people_and_address(site: Site, read: Read) -> None:
    page = site.pages[CACHE]
    page.text = '<p>See <ac:link><ri:user ri:account-id="557058:aki"/></ac:link></p>'
    page.labels, page.attachments = ["infra"], ["図.png"]
    [document] = [item for item in read().documents if item.native_id == CACHE]
    assert document.title == "キャッシュ"
    assert document.meta["path"] == "Shop (SHOP) › Shop Home › Plan › キャッシュ"
    assert document.url == f"https://shop.example.com/wiki/spaces/SHOP/pages/{CACHE}"
    assert document.started == datetime(2026, 11, 1, 8, tzinfo=UTC)
    [said] = document.utterances
    assert said.native_id == CACHE
    assert said.author == "Kim 金"
    assert said.role is Role.OTHER
    assert said.at == datetime(2026, 11, 2, 9, 5, 11, tzinfo=UTC)
    assert "version 1\n\nSee @Aki\n\nLabels: infra\n\nAttachments:\n\n- 図.png" in said.text


def test_a_second_run_asks_for_lists_only_and_brings_nothing(web: Web, read: Read) -> None:
    assert len(read().documents) == 3
    web.asked.clear()
    assert read().documents == []
    assert web.paths(f"/pages/{CACHE}") == []


def test_an_export_and_the_site_do_not_bring_a_page_twice(
    tmp_path: Path, site: Site, read: Read, ledger: MemoryLedger
) -> None:
    site.add(Comment("65700", CACHE, "<p>Sure?</p>"))
    exported = export.write(
        tmp_path,
        export.home(),
        export.body(HOME, "<p>Welcome</p>"),
        export.page(PLAN, "Plan"),
        export.body(PLAN, "<p>All plans</p>"),
        export.page(CACHE, "キャッシュ", parent=PLAN),
        export.body(CACHE, "<p>Valkeyに決めた。</p>"),
        export.comment("65700", "<p>Sure?</p>"),
    )
    assert len(read_source(ConfluenceConnector(), exported, ledger=ledger).documents) == 3
    assert read().documents == []
    (exported / "entities.xml").touch()
    assert read_source(ConfluenceConnector(), exported, ledger=ledger).documents == []
    site.pages[CACHE].edit("<p>Redisに戻した。</p>")
    [document] = read().documents
    assert document.native_id == CACHE
    old = read_source(ConfluenceConnector(), exported, ledger=MemoryLedger()).documents
    assert document.document_id in {item.document_id for item in old}


def test_of_one_version_the_site_counts_before_an_export(
    tmp_path: Path, read: Read, ledger: MemoryLedger
) -> None:
    read()
    elsewhere = export.page(CACHE, "キャッシュ", parent=HOME)
    older = export.write(tmp_path / "1", elsewhere, export.body(CACHE, "<p>older</p>"))
    assert read_source(ConfluenceConnector(), older, ledger=ledger).documents == []
    newer = export.write(
        tmp_path / "2", export.page(CACHE, "Cache", 2), export.body(CACHE, "<p>newer</p>")
    )
    assert titles(read_source(ConfluenceConnector(), newer, ledger=ledger)) == ["Cache"]


def test_a_new_version_replaces_the_text_and_a_new_title_the_title(site: Site, read: Read) -> None:
    read()
    site.pages[CACHE].edit("<p>Redis</p>", "Caching")
    [document] = read().documents
    assert document.title == "Caching"
    [said] = document.utterances
    assert said.native_id == CACHE
    assert said.text == "Shop (SHOP) › Shop Home › Plan › Caching · version 2\n\nRedis"


def test_what_lies_below_a_renamed_page_gets_its_new_place(site: Site, read: Read) -> None:
    read()
    site.pages[PLAN].edit(title="Decisions")
    places = {item.native_id: item.meta["path"] for item in read().documents}
    assert places == {
        PLAN: "Shop (SHOP) › Shop Home › Decisions",
        CACHE: "Shop (SHOP) › Shop Home › Decisions › キャッシュ",
    }


def test_a_moved_page_gets_its_place_though_its_version_stays(site: Site, read: Read) -> None:
    read()
    site.folders["777"] = {"id": "777", "title": "棚", "parentId": HOME, "parentType": "page"}
    site.pages[CACHE].parent, site.pages[CACHE].parent_type = "777", "folder"
    [document] = read().documents
    assert document.meta["path"] == "Shop (SHOP) › Shop Home › 棚 › キャッシュ"


def test_a_deleted_page_is_withdrawn_and_a_restored_one_comes_back(site: Site, read: Read) -> None:
    read()
    site.pages[CACHE].status = "trashed"
    [gone] = read().documents
    assert (gone.native_id, gone.withdrawn) == (CACHE, True)
    assert read().documents == []
    site.pages[CACHE].status = "current"
    [back] = read().documents
    assert not back.withdrawn
    assert "Valkeyに決めた。" in back.utterances[0].text
    assert back.revision > gone.revision


def test_a_purged_page_is_withdrawn(site: Site, read: Read) -> None:
    read()
    del site.pages[CACHE]
    [gone] = read().documents
    assert (gone.native_id, gone.withdrawn) == (CACHE, True)


def test_a_page_of_another_site_with_the_same_id_is_another_page(
    site: Site, web: Web, read: Read, ledger: MemoryLedger, clock: ManualClock
) -> None:
    read()
    other = Site()
    other.add(Content(CACHE, "Elsewhere", "<p>e</p>", created="2025-01-05T08:00:00.000Z"))
    with serving_site(other) as elsewhere:
        options = options_for(elsewhere)
        connector = ConfluenceLiveConnector(clock)
        [page] = read_source(connector, ledger=ledger, options=options).documents
        assert page.native_id == f"{CACHE}@2025-01-05"
        other.pages.clear()
        [gone] = read_source(connector, ledger=ledger, options=options).documents
        assert (gone.native_id, gone.withdrawn) == (f"{CACHE}@2025-01-05", True)
    assert read().documents == []


def test_a_page_that_cannot_be_looked_for_is_named_and_kept(
    site: Site, web: Web, read: Read
) -> None:
    read()
    page = site.pages.pop(CACHE)
    web.faults.add(f"/pages/{CACHE}", Fault(400))
    doubtful = read()
    assert doubtful.documents == []
    assert [item.place for item in doubtful.bad] == [f"Confluence /wiki/api/v2/pages/{CACHE}"]
    site.add(page)
    assert read().documents == []


def test_a_page_that_only_an_export_knew_is_withdrawn_from_the_trash(
    tmp_path: Path, site: Site, read: Read, ledger: MemoryLedger
) -> None:
    folder = export.write(tmp_path, export.page(), export.body(CACHE, "<p>x</p>"))
    read_source(ConfluenceConnector(), folder, ledger=ledger)
    site.pages[CACHE].status = "trashed"
    assert [item.native_id for item in read().documents if item.withdrawn] == [CACHE]


def test_a_page_in_the_trash_that_was_never_collected_is_left_out(site: Site, read: Read) -> None:
    site.pages[CACHE].status = "trashed"
    assert titles(read()) == ["Shop Home", "Plan"]


def test_an_archived_page_stays_and_says_so(site: Site, read: Read) -> None:
    read()
    site.pages[CACHE].status = "archived"
    [document] = read().documents
    assert document.meta["status"] == "archived"
    assert not document.withdrawn


def test_a_page_moved_to_a_space_that_is_not_read_is_kept(site: Site, read: Read) -> None:
    read(spaces=("SHOP",))
    site.spaces["200"] = ("OPS", "Operations")
    site.pages[CACHE].space = "200"
    assert read(spaces=("SHOP",)).documents == []
    [document] = read(spaces=("SHOP", "OPS")).documents
    assert document.meta["path"].startswith("Operations (OPS) › ")


def test_very_many_pages_gone_at_once_are_believed_after_a_week(
    site: Site, read: Read, clock: ManualClock
) -> None:
    site.step = 50
    site.add(*(Content(str(70_000 + n), f"P{n}", "<p>x</p>") for n in range(40)))
    read()
    kept = dict(site.pages)
    site.pages.clear()
    doubted = read()
    assert doubted.documents == []
    assert "43 pages are gone" in doubted.bad[0].reason
    site.pages |= kept
    assert read().documents == []
    site.pages.clear()
    read()
    clock.advance(7 * 86_400)
    assert len(read().documents) == 43


def test_comments_and_replies_are_messages_and_new_ones_are_noticed(
    site: Site, web: Web, read: Read
) -> None:
    site.add(
        Comment("65700", CACHE, "<p>Sure?</p>", inline="Valkey"),
        Comment("65701", CACHE, "<p>Yes.</p>", by=AKI, above="65700", inline="Valkey"),
    )
    first = read()
    texts = {item.native_id: (item.author, item.role, item.text) for item in first.said}
    assert texts["65700"] == ("Kim 金", Role.OTHER, "> Valkey\n\nSure?")
    assert texts["65701"] == ("Aki", Role.OWNER, "> Valkey\n\nYes.")
    site.add(Comment("65702", CACHE, "<p>When?</p>", at="2026-11-20T10:00:00.000Z"))
    web.asked.clear()
    [document] = read().documents
    assert [item.text for item in document.utterances] == ["When?"]
    assert web.paths(f"/pages/{PLAN}") == []


def test_deleted_comments_and_new_labels_are_found_within_the_days_of_rereading(
    site: Site, read: Read, clock: ManualClock
) -> None:
    site.add(Comment("65700", CACHE, "<p>Sure?</p>"))
    read()
    site.comments.clear()
    assert read().documents == []
    clock.advance(30 * 86_400)
    [document] = read().documents
    assert [(item.native_id, item.withdrawn) for item in document.utterances] == [("65700", True)]


def test_since_leaves_pages_unread_that_nobody_touched(site: Site, web: Web) -> None:
    site.pages[CACHE].edit("<p>new</p>")
    site.add(Comment("65700", PLAN, "<p>c</p>", at="2026-11-20T10:00:00.000Z"))
    options = replace(options_for(web), since=datetime(2026, 11, 3, tzinfo=UTC))
    reading = read_source(ConfluenceLiveConnector(), options=options)
    assert sorted(titles(reading)) == ["Plan", "キャッシュ"]


def test_blog_posts_are_read_and_pages_without_text_are_counted(site: Site, read: Read) -> None:
    site.add(
        Content("65600", "News", "<p>Out</p>", kind="blog post"), Content("65601", "Blank", "")
    )
    first = read()
    [post] = [item for item in first.documents if item.native_id == "65600"]
    assert post.meta["kind"] == "blog post"
    assert [item.kind for item in first.unknown] == ["page without text"]
    assert read().unknown == []


def test_only_what_the_owner_wrote_alone_is_the_owners(site: Site, read: Read) -> None:
    site.pages[PLAN].writers = [AKI, AKI]
    site.pages[CACHE].writers = [AKI, KIM, AKI]
    roles = {item.native_id: item.role for item in read().said}
    assert roles[PLAN] is Role.OWNER
    assert roles[CACHE] is Role.OTHER


def test_a_page_that_changes_while_lists_are_read_is_neither_lost_nor_doubled(
    site: Site, read: Read
) -> None:
    def edit(cursor: str) -> None:
        if cursor:
            # what was passed already is edited, and one that is still to come is added
            site.pages[HOME].edit(f"<p>Welcome {cursor}</p>")
            site.add(Content("65999", "Late", "<p>l</p>", parent=HOME))
            site.turn = None

    site.turn = edit
    first = read()
    assert sorted(titles(first)) == ["Late", "Plan", "Shop Home", "キャッシュ"]
    assert "Welcome 65585" in next(it.text for it in first.said if it.native_id == HOME)
    assert read().documents == []


def test_a_page_deleted_between_list_and_reading_is_withdrawn_or_never_seen(
    site: Site, web: Web, read: Read
) -> None:
    web.faults.add(f"/pages/{CACHE}", Fault(404))
    assert sorted(titles(read())) == ["Plan", "Shop Home"]
    assert titles(read()) == ["キャッシュ"]


def test_a_page_trashed_while_it_is_to_be_read_is_withdrawn_at_once(
    site: Site, web: Web, read: Read
) -> None:
    read()
    site.pages[CACHE].edit("<p>last words</p>")
    answer = web.answer

    def trashing(asked: Asked) -> Answer:
        if asked.path.endswith(f"/pages/{CACHE}"):
            site.pages[CACHE].status = "trashed"
        return answer(asked)

    web.answer = trashing
    assert [(item.native_id, item.withdrawn) for item in read().documents] == [(CACHE, True)]


def test_an_interrupted_run_goes_on_where_it_was(
    site: Site, web: Web, ledger: MemoryLedger, read: Read
) -> None:
    first = Reading()
    for item in ConfluenceLiveConnector().read((), ledger, options_for(web)):
        take(first, item)
        if isinstance(item, Checkpoint):
            ledger.commit(first.documents, item)
            if first.documents:
                break
    [done] = first.documents
    del site.pages[done.native_id]
    rest = read().documents
    assert {item.native_id: item.withdrawn for item in rest} == {
        name: name == done.native_id for name in (HOME, PLAN, CACHE)
    }
    assert read().documents == []


def test_faults_that_pass_are_waited_for(site: Site, web: Web, read: Read) -> None:
    web.faults.add("/spaces/100/pages", Fault(429, {"Retry-After": "7"}))
    web.faults.add(f"/pages/{CACHE}", Fault(503))
    web.faults.add(f"/pages/{PLAN}", Fault(half=True))
    waited: list[float] = []
    assert len(read(pause=waited.append).documents) == 3
    assert waited[0] == 7.0
    assert len(waited) == 3


def test_a_site_that_stays_away_keeps_what_was_read(site: Site, web: Web, read: Read) -> None:
    web.faults.add(f"/pages/{CACHE}", *[Fault(500)] * 6)
    with pytest.raises(DependencyDownError, match="Confluence is not available: HTTP 500"):
        read()
    assert titles(read()) == ["キャッシュ"]


def test_a_refused_token_stops_the_run_with_what_to_do_and_withdraws_nothing(
    site: Site, read: Read
) -> None:
    read()
    site.token = "Basic other"
    with pytest.raises(AccessDeniedError, match="make a new token") as caught:
        read()
    assert TOKEN not in str(caught.value)


def test_a_space_that_is_not_there_is_named(read: Read) -> None:
    assert [item.place for item in read(spaces=("SHOP", "NOPE")).bad] == ["Confluence space NOPE"]


def test_without_site_or_token_it_says_what_is_missing() -> None:
    connector = ConfluenceLiveConnector()
    assert isinstance(connector, LiveConnector)
    with pytest.raises(UsageError, match=r"confluence\.site"):
        list(connector.read((), MemoryLedger(), ReadOptions()))
    settings = LiveSettings(confluence=ConfluenceSettings(site="https://shop.example.com/wiki"))
    with pytest.raises(AccessDeniedError, match="CE_CONFLUENCE__TOKEN"):
        list(connector.read((), MemoryLedger(), ReadOptions(live=settings)))


def test_no_secret_is_in_what_is_remembered(web: Web, ledger: MemoryLedger, read: Read) -> None:
    read()
    remembered = "".join([*ledger.states, *ledger.states.values()])
    assert TOKEN not in remembered
    assert web.url not in remembered
