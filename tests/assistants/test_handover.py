"""Transcripts that hooks spooled: collected once each, at once, whatever happens in between."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.settings import Settings
from support.engine import write_sessions
from workers import handover
from workers.collector import collect
from workers.handover import collect_spool, given_up, spool, waiting_transcripts
from workers.outbox import Outbox


@pytest.fixture
def outbox(home: Home) -> Outbox:
    return Outbox(home.outbox)


def _hand_over(home: Home, transcript: object, session: str = "s1") -> None:
    spool(home).mkdir(exist_ok=True)
    data = json.dumps({"event": "stop", "transcript_path": transcript})
    (spool(home) / f"{session}.json").write_text(data, encoding="utf-8")


def _transcript(folder: Path, number: int = 0) -> str:
    write_sessions(folder, 1, 4, first=number)
    return str(next(folder.rglob(f"*{number:012d}.jsonl")))


def _events(outbox: Outbox) -> int:
    row = outbox.connection().execute("SELECT count(*) FROM event").fetchone()
    assert row is not None
    return int(str(row[0]))


def test_a_transcript_is_collected_and_its_file_goes(
    settings: Settings, outbox: Outbox, tmp_path: Path
) -> None:
    _hand_over(settings.paths, _transcript(tmp_path / "projects"))
    assert waiting_transcripts(settings.paths) == 1

    assert collect_spool(settings, outbox) == 1
    assert _events(outbox) == 1
    assert list(spool(settings.paths).iterdir()) == []


def test_only_the_session_that_was_handed_over_is_read(
    settings: Settings, outbox: Outbox, tmp_path: Path
) -> None:
    path = _transcript(tmp_path / "projects", 0)
    _transcript(tmp_path / "projects", 1)
    _hand_over(settings.paths, path)
    collect_spool(settings, outbox)
    _hand_over(settings.paths, path)

    assert collect_spool(settings, outbox) == 1
    assert _events(outbox) == 1


@pytest.mark.parametrize(
    "transcript",
    [None, 7, "", "relative.jsonl", "/nowhere/at/all.jsonl", "/etc/passwd", "/a\0b.jsonl"],
)
def test_what_is_no_transcript_is_dropped(
    settings: Settings, outbox: Outbox, transcript: object
) -> None:
    _hand_over(settings.paths, transcript)

    assert collect_spool(settings, outbox) == 0
    assert list(spool(settings.paths).iterdir()) == []


def test_half_a_file_is_dropped(settings: Settings, outbox: Outbox) -> None:
    spool(settings.paths).mkdir()
    (spool(settings.paths) / "s1.json").write_bytes(b'{"event": "st')

    assert collect_spool(settings, outbox) == 0


def test_a_transcript_that_kills_its_reader_is_given_up(
    settings: Settings, outbox: Outbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise MemoryError

    _hand_over(settings.paths, _transcript(tmp_path / "projects"))
    monkeypatch.setattr(handover, "collect", die)
    for _ in range(3):
        with pytest.raises(MemoryError):
            collect_spool(settings, outbox)

    assert collect_spool(settings, outbox) == 0
    assert [Path(file).name for file in given_up(settings.paths)] == ["s1.given-up"]
    assert waiting_transcripts(settings.paths) == 0


def test_a_hand_over_while_the_last_one_is_read_is_kept(
    settings: Settings, outbox: Outbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _transcript(tmp_path / "projects")

    def slow(*arguments: object, **named: object) -> object:
        _hand_over(settings.paths, path)
        return collect(*arguments, **named)  # type: ignore[arg-type]  # passed on as they came

    _hand_over(settings.paths, path)
    monkeypatch.setattr(handover, "collect", slow)
    collect_spool(settings, outbox)

    assert waiting_transcripts(settings.paths) == 1
