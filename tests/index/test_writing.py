from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from context_engine.clock import ManualClock
from context_engine.errors import (
    AlreadyRunningError,
    DependencyDownError,
    IndexCorruptError,
    IndexMismatchError,
)
from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import Hit, SearchRequest
from index.rebuild import Rebuild, rebuild, rebuild_damaged
from index.search import Searcher
from index.writer import IndexWriter
from support.notes import index_all, put_conversation, put_note
from support.toy_embedder import ToyEmbedder

NOW = datetime(2026, 11, 30, tzinfo=UTC)
QUESTIONS = ("りんごの話", "Valkey", "message 3", "なぜ青か", "get_user_id")


def hits(home: Home, text: str, embedder: ToyEmbedder | None = None) -> tuple[Hit, ...]:
    request = SearchRequest(text, explain=True)
    return Searcher(home, embedder, ManualClock(NOW)).search(Scope.WORK, request).hits


def answers(home: Home, embedder: ToyEmbedder) -> list[tuple[Hit, ...]]:
    return [hits(home, text, embedder) for text in QUESTIONS]


def fill(home: Home) -> None:
    put_note(home, "a.md", "# 果物\n\n## りんご\n\nりんごの話。\n\n## みかん\n\nみかんの話。")
    put_note(home, "b.md", "Valkey と get_user_id のメモ", tags="[queue]")
    put_note(home, "knowledge/decision/c.md", "青にした。", created="2026-11-01T00:00:00Z")
    put_conversation(
        home, "sources/claude/2026/11/t.md", *(f"message {n} りんご" for n in range(8))
    )


def test_a_note_is_found_by_keyword_before_it_is_embedded(home: Home) -> None:
    put_note(home, "a.md", "りんごの話")
    embedder = ToyEmbedder()
    with IndexWriter(home, Scope.WORK, embedder) as writer:
        assert writer.index_note("a.md")
        assert [hit.path for hit in hits(home, "りんご", embedder)] == ["a.md"]
        assert embedder.embedded == []
        assert writer.embed_pending().embedded == 1
    assert hits(home, "りんご", embedder)[0].vector_rank == 1


def test_a_scan_follows_new_changed_moved_and_deleted_files(home: Home) -> None:
    first = put_note(home, "a.md", "りんごの話")
    put_note(home, "b.md", "みかんの話")
    embedder = ToyEmbedder()
    with IndexWriter(home, Scope.WORK, embedder) as writer:
        assert set(writer.scan().indexed) == {"a.md", "b.md"}
        writer.embed_pending()
        embedded = len(embedder.embedded)
        assert writer.scan().unchanged == 2
        first.rename(first.with_name("moved.md"))
        put_note(home, "b.md", "ぶどうの話")
        report = writer.scan()
        assert (set(report.indexed), report.removed) == ({"moved.md", "b.md"}, ("a.md",))
        writer.embed_pending()
    assert embedder.embedded[embedded:] == ["ぶどうの話"]
    assert [hit.path for hit in hits(home, "りんご")] == ["moved.md"]
    assert hits(home, "みかん") == ()


def test_a_change_under_the_same_size_and_time_is_seen_when_it_was_just_written(home: Home) -> None:
    file = put_note(home, "a.md", "りんごの話")
    info = file.stat()
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
        file.write_text("ばななの話\n", encoding="utf-8")
        os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert writer.scan().indexed == ("a.md",)


def test_unchanged_chunks_of_a_changed_note_are_not_embedded_again(home: Home) -> None:
    put_note(home, "a.md", "## One\n\nfirst\n\n## Two\n\nsecond", title="T")
    embedder = ToyEmbedder()
    index_all(home, embedder)
    put_note(home, "a.md", "## One\n\nfirst\n\n## Two\n\nchanged", title="T")
    embedder.embedded.clear()
    index_all(home, embedder)
    assert embedder.embedded == ["T > Two\nchanged"]


def test_a_grown_conversation_is_indexed_as_if_it_had_always_been_whole(home: Home) -> None:
    texts = [f"message {n} りんご" for n in range(8)]
    embedder = ToyEmbedder()
    for count in (1, 2, 5, 8):
        put_conversation(home, "sources/claude/2026/11/t.md", *texts[:count])
        index_all(home, embedder)
    grown = answers(home, embedder)
    assert sorted(embedder.embedded) == sorted(texts)
    home.index(Scope.WORK).unlink()
    index_all(home, ToyEmbedder())
    assert answers(home, embedder) == grown


def test_a_deleted_index_rebuilt_from_the_vault_gives_the_same_answers(home: Home) -> None:
    fill(home)
    embedder = ToyEmbedder()
    index_all(home, embedder)
    put_note(home, "b.md", "Valkey と get_user_id の新しいメモ", tags="[queue]")
    (home.vault(Scope.WORK) / "a.md").unlink()
    put_note(home, "z.md", "## りんご\n\nりんごの話。")
    index_all(home, embedder)
    before = answers(home, embedder)
    assert all(before)
    for file in home.index(Scope.WORK).parent.iterdir():
        file.unlink()
    index_all(home, ToyEmbedder())
    assert answers(home, embedder) == before


def test_a_file_that_cannot_be_read_is_reported_and_the_rest_is_indexed(home: Home) -> None:
    put_note(home, "good.md", "りんご")
    (home.vault(Scope.WORK) / "bad.md").write_bytes(b"\xff\xfe not utf-8 \x80")
    (home.vault(Scope.WORK) / "link.md").symlink_to("/etc/hostname")
    with IndexWriter(home, Scope.WORK, None) as writer:
        report = writer.scan()
    assert report.indexed == ("good.md",)
    assert [failure.path for failure in report.failed] == ["bad.md"]


