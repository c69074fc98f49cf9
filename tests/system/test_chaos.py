"""Parts are killed with -9 at random points of a running ingest: nothing lost, none doubled."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.sqlite import connect
from support.engine import COMMAND, environment, pids, running, wait_until, write_sessions
from vault.notes import Note, iter_notes
from workers import outbox_report
from workers.outbox import Outbox

KILLS = int(os.environ.get("CHAOS_KILLS", "24"))
SETTLE_SECONDS = max(120, 3 * KILLS)
"""Every kill leaves more to do: with hundreds, thousands of jobs are worked off afterwards."""
PARTS = ("broker", "worker", "extractor", "indexer", "api")
# a job may be unlucky more than three times here, which a quarantine would stop
EXTRA = {"CE_WORKERS__MAX_ATTEMPTS": "10", "CE_DEFAULT_SCOPE": "work"}


def kill(home: Home, part: str) -> bool:
    pid = pids(home).get(part)
    if pid is None:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def start_ingest(home: Home, sessions: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "ingest", "claude", str(sessions)],
        env=environment(home, EXTRA),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def settled(home: Home) -> bool:
    states: Counter[str] = Counter()
    for by_state in outbox_report.counts(Outbox(home.outbox)).values():
        states.update(by_state)
    return sum(states[state] for state in ("pending", "queued", "running")) == 0


def tokens_in_vault(home: Home) -> Counter[str]:
    found: Counter[str] = Counter()
    for note in iter_notes(home, Scope.WORK, "sources"):
        assert isinstance(note, Note), note
        for message in note.messages:
            found.update(re.findall(r"tok\d{5}x\d{3}", message.text))
    return found


def tokens_in_index(home: Home) -> Counter[str]:
    found: Counter[str] = Counter()
    with contextlib.closing(connect(home.index(Scope.WORK), readonly=True)) as db:
        rows = db.execute(
            "SELECT chunk.text FROM chunk JOIN note ON note.id = chunk.note"
            " WHERE note.path LIKE 'sources/%'"
        )
        for (text,) in rows:
            found.update(re.findall(r"tok\d{5}x\d{3}", text))
    return found


@pytest.mark.chaos
@pytest.mark.timeout(160 + SETTLE_SECONDS + 2 * KILLS)
def test_killing_parts_at_random_loses_nothing_and_doubles_nothing(
    home: Home, tmp_path: Path
) -> None:
    seed = int.from_bytes(os.urandom(4))
    dice = random.Random(seed)  # noqa: S311 - dice, no secret
    print(f"seed {seed}")  # noqa: T201 - to repeat a failure
    folder = tmp_path / "projects"
    tokens = write_sessions(folder, sessions=30, messages=40)
    killed: Counter[str] = Counter()
    with running(home, EXTRA):
        ingest = start_ingest(home, folder)
        while sum(killed.values()) < KILLS:
            part = dice.choice((*PARTS, "ingest"))
            if part == "ingest":
                ingest.kill()
                ingest.wait()
                ingest = start_ingest(home, folder)
                killed[part] += 1
            elif kill(home, part):
                killed[part] += 1
            time.sleep(dice.uniform(0.05, 0.8))
            if ingest.poll() is not None:
                # more to do while the killing goes on
                tokens += write_sessions(folder, 4, 20, first=len(tokens))
                ingest = start_ingest(home, folder)
        ingest.wait()
        assert start_ingest(home, folder).wait() == 0
        wait_until(lambda: settled(home), SETTLE_SECONDS)
        assert outbox_report.quarantined(Outbox(home.outbox)) == []
        wanted = Counter(dict.fromkeys(tokens, 1))
        assert tokens_in_vault(home) == wanted
        wait_until(lambda: tokens_in_index(home) == wanted, 60)
    ids = [
        path.stem.rsplit("-", 1)[-1] for path in home.vault(Scope.WORK).glob("knowledge/**/*.md")
    ]
    assert len(ids) == len(set(ids))
    assert ids, "the rules found no insight"


def test_wiping_redis_in_the_middle_of_an_ingest_loses_nothing(home: Home, tmp_path: Path) -> None:
    import redis

    from workers.broker import socket_path

    folder = tmp_path / "projects"
    tokens = write_sessions(folder, sessions=12, messages=30)
    with running(home, EXTRA):
        ingest = start_ingest(home, folder)
        client = redis.Redis(unix_socket_path=str(socket_path(home)))
        while ingest.poll() is None or not settled(home):
            client.flushall()
            time.sleep(0.3)
        client.close()
        wait_until(lambda: tokens_in_index(home) == Counter(dict.fromkeys(tokens, 1)), 60)
        assert tokens_in_vault(home) == Counter(dict.fromkeys(tokens, 1))
