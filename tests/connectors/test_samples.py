"""The sample sessions show what `samples/README.md` says they show."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from connectors.base import ReadOptions
from context_engine.events import Role
from context_engine.redaction import redact
from context_engine.scopes import Scope, ScopeRule
from support.transcripts import MemoryLedger, Reading, read

ROOT = Path(__file__).parents[2] / "samples"
PROJECTS = ROOT / "claude" / "projects"
RULES = (ScopeRule("/home/aki/work/**", Scope.WORK), ScopeRule("/home/aki/oss/**", Scope.PUBLIC))
OPTIONS = ReadOptions(owner_name="Aki", scope_rules=RULES)
JAPANESE = re.compile(r"[ぁ-んァ-ン]")


@pytest.fixture(scope="module")
def reading() -> Reading:
    return read(PROJECTS, options=OPTIONS)


def said_in(reading: Reading, name: str) -> list[str]:
    return [
        item.text
        for document, said in reading.by_document.items()
        if name in document
        for _, item in said
    ]


def test_one_line_is_refused_and_one_type_is_unknown(reading: Reading) -> None:
    (bad,) = reading.bad
    assert "e539a78b" in bad.place
    assert bad.reason.startswith("not JSON")
    assert [item.kind for item in reading.unknown] == ["canvas-state"]


def test_every_scope_and_both_languages_get_something(reading: Reading) -> None:
    owners = [item.text for item in reading.said if item.role is Role.OWNER]
    japanese = sum(1 for text in owners if JAPANESE.search(text))
    assert 0.3 < japanese / len(owners) < 0.7
    assert {document.scope for document in reading.documents} == set(Scope)
    assert {document.project for document in reading.documents} == {
        "shop",
        "billing-api",
        "furigana",
        "notes",
    }


def test_nothing_is_said_twice_although_a_session_was_resumed_under_a_new_id(
    reading: Reading,
) -> None:
    assert max(Counter(item.native_id for item in reading.said).values()) == 1
    assert any("We decided to turn unigrams on" in text for text in said_in(reading, "2b93e6d8"))


def test_reading_them_again_adds_nothing() -> None:
    ledger = MemoryLedger()
    read(PROJECTS, ledger=ledger, options=OPTIONS)
    assert read(PROJECTS, ledger=ledger, options=OPTIONS).documents == []


def test_subagents_of_all_three_layouts_name_their_parent(reading: Reading) -> None:
    agents = {d.native_id: d for d in reading.documents if d.meta.get("kind") == "subagent"}
    assert len(agents) == 4
    for agent in agents.values():
        assert agent.meta["parent"] in reading.by_document
        assert {item.role for item in agent.utterances} == {Role.ASSISTANT}


def test_what_must_not_pass_does_not(reading: Reading) -> None:
    everything = "\n".join(reading.texts)
    for kept_out in (
        "以前の決定",  # our own injected context
        "See ya!",
        "Caveat:",
        "<ide_opened_file>",
        "Request interrupted",
        "This session is being continued",
        "slowest: POST /checkout/confirm",  # a tool's output
        "英語版は",  # half written
    ):
        assert kept_out not in everything, kept_out


def test_what_only_the_queue_or_an_attachment_holds_is_the_owners(reading: Reading) -> None:
    by_text = {item.text: item.role for item in reading.said}
    for text, role in by_text.items():
        if text.startswith(("Next step: do the same for the order", "Also check 靴")):
            assert role is Role.OWNER
    assert any(text.startswith("Next step: do the same for the order") for text in by_text)
    assert any(text.startswith("Also check 靴") for text in by_text)


def test_pasted_words_are_somebody_elses(reading: Reading) -> None:
    pasted = [item.text for item in reading.said if item.role is Role.OTHER]
    assert len(pasted) == 1
    assert "we should just buy a hosted search" in pasted[0]


def test_a_rewind_is_flagged_and_kept(reading: Reading) -> None:
    (document,) = [d for d in reading.documents if "abandoned" in d.meta]
    assert any("8プロセスで回して" in item.text for item in document.utterances)


def test_the_made_up_key_is_the_only_secret(reading: Reading) -> None:
    counts: Counter[str] = Counter()
    for text in reading.texts:
        counts.update(redact(text).counts)
    assert counts == {"aws-access-key": 1}


def test_the_readme_names_every_session() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in PROJECTS.glob("*/*.jsonl"):
        name = path.stem if path.name.startswith("agent-") else path.stem[:8]
        assert f"{path.parent.name}/{name}" in readme or name in readme, path
