"""Collecting: what is yielded is committed with its reading state, whatever happens between."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from connectors.base import Item, Ledger, ReadOptions
from context_engine.errors import AccessDeniedError, DependencyDownError
from context_engine.events import (
    BadRecord,
    Checkpoint,
    Ref,
    Role,
    SourceDocument,
    UnknownRecord,
    Utterance,
)
from context_engine.scopes import Scope
from workers.collector import collect
from workers.outbox import Outbox


def document(name: str, text: str = "本文") -> SourceDocument:
    said = Utterance(f"{name}-1", "aki", Role.OWNER, None, text)
    return SourceDocument("scripted", name, Scope.WORK, name, (said,))


@dataclass
class Scripted:
    """A source that yields what a test wrote down, and goes on from its checkpoints."""

    items: Sequence[Item | Exception]
    name: str = "scripted"
    accepts: str = ""
    default_paths: tuple[Path, ...] = ()
    asked: list[str] = field(default_factory=list)

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        del paths, options
        for key in self.asked:
            ledger.checkpoint(key)
        for item in self.items:
            if isinstance(item, Exception):
                raise item
            yield item


@pytest.fixture
def outbox(tmp_path: Path) -> Outbox:
    return Outbox(tmp_path / "outbox.db")


def run(outbox: Outbox, *items: Item | Exception, asked: Sequence[str] = ()) -> object:
    return collect(Scripted(items, asked=list(asked)), [], outbox, ReadOptions())


def test_events_bad_and_unknown_records_are_each_counted(outbox: Outbox) -> None:
    report = collect(
        Scripted(
            [
                document("a"),
                BadRecord("a.jsonl:3", "not JSON"),
                UnknownRecord("a.jsonl:4", "new-type"),
                document("b"),
                Checkpoint("a.jsonl", {"offset": 9}),
            ]
        ),
        [],
        outbox,
        ReadOptions(),
    )
    assert (report.events, report.new, report.unchanged, report.messages) == (2, 2, 0, 2)
    assert report.bad_records == [BadRecord("a.jsonl:3", "not JSON")]
    assert report.unknown_types == {"new-type": 1}
    assert outbox.checkpoint("scripted", "a.jsonl") == {"offset": 9}


def test_a_source_that_breaks_off_commits_nothing_after_its_last_checkpoint(
    outbox: Outbox,
) -> None:
    big = "あ" * 2_100_000  # enough for a commit at the next checkpoint
    with pytest.raises(RuntimeError, match="broken"):
        run(
            outbox,
            document("a", big),
            Checkpoint("f", {"offset": 1}),
            document("b"),
            RuntimeError("broken"),
        )
    assert outbox.checkpoint("scripted", "f") == {"offset": 1}
    assert outbox.seen("scripted", ["a-1", "b-1"]) == {"a-1"}


@pytest.mark.parametrize(
    "error", [DependencyDownError("slack", "gone"), AccessDeniedError("slack", "expired")]
)
def test_what_a_service_gave_before_it_went_away_is_kept(outbox: Outbox, error: Exception) -> None:
    with pytest.raises(type(error)):
        run(outbox, document("a"), Checkpoint("f", {"offset": 1}), document("b"), error)
    assert outbox.checkpoint("scripted", "f") == {"offset": 1}
    assert outbox.seen("scripted", ["a-1", "b-1"]) == {"a-1", "b-1"}


def test_while_following_a_checkpoint_is_committed_before_the_source_goes_on(
    outbox: Outbox,
) -> None:
    class Followed(Scripted):
        def read(
            self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions
        ) -> Iterator[Item]:
            for item in super().read(paths, ledger, options):
                yield item
                if isinstance(item, Checkpoint):
                    committed.append(outbox.checkpoint("scripted", item.key))

    committed: list[object] = []
    items: list[Item | Exception] = [
        document("a"),
        Checkpoint("f", {"n": 1}),
        document("b"),
        Checkpoint("f", {"n": 2}),
    ]
    collect(Followed(items), [], outbox, ReadOptions(follow=True))
    assert committed == [{"n": 1}, {"n": 2}]


def test_an_event_read_again_and_a_file_without_news_count_as_unchanged(outbox: Outbox) -> None:
    run(outbox, document("a"), Checkpoint("f", {"offset": 1}))
    again = collect(Scripted([document("a")], asked=["f", "never-read"]), [], outbox, ReadOptions())
    assert (again.events, again.new, again.unchanged) == (1, 0, 2)


def test_secrets_never_reach_the_outbox_and_are_counted_by_kind(outbox: Outbox) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    event = document("a", f"鍵は {secret} です")
    report = collect(Scripted([event]), [], outbox, ReadOptions())
    assert sum(report.redacted.values()) == 1
    outbox.close()
    for path in outbox.path.parent.iterdir():
        assert secret.encode() not in path.read_bytes()


def test_secrets_beside_the_text_are_taken_out_too(outbox: Outbox) -> None:
    secret = "AKIA" + "QWERTYUIOPASDFGH"
    event = dataclasses.replace(
        document("a"),
        title=f"with {secret}",
        url=f"https://example.org/?key={secret}",
        meta={"branch": f"fix-{secret}"},
        refs=(Ref("/home/aki/shop", f"{secret}.txt"),),
    )
    collect(Scripted([event]), [], outbox, ReadOptions())
    outbox.close()
    for path in outbox.path.parent.iterdir():
        assert secret.encode() not in path.read_bytes()
