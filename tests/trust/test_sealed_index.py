"""The index believes what the seals say, and asks again when their key is another."""

from __future__ import annotations

from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.model import Filters, SearchRequest
from index.search import Searcher
from support.notes import index_all
from support.vaults import insight
from vault.insights import save_insight

VALIDATED = Filters(confidence=Confidence.VALIDATED)


def found(home: Home, filters: Filters = VALIDATED) -> list[str]:
    searcher = Searcher(home, None)
    hits = searcher.search(Scope.WORK, SearchRequest("ライセンス", filters=filters)).hits
    searcher.close()
    return [hit.path for hit in hits]


def test_a_forged_note_is_found_as_raw_alone(home: Home) -> None:
    saved = save_insight(home, insight(confidence=Confidence.VALIDATED))
    file = home.vault(Scope.WORK) / saved.path
    file.with_name("forged-0123456789ab.md").write_text(file.read_text().replace("9", "8"))
    index_all(home, None)
    assert found(home) == [saved.path]
    assert len(found(home, Filters(confidence=Confidence.RAW))) == 1


def test_an_index_from_before_the_key_went_asks_again(home: Home) -> None:
    notes = [
        save_insight(home, insight(confidence=Confidence.VALIDATED)).path,
        save_insight(
            home, insight(kind=Kind.PROJECT, subject="shop", confidence=Confidence.VALIDATED)
        ).path,
    ]
    index_all(home, None)
    assert sorted(found(home)) == sorted(notes)
    home.keys.rename(away := home.root / "away")
    index_all(home, None)
    assert found(home) == []
    away.rename(home.keys)
    index_all(home, None)
    assert sorted(found(home)) == sorted(notes)
