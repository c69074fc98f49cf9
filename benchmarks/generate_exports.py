"""Generated exports of any size, as each source gives them. The same size gives the same words."""

from __future__ import annotations

import json
import random
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

CACHE = Path(__file__).parent / ".cache"
START = datetime(2026, 11, 1, tzinfo=UTC)
PHOTO = 4_000_000
WORDS = ("valkey", "redis", "license", "queue", "決めた", "理由", "計測", "キュー", "index", "shop",
         "deploy", "review", "the", "because", "after", "会議", "顧客", "仕様", "速度")  # fmt: skip


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)) + f" {rng.getrandbits(64):x}"


def _claude(rng: random.Random, number: int) -> bytes:
    messages, parent = [], "00000000-0000-4000-8000-000000000000"
    for turn in range(20):
        name = f"{number:08x}-0000-4000-8000-{turn:012x}"
        text = _text(rng, 150)
        messages.append(
            {
                "uuid": name,
                "parent_message_uuid": parent,
                "sender": "assistant" if turn % 2 else "human",
                "text": text,
                "content": [{"type": "text", "text": text}],
                "created_at": (START + timedelta(minutes=turn)).isoformat(),
                "attachments": [],
                "files": [],
            }
        )
        parent = name
    chat: dict[str, Any] = {
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "name": _text(rng, 5),
    }
    chat |= {"created_at": START.isoformat(), "chat_messages": messages}
    return json.dumps(chat, ensure_ascii=False).encode()


def _chatgpt(rng: random.Random, number: int) -> bytes:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None}}
    parent = "root"
    for turn in range(20):
        message = {
            "author": {"role": "assistant" if turn % 2 else "user"},
            "create_time": START.timestamp() + turn,
            "content": {"content_type": "text", "parts": [_text(rng, 150)]},
            "metadata": {"model_slug": "gpt-5"},
            "recipient": "all",
        }
        mapping[f"n{turn}"] = {"id": f"n{turn}", "parent": parent, "message": message}
        parent = f"n{turn}"
    chat = {"conversation_id": f"c{number}", "title": _text(rng, 5), "current_node": parent}
    return json.dumps(chat | {"mapping": mapping}).encode()


def _gemini(rng: random.Random, number: int) -> bytes:
    answer = "".join(f"<p>{_text(rng, 40)}</p>" for _ in range(8))
    at = START - timedelta(minutes=7 * number)
    row = {
        "header": "Gemini Apps",
        "title": "Prompted " + _text(rng, 30),
        "time": f"{at:%Y-%m-%dT%H:%M:%S}.120Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": answer}],
    }
    return json.dumps(row, ensure_ascii=False).encode()


def _gemini_page(rng: random.Random, number: int) -> bytes:
    row = json.loads(_gemini(rng, number))
    at = START - timedelta(minutes=7 * number)
    wide, text = "mdl-cell mdl-cell--12-col", "mdl-typography--body-1"
    title, answer = row["title"], row["safeHtmlItem"][0]["html"]
    return (
        f'<div class="outer-cell {wide} mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell {wide}"><p class="mdl-typography--title">Gemini Apps<br></p>'
        f'</div><div class="content-cell mdl-cell mdl-cell--6-col {text}">{title}<br>'
        f"{at:%Y/%m/%d %H:%M:%S} UTC<br>{answer}</div></div></div>"
    ).encode()


def _comment(rng: random.Random, number: int) -> bytes:
    web, api = "https://github.com/aki/shop", "https://api.github.com/repos/aki/shop"
    at = (START + timedelta(minutes=number)).isoformat()
    pull = number // 20
    comment = {
        "node_id": f"PRRC_{number}",
        "path": "compose.yaml",
        "line": 12,
        "diff_hunk": "@@ -1,3 +1,3 @@\n-image: redis\n+image: valkey",
        "user": {"login": f"user{number % 5}", "type": "User"},
        "body": _text(rng, 60),
        "html_url": f"{web}/pull/{pull}#discussion_r{number}",
        "pull_request_url": f"{api}/pulls/{pull}",
        "created_at": at,
        "updated_at": at,
        "_links": {"self": {"href": f"{api}/pulls/comments/{number}"}},
    }
    return json.dumps(comment, ensure_ascii=False).encode()


Files = Iterator[tuple[str, Iterator[bytes]]]


def _one(
    name: str, make: Callable[[random.Random, int], bytes], frame: tuple[bytes, bytes, bytes]
) -> Callable[[int], Files]:
    """Return what gives a single file of records, of at least so many bytes."""

    def files(size: int) -> Files:
        yield name, _records(make, frame, size)

    return files


def _records(
    make: Callable[[random.Random, int], bytes], frame: tuple[bytes, bytes, bytes], size: int
) -> Iterator[bytes]:
    rng, written, number = random.Random(6), 0, 0
    opening, between, closing = frame
    yield opening
    while written < size:
        record = make(rng, number)
        yield (between if number else b"") + record
        written += len(record)
        number += 1
    yield closing


