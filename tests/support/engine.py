"""Running the real command line against a home of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from context_engine.home import Home

COMMAND = (str(Path(sys.executable).parent / "context-engine"),)


def environment(home: Home, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what the engine's processes see: this home, a free port, no local model."""
    # the fixtures have removed a developer's own CE_… variables
    kept = dict(os.environ)
    return kept | {
        "CE_HOME": str(home.root),
        "CE_API__PORT": "0",
        "CE_LLM__MODE": "cues",
        **(extra or {}),
    }


def run(
    home: Home, *arguments: str, extra: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(home, extra),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def run_json(home: Home, *arguments: str, extra: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a command that succeeds and return the JSON it prints."""
    done = run(home, *arguments, "--json", extra=extra)
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


@contextlib.contextmanager
def running(
    home: Home, extra: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Have `context-engine up` running inside the block, stopped by SIGTERM at its end."""
    with (home.root / "up.err").open("wb") as errors:
        process = subprocess.Popen(
            [*COMMAND, "up"], env=environment(home, extra), stderr=errors, stdout=errors
        )
    try:
        wait_until(lambda: _is_ready(home, process), 60)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            process.kill()
            raise


def _is_ready(home: Home, process: subprocess.Popen[bytes]) -> bool:
    said = (home.root / "up.err").read_text(encoding="utf-8")
    assert process.poll() is None, said
    return "ready; Ctrl-C stops it" in said


def pids(home: Home) -> dict[str, int]:
    """Return the process ids of the running parts, by name."""
    try:
        status = json.loads((home.state / "supervisor.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {part["name"]: part["pid"] for part in status["parts"] if part["pid"]}


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Return when `condition` holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def write_sessions(folder: Path, sessions: int, messages: int, *, first: int = 0) -> list[str]:
    """Write Claude Code sessions below `folder`; returns a token of each message, all different.

    Sessions are numbered from `first`.
    """
    tokens = []
    for number in range(first, first + sessions):
        path = folder / "-home-aki-work-shop" / f"00000000-0000-4000-8000-{number:012d}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as file:
            for turn in range(messages):
                token = f"tok{number:05d}x{turn:03d}"
                tokens.append(token)
                file.write(json.dumps(_record(number, turn, token), ensure_ascii=False) + "\n")
    return tokens


def _record(number: int, turn: int, token: str) -> dict[str, Any]:
    owner = turn % 2 == 0
    text = (
        f"{token} の件、キャッシュは Valkey に決めた。理由はライセンスだから。"
        if owner
        else f"Understood, {token}: the cache moves to Valkey because of its licence."
    )
    session = f"00000000-0000-4000-8000-{number:012d}"
    return {
        "type": "user" if owner else "assistant",
        "uuid": f"{number:08d}-0000-4000-8000-{turn:012d}",
        "parentUuid": f"{number:08d}-0000-4000-8000-{turn - 1:012d}" if turn else None,
        "sessionId": session,
        "cwd": "/home/aki/work/shop",
        "gitBranch": "main",
        "version": "2.1.0",
        "isSidechain": False,
        "timestamp": f"2026-11-02T{9 + turn // 60:02d}:{turn % 60:02d}:00.000Z",
        "message": {"role": "user", "content": text}
        if owner
        else {
            "role": "assistant",
            "id": f"msg_{number}_{turn}",
            "model": "claude",
            "content": [{"type": "text", "text": text}],
        },
    }