def test_an_index_has_one_writer(home: Home) -> None:
    with IndexWriter(home, Scope.WORK, None), pytest.raises(AlreadyRunningError):
        IndexWriter(home, Scope.WORK, None).__enter__()


def test_text_that_always_fails_is_quarantined_and_the_rest_embedded(home: Home) -> None:
    def refuse(texts: Sequence[str]) -> None:
        if any("poison" in text for text in texts):
            raise RuntimeError("cannot embed this")

    for number in range(10):
        put_note(home, f"n{number}.md", "poison りんご" if number == 4 else f"りんご {number}")
    embedder = ToyEmbedder(before=refuse)
    with IndexWriter(home, Scope.WORK, embedder) as writer:
        writer.scan()
        while writer.embed_pending().waiting:
            pass
    stats = Searcher(home, embedder).stats(Scope.WORK)
    assert (stats.embedded, stats.quarantined) == (9, 1)
    assert hits(home, "poison", embedder)[0].path == "n4.md"


def test_text_that_kills_the_process_is_quarantined_after_three_starts(home: Home) -> None:
    for number in range(6):
        put_note(home, f"n{number}.md", "poison りんご" if number == 4 else f"りんご {number}")
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from support.toy_embedder import ToyEmbedder\n"
        "from context_engine.home import Home\n"
        "from context_engine.scopes import Scope\n"
        "from index.writer import IndexWriter\n"
        "die = lambda texts: any('poison' in t for t in texts) and os._exit(7)\n"
        "with IndexWriter(Home(Path(sys.argv[1])), Scope.WORK, ToyEmbedder(before=die)) as w:\n"
        "    w.scan()\n"
        "    while w.embed_pending().waiting: pass\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", script, str(home.root)]
    codes = [subprocess.run(command, env=environment, check=False).returncode for _ in range(4)]
    assert codes == [7, 7, 7, 0]
    stats = Searcher(home, ToyEmbedder()).stats(Scope.WORK)
    assert (stats.embedded, stats.quarantined) == (5, 1)


def test_an_embedder_that_is_away_burns_no_attempt(home: Home) -> None:
    away = True

    def check(_texts: Sequence[str]) -> None:
        if away:
            raise DependencyDownError("embedder", "is away")

    put_note(home, "a.md", "りんご")
    embedder = ToyEmbedder(before=check)
    with IndexWriter(home, Scope.WORK, embedder) as writer:
        writer.scan()
        for _ in range(5):
            with pytest.raises(DependencyDownError):
                writer.embed_pending()
        away = False
        assert writer.embed_pending().embedded == 1


def test_a_new_model_is_indexed_beside_the_old_and_exchanged_when_complete(home: Home) -> None:
    fill(home)
    index_all(home, ToyEmbedder("old"))
    new = ToyEmbedder("new")
    searcher = Searcher(home, new, ManualClock(NOW))
    with IndexWriter(home, Scope.WORK, new) as writer:
        assert writer.mismatches
        with pytest.raises(IndexMismatchError):
            writer.embed_pending()
        put_note(home, "late.md", "途中のメモ")
        assert writer.index_note("late.md")
        with Rebuild(home, Scope.WORK, new) as work:
            complete = False
            while not complete:
                assert searcher.search(Scope.WORK, SearchRequest("途中のメモ")).hits
                complete = work.step().complete
            work.finish(writer)
        assert not writer.mismatches
        put_note(home, "after.md", "あとのメモ")
        assert writer.index_note("after.md")
    result = searcher.search(Scope.WORK, SearchRequest("りんご"))
    assert result.hits[0].vector_rank is not None
    assert searcher.search(Scope.WORK, SearchRequest("あとのメモ")).hits[0].path == "after.md"


def test_a_rebuild_under_the_same_model_embeds_nothing_again(home: Home) -> None:
    fill(home)
    embedder = ToyEmbedder()
    index_all(home, embedder)
    before = answers(home, embedder)
    embedder.embedded.clear()
    with IndexWriter(home, Scope.WORK, embedder) as writer:
        rebuild(home, Scope.WORK, embedder, writer)
        while writer.embed_pending().waiting:
            pass
    assert embedder.embedded == []
    assert answers(home, embedder) == before


def test_a_damaged_index_is_refused_and_rebuilt_on_request(home: Home) -> None:
    fill(home)
    embedder = ToyEmbedder()
    index_all(home, embedder)
    before = answers(home, embedder)
    home.index(Scope.WORK).write_bytes(b"no database" * 1000)
    with pytest.raises(IndexCorruptError):
        IndexWriter(home, Scope.WORK, embedder).__enter__()
    rebuild_damaged(home, Scope.WORK, embedder)
    index_all(home, embedder)
    assert answers(home, embedder) == before


def test_a_page_damaged_in_the_middle_is_found_by_a_check(home: Home) -> None:
    for number in range(300):
        put_note(home, f"n{number}.md", f"りんごの話 {number} " * 20)
    index_all(home, None)
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.check()
    file = home.index(Scope.WORK)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 8192] = b"\xa5" * 8192
    file.write_bytes(data)
    with pytest.raises(IndexCorruptError), IndexWriter(home, Scope.WORK, None) as writer:
        writer.check()
