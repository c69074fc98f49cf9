"""Write invented Claude Code sessions of any size: the same arguments give the same bytes.

    python benchmarks/generate_transcripts.py FOLDER --megabytes 100 --sessions 20

The mix is that of real sessions: nine bytes of ten are tool results, file contents and images;
what is said is short, half Japanese and half English.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson

PROJECTS = ("shop", "billing", "search-api", "mobile-app", "infra", "notes")
START = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)

_THINGS_EN = (
    "the checkout queue", "the invoice job", "the session cache", "the search index",
    "the migration", "the retry policy", "the login form", "the webhook handler",
    "the nightly report", "the upload worker", "the feature flag", "the staging cluster",
)  # fmt: skip
_THINGS_JA = (
    "決済キュー", "請求バッチ", "セッションキャッシュ", "検索インデックス", "マイグレーション",
    "リトライ方針", "ログイン画面", "Webhookの処理", "夜間レポート", "アップロードワーカー",
    "機能フラグ", "ステージング環境",
)  # fmt: skip
_REASONS_EN = (
    "the old one lost messages when a node restarted", "it halves the number of connections",
    "nobody could explain the previous behaviour", "the license changed",
    "p95 latency went from 900 ms to 120 ms", "it is easier to test without a network",
)  # fmt: skip
_REASONS_JA = (
    "再起動のたびにメッセージが失われていたから", "接続数が半分になるから",
    "以前の挙動を誰も説明できなかったから", "ライセンスが変わったから",
    "p95が900msから120msに下がったから", "ネットワークなしで試せるから",
)  # fmt: skip
_PATTERNS_EN = (
    "We decided to replace {thing} because {reason}.",
    "The root cause was that {thing} kept a stale handle; closing it before the fork fixed it.",
    "Next step: measure {thing} under load, then write it up.",
    "I prefer small commits for {thing}, with the reason in the message.",
    "Could you look at {thing} and tell me why it is slow on Mondays?",
)
_PATTERNS_JA = (
    "{thing}を置き換えることに決めた。理由は{reason}。",
    "原因は{thing}が古いハンドルを掴んだままだったこと。forkの前に閉じたら直った。",
    "次は{thing}の負荷を測ってから文書にまとめる。",
    "{thing}のコミットは小さくして、理由を書くのが好み。",
    "{thing}を見て、月曜だけ遅い理由を教えて。",
)


class Session:
    """Builds the records of one session, one after the other."""

    def __init__(self, rng: random.Random, project: str) -> None:
        self._rng = rng
        self._project = project
        self._parent: str | None = None
        self._now = START + timedelta(minutes=rng.randrange(0, 300_000))
        self._id = self.uuid()
        self._messages = 0

    def uuid(self) -> str:
        """Return a random version-4 UUID of this seed."""
        return str(UUID(int=self._rng.getrandbits(128), version=4))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield records without end."""
        turns: tuple[Callable[[], list[dict[str, Any]]], ...] = (
            self._prompt, self._answer, self._tool, self._tool, self._tool, self._tool,
            self._tool, self._thought, self._notices, self._answer,
        )  # fmt: skip
        yield {"type": "permission-mode", "permissionMode": "default", "sessionId": self._id}
        while True:
            for turn in turns:
                yield from turn()
            if self._rng.random() < 0.02:
                yield from self._screenshot()

    def _chained(self, kind: str, **fields: Any) -> dict[str, Any]:
        uuid, parent = self.uuid(), self._parent
        self._parent = uuid
        self._now += timedelta(milliseconds=self._rng.randrange(200, 60_000))
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/home/aki/work/{self._project}",
            "sessionId": self._id,
            "version": "2.1.266",
            "gitBranch": "main",
            "type": kind,
            **fields,
            "uuid": uuid,
            "timestamp": self._now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }

    def _assistant(self, block: dict[str, Any]) -> dict[str, Any]:
        self._messages += 1
        message = {
            "model": "claude-opus-5",
            "id": f"msg_{self._rng.getrandbits(64):016x}",
            "type": "message",
            "role": "assistant",
            "content": [block],
            "usage": {"input_tokens": 3, "output_tokens": self._rng.randrange(20, 900)},
        }
        request = f"req_{self._rng.getrandbits(64):016x}"
        return self._chained("assistant", message=message, requestId=request)

    def _prompt(self) -> list[dict[str, Any]]:
        text = say(self._rng, self._rng.randrange(1, 4))
        return [self._chained("user", message={"role": "user", "content": text})]

    def _answer(self) -> list[dict[str, Any]]:
        text = say(self._rng, self._rng.randrange(2, 9))
        return [self._assistant({"type": "text", "text": text})]

    def _thought(self) -> list[dict[str, Any]]:
        text = say(self._rng, self._rng.randrange(3, 20))
        return [self._assistant({"type": "thinking", "thinking": text, "signature": "c2ln" * 90})]

    def _tool(self) -> list[dict[str, Any]]:
        name = f"toolu_{self._rng.getrandbits(64):016x}"
        path = f"/home/aki/work/{self._project}/src/module_{self._rng.randrange(200)}.py"
        editing = self._rng.random() < 0.3
        tool = {"type": "tool_use", "id": name, "name": "Edit" if editing else "Read"}
        call = self._assistant({**tool, "input": {"file_path": path}})
        output = source_text(self._rng, int(self._rng.lognormvariate(7.6, 1.2)))
        result = {"type": "tool_result", "tool_use_id": name, "content": output}
        answer = self._chained(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult={"type": "text", "file": {"filePath": path, "content": output}},
        )
        return [call, answer]

    def _notices(self) -> list[dict[str, Any]]:
        hook = {"type": "hook_success", "hookName": "PostToolUse:Edit", "content": "ok"}
        snapshot = {"messageId": self.uuid(), "trackedFileBackups": {}}
        return [
            self._chained("attachment", attachment=hook),
            self._chained("system", subtype="turn_duration", durationMs=4200),
            {"type": "file-history-snapshot", "messageId": self.uuid(), "snapshot": snapshot},
        ]

    def _screenshot(self) -> list[dict[str, Any]]:
        size = self._rng.randrange(200_000, 2_000_000)
        data = ("iVBORw0KGgoAAAANSUhEUgAA" * (size // 24))[:size]
        image = {"type": "base64", "media_type": "image/png", "data": data}
        content = [{"type": "text", "text": say(self._rng, 1)}, {"type": "image", "source": image}]
        return [self._chained("user", message={"role": "user", "content": content})]


def say(rng: random.Random, sentences: int) -> str:
    """Return a few sentences, all Japanese or all English."""
    if rng.random() < 0.5:
        patterns, things, reasons, between = _PATTERNS_JA, _THINGS_JA, _REASONS_JA, ""
    else:
        patterns, things, reasons, between = _PATTERNS_EN, _THINGS_EN, _REASONS_EN, " "
    return between.join(
        rng.choice(patterns).format(thing=rng.choice(things), reason=rng.choice(reasons))
        for _ in range(sentences)
    )


def source_text(rng: random.Random, size: int) -> str:
    """Return about `size` characters of numbered program text."""
    lines, length, number = [], 0, rng.randrange(1, 400)
    while length < min(size, 60_000):
        number += 1
        comment = f"  # {say(rng, 1)}" if rng.random() < 0.1 else ""
        line = (
            f'{number:6}\tvalue_{rng.randrange(9999)} = load("{rng.randrange(10**9):x}"){comment}'
        )
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)


def write_session(path: Path, size: int, seed: int) -> int:
    """Write one session of at least `size` bytes; returns its size."""
    rng = random.Random(seed)
    session = Session(rng, PROJECTS[seed % len(PROJECTS)])
    path.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with path.open("wb") as file:
        for record in session.records():
            written += file.write(orjson.dumps(record) + b"\n")
            if written >= size:
                return written
    raise AssertionError


def write_sessions(folder: Path, megabytes: float, sessions: int, seed: int = 1) -> int:
    """Write `sessions` sessions of together about `megabytes` below `folder`; returns bytes."""
    total = 0
    for number in range(sessions):
        project = PROJECTS[(seed + number) % len(PROJECTS)]
        name = str(UUID(int=random.Random(f"{seed}/{number}").getrandbits(128), version=4))
        path = folder / f"-home-aki-work-{project}" / f"{name}.jsonl"
        total += write_session(path, int(megabytes * 1e6 / sessions), seed + number)
    return total


def main() -> None:
    """Parse the arguments and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    size = write_sessions(arguments.folder, arguments.megabytes, arguments.sessions, arguments.seed)
    print(f"{size / 1e6:.1f} MB in {arguments.sessions} sessions below {arguments.folder}")


if __name__ == "__main__":
    main()