def _slack(size: int) -> Files:
    rng, written = random.Random(6), 0
    users = [{"id": f"U{n}", "name": f"user{n}"} for n in range(20)]
    yield "users.json", iter([json.dumps(users).encode()])
    channels = [{"id": f"C{n}", "name": f"channel{n}"} for n in range(20)]
    yield "channels.json", iter([json.dumps(channels).encode()])
    day = START
    while written < size:
        for channel in channels:
            data = json.dumps(_day(rng, day), ensure_ascii=False).encode()
            written += len(data)
            yield f"{channel['name']}/{day:%Y-%m-%d}.json", iter([data])
        day -= timedelta(days=1)


def _day(rng: random.Random, day: datetime) -> list[dict[str, Any]]:
    messages = []
    for number in range(100):
        text = _text(rng, 25)
        words = {"type": "text", "text": text}
        section = {"type": "rich_text_section", "elements": [words]}
        ts = f"{day.timestamp() + 60 * number:.0f}.{number:06d}"
        messages.append(
            {
                "type": "message",
                "user": f"U{rng.randrange(20)}",
                "ts": ts,
                "text": text,
                "blocks": [{"type": "rich_text", "elements": [section]}],
            }
        )
        if number % 10 == 1:
            messages[-1]["thread_ts"] = messages[-2]["thread_ts"] = messages[-2]["ts"]
    return messages


def _notes(size: int) -> Files:
    rng, written, day = random.Random(6), 0, START
    while written < size:
        sections = (f"## {_text(rng, 4)}\n\n{_text(rng, 120)}\n" for _ in range(8))
        data = f"# {day:%Y-%m-%d}\n\n{chr(10).join(sections)}".encode()
        written += len(data)
        yield f"worklog/{day:%Y-%m-%d-%H}.md", iter([data])
        day -= timedelta(hours=1)


def _meetings(size: int) -> Files:
    rng, written, day = random.Random(6), 0, START
    while written < size:
        cues = (_cue(rng, 30 * number) for number in range(120))
        data = f"WEBVTT\n\n{chr(10).join(cues)}".encode()
        written += len(data)
        yield f"meetings/{day:%Y-%m-%d-%H} weekly.vtt", iter([data])
        day -= timedelta(hours=1)


def _cue(rng: random.Random, start: int) -> str:
    def clock(seconds: int) -> str:
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"

    # each recording has times of its own: the same ones would be the same meeting
    begins = f"{clock(start)}.{rng.randrange(999):03d}"
    said = f"<v user{rng.randrange(6)}>{_text(rng, 30)}</v>"
    return f"{begins} --> {clock(start + 29)}.999\n{said}\n"


@dataclass(frozen=True)
class Kind:
    """What one kind of export is made of, and which connector reads it.

    messages: about how many a megabyte holds. photos: share of the bytes that are pictures.
    """

    connector: str
    files: Callable[[int], Files]
    messages: int
    photos: float = 0.0


_PAGE = (b"<html><body>", b"", b"</body></html>")
_ARRAY = (b"[", b",\n", b"]")
_LINES = (b"", b"\n", b"\n")
_LOG = "Takeout/My Activity/Gemini Apps/MyActivity"
KINDS: Mapping[str, Kind] = {
    "claude-ai": Kind("claude_ai", _one("conversations.json", _claude, _ARRAY), 400),
    "chatgpt": Kind("chatgpt", _one("conversations.json", _chatgpt, _ARRAY), 700),
    "takeout-json": Kind("takeout", _one(f"{_LOG}.json", _gemini, _ARRAY), 600),
    "takeout-html": Kind("takeout", _one(f"{_LOG}.html", _gemini_page, _PAGE), 600),
    "photos": Kind("takeout", _one(f"{_LOG}.json", _gemini, _ARRAY), 60, photos=0.9),
    "slack": Kind("slack", _slack, 1_500),
    "github": Kind("github", _one("comments.jsonl", _comment, _LINES), 900),
    "markdown": Kind("markdown", _notes, 1_000),
    "meeting": Kind("meeting", _meetings, 2_000),
}


def export(name: str, megabytes: int) -> Path:
    """Return a zip of this kind that holds so much, made on first use."""
    path = CACHE / f"export-{name}-{megabytes}.zip"
    if path.exists():
        return path
    CACHE.mkdir(exist_ok=True)
    print(f"generating {megabytes} MB of {name} …", file=sys.stderr)
    kind, size = KINDS[name], megabytes * 1_000_000
    unfinished = path.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file, pieces in kind.files(int(size * (1 - kind.photos))):
            with archive.open(file, "w", force_zip64=True) as member:
                for piece in pieces:
                    member.write(piece)
        for number in range(int(size * kind.photos) // PHOTO):
            photo = zipfile.ZipInfo(f"Takeout/Google Photos/{number}.jpg")
            archive.writestr(photo, random.Random(number).randbytes(PHOTO), zipfile.ZIP_STORED)
    unfinished.rename(path)
    return path
