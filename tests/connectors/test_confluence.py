"""Space exports become documents: pages with their place, people, comments and versions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.base import PART_LIMIT, ReadOptions
from connectors.confluence import ConfluenceConnector
from context_engine.errors import UsageError
from context_engine.events import REMOVED, Checkpoint, Role
from support.archives import write_zip
from support.confluence import (
    AKI,
    PAGE,
    body,
    comment,
    entities,
    home,
    html_page,
    macro,
    page,
    prop,
    ref,
    thing,
    write,
    write_html,
    write_raw,
)
from support.sources import read_source
from support.transcripts import MemoryLedger, Reading

CONFLUENCE = ConfluenceConnector()


def read(*paths: Path, ledger: MemoryLedger | None = None) -> Reading:
    return read_source(CONFLUENCE, *paths, ledger=ledger)


def texts(reading: Reading) -> dict[str, str]:
    return {item.native_id: item.text for item in reading.said}


def test_a_page_is_a_document_with_its_place_in_the_tree(tmp_path: Path) -> None:
    parent = page("65585", "Plan", 1, parent="65580")
    child = page(PAGE, "キャッシュ", 3, parent="65585")
    # the body before its page, the page before its parent
    write(tmp_path, body(PAGE, "<p>Valkeyに決めた。</p>"), child, parent, home())
    [document] = [item for item in read(tmp_path).documents if item.native_id == PAGE]
    assert document.title == "キャッシュ"
    assert document.meta["path"] == "Shop (SHOP) › Shop Home › Plan › キャッシュ"
    assert document.meta["version"] == "3"
    assert document.started == datetime(2026, 11, 1, 8, tzinfo=UTC)
    [said] = document.utterances
    assert said.native_id == PAGE
    assert said.author == "Kim 金"
    assert said.role is Role.OTHER
    assert said.at == datetime(2026, 11, 2, 9, 5, 11, tzinfo=UTC)
    assert said.text == (
        "Shop (SHOP) › Shop Home › Plan › キャッシュ · version 3\n\nValkeyに決めた。"
    )


def test_reading_again_brings_nothing(tmp_path: Path) -> None:
    write(tmp_path, home(), page(), body(PAGE, "<p>x</p>"), comment("65700", "<p>c</p>"))
    ledger = MemoryLedger()
    assert len(read(tmp_path, ledger=ledger).documents) == 1
    assert read(tmp_path, ledger=ledger).documents == []
    (tmp_path / "entities.xml").touch()
    assert read(tmp_path, ledger=ledger).documents == []


def test_a_zip_is_the_same_export_as_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", home(), page(), body(PAGE, "<p>x</p>"))
    data = (folder / "entities.xml").read_bytes()
    archive = write_zip(tmp_path / "a.zip", {"entities.xml": data, "attachments/1/1/1": b"x"})
    ledger = MemoryLedger()
    first, again = read(folder, ledger=ledger), read(archive, ledger=ledger)
    assert len(first.documents) == 1
    assert again.documents == []
    assert again.bad == []


def test_a_new_version_replaces_the_text_in_place(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(write(tmp_path / "1", page(), body(PAGE, "<p>old</p>"), comment("65700", "<p>c</p>")),
         ledger=ledger)  # fmt: skip
    renamed = page(PAGE, "Caching", 2, modified="2026-11-05 10:00:00.000")
    later = read(
        write(tmp_path / "2", renamed, body(PAGE, "<p>new</p>"), comment("65700", "<p>c</p>")),
        ledger=ledger,
    )
    [document] = later.documents
    assert document.native_id == PAGE
    assert document.title == "Caching"
    assert texts(later) == {PAGE: "Shop (SHOP) › Caching · version 2\n\nnew"}


def test_a_page_that_returns_to_earlier_words_is_news(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    ids = set()
    for number, words in enumerate(["a", "b", "a"], 1):
        folder = write(tmp_path / str(number), page(PAGE, "T", number), body(PAGE, words))
        [document] = read(folder, ledger=ledger).documents
        ids.add(document.event_id)
    assert len(ids) == 3


def test_an_older_export_read_later_changes_nothing(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    new = page(PAGE, "T", 2, modified="2026-11-05 10:00:00.000")
    read(write(tmp_path / "2", new, body(PAGE, "<p>new</p>")), ledger=ledger)
    old = read(write(tmp_path / "1", page(PAGE, "T", 1), body(PAGE, "<p>old</p>")), ledger=ledger)
    assert old.documents == []


def test_old_versions_drafts_and_unseen_deleted_pages_are_left_out(tmp_path: Path) -> None:
    old = page("70001", "Cache", 1, ref("originalVersion", "Page", PAGE))
    older = page("70002", "Cache", 1, f'<property name="originalVersionId">{PAGE}</property>')
    write(
        tmp_path, page(PAGE, "Cache", 2), body(PAGE, "<p>now</p>"),
        old, body("70001", "<p>before</p>"), older, body("70002", "<p>before</p>"),
        page("70003", "Draft", status="draft"), body("70003", "<p>draft</p>"),
        page("70004", "Gone", status="deleted"), body("70004", "<p>gone</p>"),
    )  # fmt: skip
    assert [item.native_id for item in read(tmp_path).documents] == [PAGE]


def test_a_page_deleted_since_is_withdrawn_and_may_be_restored(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    said = comment("65700", "<p>c</p>")
    read(write(tmp_path / "1", page(), body(PAGE, "<p>x</p>"), said), ledger=ledger)
    gone = page(PAGE, "Cache", 1, status="deleted", modified="2026-11-06 10:00:00.000")
    later = read(write(tmp_path / "2", gone, body(PAGE, "<p>x</p>"), said), ledger=ledger)
    (withdrawn,) = later.documents
    assert (withdrawn.native_id, withdrawn.withdrawn, withdrawn.utterances) == (PAGE, True, ())
    assert read(tmp_path / "2", ledger=ledger).documents == []
    restored = page(PAGE, "Cache", 2, modified="2026-11-07 10:00:00.000")
    (back,) = read(write(tmp_path / "3", restored, body(PAGE, "<p>x</p>")), ledger=ledger).documents
    assert not back.withdrawn
    assert back.revision > withdrawn.revision > 0


def test_an_archived_page_says_so(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(write(tmp_path / "1", page(), body(PAGE, "<p>x</p>")), ledger=ledger)
    archived = page(PAGE, "Cache", 1, status="archived", modified="2026-11-06 10:00:00.000")
    later = read(write(tmp_path / "2", archived, body(PAGE, "<p>x</p>")), ledger=ledger)
    assert later.documents[0].meta["status"] == "archived"
    assert later.texts == ["Shop (SHOP) › Cache · version 1 · archived\n\nx"]


def test_a_page_that_is_not_in_an_export_was_not_deleted(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(write(tmp_path / "1", page(), body(PAGE, "<p>x</p>")), ledger=ledger)
    other = write(tmp_path / "2", page("65592", "Other"), body("65592", "<p>y</p>"))
    assert [item.native_id for item in read(other, ledger=ledger).documents] == ["65592"]


def test_comments_follow_in_order_with_author_and_the_words_they_are_about(tmp_path: Path) -> None:
    inline = thing(
        "ContentProperty", "500", prop("name", "inline-original-selection"),
        prop("stringValue", "Valkey"),
    )  # fmt: skip
    pointer = (
        '<collection name="contentProperties"><element class="ContentProperty">'
        '<id name="id">500</id></element></collection>'
    )
    write(
        tmp_path, inline, comment("65702", "<p>second</p>", PAGE, pointer, by=AKI),
        comment("65701", "<p>first</p>"), page(), body(PAGE, "<p>Valkey</p>"),
    )  # fmt: skip
    said = read(tmp_path).said[1:]
    assert [(item.native_id, item.author, item.role) for item in said] == [
        ("65701", "Kim 金", Role.OTHER),
        ("65702", "Aki", Role.OWNER),
    ]
    assert said[1].text == "> Valkey\n\nsecond"


def test_a_comment_that_is_gone_is_taken_back_only_by_a_whole_export(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    one, two = comment("65701", "<p>a</p>"), comment("65702", "<p>b</p>")
    read(write(tmp_path / "1", page(), body(PAGE, "x"), one, two), ledger=ledger)
    without_any = write(tmp_path / "2", page(PAGE, "Cache", 2), body(PAGE, "x"))
    assert "65701" not in texts(read(without_any, ledger=ledger))
    cut = entities(page(PAGE, "Cache", 3), body(PAGE, "x"), one).encode()[:-30]
    assert "65702" not in texts(read(write_raw(tmp_path / "3", cut), ledger=ledger))
    whole = write(tmp_path / "4", page(PAGE, "Cache", 4), body(PAGE, "x"), one)
    assert texts(read(whole, ledger=ledger))["65702"] == REMOVED


def test_words_are_the_owner_s_only_when_every_version_is(tmp_path: Path) -> None:
    first = page("70001", "Cache", 1, ref("originalVersion", "Page", PAGE), by=AKI, creator=AKI)
    theirs = page("70001", "Cache", 1, ref("originalVersion", "Page", PAGE), creator=AKI)
    mine = page(PAGE, "Cache", 2, by=AKI, creator=AKI)
    text = body(PAGE, "<p>x</p>")
    [known] = read(write(tmp_path / "1", mine, text, first)).said
    [mixed] = read(write(tmp_path / "2", mine, text, theirs)).said
    [unknown] = read(write(tmp_path / "3", mine, text)).said
    assert [item.role for item in (known, mixed, unknown)] == [Role.OWNER, Role.OTHER, Role.OTHER]


def test_nobody_is_the_owner_while_no_name_is_set(tmp_path: Path) -> None:
    write(tmp_path, page(by="k", creator="k"), body(PAGE, "x"), thing(
        "ConfluenceUserImpl", "k", prop("name", "owner"), id_name="key"))  # fmt: skip
    [said] = read_source(CONFLUENCE, tmp_path, options=ReadOptions()).said
    assert said.role is Role.OTHER


def test_labels_and_attachments_are_listed(tmp_path: Path) -> None:
    label = thing("Label", "300", prop("name", "decision"))
    labelling = thing(
        "Labelling", "301", ref("label", "Label", "300"), ref("content", "Page", PAGE)
    )
    file = thing(
        "Attachment", "400", prop("title", "図.png"), ref("containerContent", "Page", PAGE),
        prop("contentStatus", "current"),
    )  # fmt: skip
    write(tmp_path, label, labelling, file, page(), body(PAGE, "<p>x</p>"))
    [document] = read(tmp_path).documents
    assert document.meta["labels"] == "decision"
    assert document.utterances[0].text.endswith("x\n\nLabels: decision\n\nAttachments:\n\n- 図.png")


def test_people_are_called_by_their_full_names(tmp_path: Path) -> None:
    user = thing("InternalUser", "1", prop("name", "aki"), prop("displayName", "Aki Sato"))
    key = thing("ConfluenceUserImpl", "<![CDATA[k9]]>", prop("name", "aki"), id_name="key")
    text = '<p><ac:link><ri:user ri:userkey="k9" /></ac:link></p>'
    write(tmp_path, page(by="k9"), body(PAGE, text), user, key)
    [said] = read(tmp_path).said
    assert said.author == "Aki Sato"
    assert said.text.endswith("@Aki Sato")


def test_times_are_those_of_the_zone_that_the_export_names(tmp_path: Path) -> None:
    write(tmp_path, page(), body(PAGE, "x"))
    (tmp_path / "exportDescriptor.properties").write_text("#x\ntimezoneId=Asia/Tokyo\n")
    [said] = read(tmp_path).said
    assert said.at == datetime(2026, 11, 2, 0, 5, 11, tzinfo=UTC)


def test_pages_from_before_confluence_4_are_wiki_markup(tmp_path: Path) -> None:
    write(tmp_path, page(), body(PAGE, "h2. Plan\n* Valkey", form=None))
    assert read(tmp_path).texts[0].endswith("## Plan\n* Valkey".replace("* ", "- "))


def test_blog_posts_are_documents_too(tmp_path: Path) -> None:
    write(tmp_path, page(kind="BlogPost", parent=""), body(PAGE, "<p>x</p>", "BlogPost"))
    [document] = read(tmp_path).documents
    assert document.meta["kind"] == "blog post"


def test_unknown_macros_objects_and_empty_pages_are_counted(tmp_path: Path) -> None:
    write(
        tmp_path, page(), body(PAGE, macro("roadmap", "", {"title": "Q3"})),
        thing("Gadget", "1"), page("65599", "Empty"),
    )  # fmt: skip
    reading = read(tmp_path)
    kinds = sorted(item.kind for item in reading.unknown)
    assert kinds == ["macro:roadmap", "object:Gadget", "page without text"]


def test_two_sites_may_number_their_pages_alike(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(write(tmp_path / "1", page(), body(PAGE, "<p>ours</p>")), ledger=ledger)
    theirs = page(PAGE, "Theirs").replace("2026-11-01 08", "2019-01-01 08")
    later = read(write(tmp_path / "2", theirs, body(PAGE, "<p>theirs</p>")), ledger=ledger)
    [document] = later.documents
    assert document.native_id == f"{PAGE}@2019-01-01"
    assert [item.native_id for item in later.said] == [f"{PAGE}@2019-01-01"]


def test_a_page_of_any_length_fits_events_and_leaves_no_piece_behind(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    words = "".join(f"<p>paragraph {number} of a long page</p>" for number in range(12_000))
    long = read(write(tmp_path / "1", page(), body(PAGE, words)), ledger=ledger)
    assert all(len(item.text) <= PART_LIMIT for item in long.said)
    pieces = [item.native_id for item in long.said]
    assert pieces[:2] == [PAGE, f"{PAGE}~2"]
    short = read(write(tmp_path / "2", page(PAGE, "Cache", 2), body(PAGE, "x")), ledger=ledger)
    assert [name for name, text in texts(short).items() if text == REMOVED] == pieces[1:]


def test_a_page_that_stays_long_keeps_all_its_pieces(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    # pieces are cut early, at the end of a line: four of them hold less than four times the limit
    words = f"<p>{'語' * 14_000}</p>" * 32
    first = read(write(tmp_path / "1", page(), body(PAGE, words)), ledger=ledger)
    assert len(first.said) == 4
    again = read(write(tmp_path / "2", page(PAGE, "C", 2), body(PAGE, words)), ledger=ledger)
    assert REMOVED not in again.texts


def test_a_page_without_an_id_is_refused_by_its_place(tmp_path: Path) -> None:
    write(tmp_path, page("", "Nameless"), page(), body(PAGE, "x"))
    reading = read(tmp_path)
    assert [item.native_id for item in reading.documents] == [PAGE]
    [record] = reading.bad
    assert record.reason == "a Page without a usable id"
    assert "entities.xml at byte " in record.place


# -- HTML -----------------------------------------------------------------------------------------


def test_an_html_export_gives_the_same_documents(tmp_path: Path) -> None:
    write_html(tmp_path, **{f"Cache_{PAGE}": html_page(), "65592": html_page("計画", "<p>次</p>")})
    documents = {item.native_id: item for item in read(tmp_path).documents}
    assert set(documents) == {PAGE, "65592"}
    [said] = documents["65592"].utterances
    assert documents["65592"].title == "計画"
    assert said.text == "Shop › Shop Home › 計画\n\n次"
    assert said.at == datetime(2026, 11, 2, tzinfo=UTC)
    assert said.author == "Kim 金"
    assert said.role is Role.OTHER


def test_one_page_in_three_forms_is_one_document_once(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    xml = write(tmp_path / "xml", home(), page(), body(PAGE, "<p>Valkey it is.</p>"))
    data = (xml / "entities.xml").read_bytes()
    archive = write_zip(tmp_path / "x.zip", {"Export/entities.xml": data})
    html = write_html(tmp_path / "html", **{f"Cache_{PAGE}": html_page()})
    read(xml, ledger=ledger)
    assert read(archive, html, ledger=ledger).documents == []
    fresh = MemoryLedger()
    read(html, ledger=fresh)
    [richer] = read(xml, ledger=fresh).documents
    assert richer.native_id == PAGE
    assert [item.native_id for item in richer.utterances] == [PAGE]


def test_an_html_export_made_later_brings_the_newer_text(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(write(tmp_path / "x", page(), body(PAGE, "<p>old</p>")), ledger=ledger)
    newer = html_page(inside="<p>new</p>", modified="11月 04, 2026")
    later = read(write_html(tmp_path / "h", **{PAGE: newer}), ledger=ledger)
    assert later.texts[0].endswith("new")
    assert read(tmp_path / "x", tmp_path / "h", ledger=ledger).documents == []


# -- what is wrong --------------------------------------------------------------------------------


def test_a_path_must_be_named() -> None:
    with pytest.raises(UsageError, match="space export"):
        read()


def test_what_is_no_export_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "notes.pdf"
    file.write_bytes(b"%PDF")
    assert [item.place for item in read(file).bad] == [str(file)]
    (tmp_path / "x_1.html").write_text("<html></html>")
    reading = read(tmp_path)
    assert [item.place for item in reading.bad] == [str(tmp_path / "x_1.html")]


def test_bombs_are_refused_by_name_and_nothing_of_them_is_kept(tmp_path: Path) -> None:
    filler = entities(page()).encode()[:-30] + b" " * 100_000_000
    path = write_zip(tmp_path / "x.zip", {"entities.xml": filler})
    reading = read(path)
    assert reading.documents == []
    assert [item.place for item in reading.bad] == [f"{path}!entities.xml"]
    assert "times its size" in reading.bad[0].reason
    lol = '<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;">]>' + entities(page())
    reading = read(write_raw(tmp_path / "lol", lol.encode()))
    assert reading.documents == []
    assert [item.reason for item in reading.bad] == [
        "refused: it declares a document type (entities, XML bomb)"
    ]


def test_pages_of_a_file_that_is_cut_off_are_kept_and_it_is_read_again(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    data = entities(page(), body(PAGE, "<p>x</p>"), page("65592", "Lost")).encode()
    first = read(write_raw(tmp_path, data[:-400]), ledger=ledger)
    assert [item.native_id for item in first.documents] == [PAGE]
    assert "cut off" in first.bad[0].reason
    assert not any("file:" in item.key for item in first.checkpoints)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    pages = [page(str(number), f"Page {number}") for number in range(1, 21)]
    bodies = [body(str(number), f"<p>text {number}</p>") for number in range(1, 21)]
    write(tmp_path, *bodies, *pages)
    ledger, seen = MemoryLedger(), 0
    stream = CONFLUENCE.read([tmp_path], ledger, ReadOptions())
    for item in stream:
        if isinstance(item, Checkpoint):
            ledger.commit([], item)
            seen += 1
        if seen == 7:
            break
    rest = read(tmp_path, ledger=ledger)
    assert [item.native_id for item in rest.documents] == [str(number) for number in range(8, 21)]


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    write(
        tmp_path, page("1", "A", parent="2"), page("2", "B", parent="1"), body("1", "x"),
    )  # fmt: skip
    [document] = read(tmp_path).documents
    assert document.meta["path"] == "Shop (SHOP) › B › A"
