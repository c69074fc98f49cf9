"""What was forgotten is gone from every file, and no import brings it back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from api.forgetting import Plan, carry_out, finish_interrupted, history_advice, plan_note
from api.review import Choice, Desk, accept, add_to_identity, set_place
from api.review.journal import read_records
from connectors.base import ReadOptions
from connectors.registry import load
from context_engine.events import Role
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.engine import COMMAND, environment, run, run_json, running, wait_until, write_sessions
from support.notes import index_all
from support.vaults import conversation, insight, said
from vault.forgotten import without_forgotten
from vault.insights import save_insight
from vault.notes import read_note
from vault.standing import Outcome
from vault.succession import add_evidence, read_insights
from vault.tombstones import tombstones
from workers.collector import collect
from workers.consolidation.recent import Recent
from workers.extract import extract_work
from workers.ingest import ingest_work
from workers.outbox import Outbox
from workers.outbox_model import Job

SECRET = "zq9xkeshin7"
SAID = f"{SECRET} の件、キャッシュは Valkey に決めた。理由はライセンスだから。"


def holding(home: Home, text: str = SECRET) -> list[str]:
    """Return the files of the home that hold `text`, in their bytes or their names."""
    files = [path for path in home.root.rglob("*") if path.is_file()]
    return [
        str(path.relative_to(home.root))
        for path in files
        if text.encode() in path.read_bytes() or text in path.name
    ]


def collect_sessions(home: Home, folder: Path) -> Outbox:
    outbox = Outbox(home.outbox)
    collect(load("claude"), [folder], outbox, ReadOptions(owner_name="Aki"))
    return outbox


def work_off(settings: Settings, outbox: Outbox) -> None:
    """Do what the workers do, here and now."""
    works = {"ingest": ingest_work(settings, outbox), "extract": extract_work(settings)}
    for queue, work in works.items():
        for waiting in iter(lambda queue=queue: outbox.publishable(queue, 1), []):  # type: ignore[misc]  # queue is bound at once
            job = outbox.start(waiting[0].job_id, waiting[0].key, "w", max_attempts=3)
            assert isinstance(job, Job)
            outbox.finish(job, work(job, None))
    index_all(settings.paths, None, *Scope)


def session(folder: Path, text: str = SAID, *more: str) -> Path:
    write_sessions(folder, 1, 1 + len(more))
    (file,) = folder.rglob("*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line, words in zip(lines, [text, *more], strict=True):
        content = line["message"]["content"]
        line["message"]["content"] = (
            words if isinstance(content, str) else [{"type": "text", "text": words}]
        )
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return file


@pytest.fixture
def settings(home: Home, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("CE_LLM__MODE", "cues")
    return Settings(home=home.root)


@pytest.fixture
def filled(settings: Settings, tmp_path: Path) -> Outbox:
    session(tmp_path / "sessions")
    outbox = collect_sessions(settings.paths, tmp_path / "sessions")
    work_off(settings, outbox)
    return outbox


def source_note(home: Home) -> tuple[Scope, str]:
    (file,) = home.vaults.rglob("sources/**/*.md")
    scope, _, path = str(file.relative_to(home.vaults)).partition("/")
    return Scope(scope), path


def forget(settings: Settings, outbox: Outbox, *, insights: bool = True) -> Plan:
    plan = plan_note(settings.paths, outbox, *source_note(settings.paths), insights=insights)
    assert carry_out(settings, plan) == ()
    return plan


def test_no_byte_is_left_in_any_file(settings: Settings, filled: Outbox) -> None:
    home = settings.paths
    (home.logs / "worker.log").write_text(json.dumps({"title": SAID.partition("理由")[0]}))
    drawn = next(home.vaults.rglob("knowledge/**/*.md"))
    accept(Desk(home), [Choice(drawn.stem.rpartition("-")[2])])
    places = {place.split("/")[0] for place in holding(home)}
    assert places == {"vault", "state"}
    assert any("review" in place for place in holding(home))
    forget(settings, filled)
    filled.close()
    assert holding(home) == []
    assert holding(home, "ライセンスだから") == []


def test_insights_stay_unless_they_are_meant_too(settings: Settings, filled: Outbox) -> None:
    plan = forget(settings, filled, insights=False)
    assert [path for _, path in plan.left] != []
    vault = [place for place in holding(settings.paths) if place.startswith("vault/")]
    assert vault == [f"vault/{scope.value}/{path}" for scope, path in plan.left]


def test_the_same_export_again_or_grown_brings_nothing_back(
    settings: Settings, filled: Outbox, tmp_path: Path
) -> None:
    forget(settings, filled)
    filled.close()
    settings.paths.state.rename(tmp_path / "gone")
    settings.paths.create()
    session(tmp_path / "sessions", SAID, "了解しました。", "では次の話をしよう。")
    outbox = collect_sessions(settings.paths, tmp_path / "sessions")
    work_off(settings, outbox)
    assert list(settings.paths.vaults.rglob("sources/**/*.md")) == []
    outbox.close()
    assert holding(settings.paths) == []


def test_the_same_words_in_another_form_stay_out_and_the_rest_comes_in(
    settings: Settings, filled: Outbox
) -> None:
    forget(settings, filled)
    stones = tombstones(settings.paths)
    wide = SAID.replace("Valkey", "Ｖａｌｋｅｙ").replace("。理由", "。\n理由")
    other = conversation(said(0, wide), said(1, "別の話です。"), native_id="x", source="chatgpt")
    left = without_forgotten(stones, other)
    assert left is not None
    assert [u.text for u in left.utterances] == ["別の話です。"]
    assert without_forgotten(stones, conversation(said(0, wide), native_id="y")) is None


def test_short_words_are_said_everywhere_and_stay(settings: Settings, filled: Outbox) -> None:
    forget(settings, filled)
    document = conversation(said(0, "はい", Role.OTHER), native_id="z")
    assert without_forgotten(tombstones(settings.paths), document) is document


def journalled(home: Home) -> list[bytes]:
    """Return the notes that the journal of the review keeps."""
    return [change.before or b"" for each in read_records(home) for change in each.changes]


def test_a_quote_that_another_insight_carries_goes_and_the_insight_stays(
    settings: Settings, filled: Outbox
) -> None:
    home = settings.paths
    (item,) = filled.connection().execute("SELECT event_id FROM event").fetchall()
    again = insight(event_id=str(item[0]), utterance="b" * 16, evidence=SAID, content=SAID)
    elsewhere = save_insight(home, insight(event_id="f" * 32))
    (known,) = read_insights(home, Scope.WORK, elsewhere.path)
    assert add_evidence(home, known, again)
    # the journal of a review keeps the note as it was, the quote included
    accept(Desk(home), [Choice(elsewhere.insight_id)])
    assert any(SECRET.encode() in note for note in journalled(home))
    forget(settings, filled)
    filled.close()
    assert not any(SECRET.encode() in note for note in journalled(home))
    assert holding(home) == []
    assert read_note(home, Scope.WORK, elsewhere.path).confidence is Confidence.VALIDATED


def drawn_id(home: Home) -> str:
    (note,) = home.vaults.rglob("knowledge/**/*.md")
    return note.stem.rpartition("-")[2]


@pytest.mark.parametrize("target", [Scope.WORK, Scope.PUBLIC])
def test_an_insight_that_a_review_moved_elsewhere_is_named_and_goes(
    settings: Settings, filled: Outbox, target: Scope
) -> None:
    home = settings.paths
    source = source_note(home)
    scope = target if source[0] is not target else Scope.PERSONAL
    desk = Desk(home)
    (done,) = set_place(desk, [Choice(drawn_id(home))], scope=scope, widen=True).done
    other = save_insight(home, insight(scope=scope, event_id=None, utterance=None))
    kept = plan_note(home, filled, *source, insights=False)
    assert [f"{where}/{path}" for where, path in kept.left] == [done.place]
    forget(settings, filled)
    filled.close()
    assert holding(home) == []
    assert read_note(home, scope, other.path).title


def test_a_line_that_a_review_put_into_the_identity_is_named(
    settings: Settings, filled: Outbox
) -> None:
    home = settings.paths
    add_to_identity(Desk(home), Choice(drawn_id(home)), Scope.WORK)
    scope, path = source_note(home)
    filled.close()
    done = run(home, "forget", f"{scope}/{path}", "--insights", "--yes")
    assert done.returncode == 0
    assert "context-engine identity edit" in done.stdout
    assert SECRET in done.stdout.partition("identity edit")[2]


def test_words_that_were_merged_into_another_insight_leave_the_list_of_recent_ones(
    settings: Settings, filled: Outbox
) -> None:
    home = settings.paths
    recent = Recent(home.state / "recent.db")
    merged = insight(event_id="f" * 32, content=SAID)
    recent.add(merged, "knowledge/decision/another.md")
    assert recent.like(merged) != ()
    forget(settings, filled)
    filled.close()
    assert recent.like(merged) == ()
    recent.close()
    assert holding(home) == []


@pytest.mark.parametrize("kind", [Kind.PERSON, Kind.DECISION])
def test_a_single_insight_is_forgotten_and_what_stands_beside_it_stays(
    settings: Settings, kind: Kind
) -> None:
    home = settings.paths
    subject = "田中さん" if kind is Kind.PERSON else None
    words = {"kind": kind, "subject": subject}
    stays = save_insight(home, insight(**words, evidence="残る証拠", content="残る内容"))
    gone = insight(**words, evidence=SAID, title=SECRET, content=SAID)
    gone_id = save_insight(home, gone).insight_id
    accept(Desk(home), [Choice(stays.insight_id)])
    index_all(home, None)
    data = run_json(home, "forget", gone_id, "--yes")
    assert data["insights"] == [gone_id]
    assert holding(home) == []
    assert holding(home, "残る内容") != []
    assert save_insight(home, gone).outcome is Outcome.REJECTED


def test_a_question_names_the_places_and_forgets_nothing(
    settings: Settings, filled: Outbox
) -> None:
    scope, path = source_note(settings.paths)
    done = run(settings.paths, "forget", SECRET, "--yes")
    assert done.returncode == 1
    assert f"{scope}/{path}" in done.stdout
    assert source_note(settings.paths) == (scope, path)


def test_what_still_waits_is_forgotten_too(settings: Settings, tmp_path: Path) -> None:
    from api.forgetting import plan_event

    session(tmp_path / "sessions")
    outbox = collect_sessions(settings.paths, tmp_path / "sessions")
    event = str(outbox.connection().execute("SELECT event_id FROM event").fetchall()[0][0])
    carry_out(settings, plan_event(settings.paths, outbox, event, insights=True))
    work_off(settings, outbox)
    assert outbox.payload(event) is None
    outbox.close()
    assert holding(settings.paths) == []


def test_a_job_that_ran_meanwhile_leaves_nothing(settings: Settings, tmp_path: Path) -> None:
    from api.forgetting import plan_event

    session(tmp_path / "sessions")
    outbox = collect_sessions(settings.paths, tmp_path / "sessions")
    (waiting,) = outbox.publishable("ingest", 1)
    job = outbox.start(waiting.job_id, waiting.key, "w", max_attempts=3)
    assert job is not None
    document = outbox.document(job.event_id or "")
    assert document is not None
    carry_out(settings, plan_event(settings.paths, outbox, job.event_id or "", insights=True))
    assert without_forgotten(tombstones(settings.paths), document) is None


_KILLED = """
import os, signal, sys
import api.forgetting.steps as steps
from api.cli.main import main
real = getattr(steps, sys.argv[1])
def dying(*a, **k):
    if sys.argv[2] == "after":
        real(*a, **k)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(steps, sys.argv[1], dying)
sys.argv = ["context-engine", "forget", sys.argv[3], "--insights", "--yes"]
main()
"""


@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("remove_notes", "before"),
        ("purge_outbox", "after"),
        ("purge_index", "before"),
        ("purge_journal", "after"),
    ],
)
def test_a_kill_in_the_middle_is_gone_on_from(
    settings: Settings, filled: Outbox, step: str, when: str
) -> None:
    scope, path = source_note(settings.paths)
    filled.close()
    died = subprocess.run(
        [sys.executable, "-P", "-c", _KILLED, step, when, f"{scope}/{path}"],
        env=environment(settings.paths),
        check=False,
        capture_output=True,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert holding(settings.paths) != []
    assert finish_interrupted(settings) == 1
    assert holding(settings.paths) == []
    assert finish_interrupted(settings) == 0


def test_two_at_once_forget_the_same_and_leave_nothing(settings: Settings, filled: Outbox) -> None:
    scope, path = source_note(settings.paths)
    filled.close()
    command = [*COMMAND, "forget", f"{scope}/{path}", "--insights", "--yes", "--json"]
    both = [
        subprocess.Popen(command, env=environment(settings.paths), stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    # the second may come when nothing is there any more
    assert {process.wait(60) for process in both} <= {0, 1}
    assert 0 in {process.returncode for process in both}
    assert holding(settings.paths) == []
    assert finish_interrupted(settings) == 0


def test_history_offers_the_commands_where_git_is(settings: Settings, filled: Outbox) -> None:
    home = settings.paths
    plan = plan_note(home, filled, *source_note(home), insights=False)
    assert "No vault concerned is a Git repository." in history_advice(home, plan)
    (home.vaults / ".git").mkdir()
    advice = "\n".join(history_advice(home, plan))
    scope, path = source_note(home)
    assert f"filter-repo --force --invert-paths --path {scope}/{path}" in advice


def test_nobody_is_asked_without_a_terminal_and_nothing_goes(
    settings: Settings, filled: Outbox
) -> None:
    scope, path = source_note(settings.paths)
    done = run(settings.paths, "forget", f"{scope}/{path}")
    assert done.returncode == 2
    assert f"{scope}/{path}" in done.stdout
    assert source_note(settings.paths) == (scope, path)


def test_with_the_engine_running_nothing_is_left_either(home: Home, tmp_path: Path) -> None:
    session(tmp_path / "sessions")
    with running(home):
        taken = run(home, "ingest", "claude", str(tmp_path / "sessions"), "--wait")
        assert taken.returncode == 0
        assert holding(home) != []
        scope, path = source_note(home)
        data = run_json(home, "forget", f"{scope}/{path}", "--insights", "--yes")
        assert data["left_to_do"] == []
        wait_until(lambda: holding(home) == [], 30)
        again = run(home, "ingest", "claude", str(tmp_path / "sessions"))
        assert again.returncode == 0
        assert holding(home) == []
    assert holding(home) == []
