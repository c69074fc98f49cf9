"""`ingest auto` tells a source by what lies inside, and says what it looked for when it cannot."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from connectors.base import LiveConnector
from connectors.look import HEADS, NAMES, look_at
from connectors.recognition import recognise
from connectors.registry import SOURCES, load
from context_engine.errors import UsageError
from support.archives import tar_of, write_zip

DAY = b'[{"type": "message", "user": "U1", "ts": "1790000000.000100", "text": "hi"}]'
CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:02.000\nKim: hello\n"
SPOKEN = "田中: 始めます。\n佐藤: はい。\n田中: 次の議題です。\n".encode()
NOTE = b"# Plans\n\nBuild it, then measure it.\n"
SAMPLES: Mapping[str, tuple[str, Mapping[str, bytes]]] = {
    "a Slack export (2 channels)": (
        "slack",
        {"users.json": b"[]", "general/2026-11-02.json": DAY, "dev/2026-11-02.json": DAY},
    ),
    "a ChatGPT data export (1 file of conversations)": (
        "chatgpt",
        {
            "conversations.json": b'[{"title": "x", "create_time": 1.0, "mapping": {}}]',
            "chat.html": b"<html>",
        },
    ),
    "a claude.ai data export (2 files)": (
        "claude-ai",
        {
            "conversations.json": b'[{"uuid": "1", "name": "x", "chat_messages": []}]',
            "projects.json": b'[{"uuid": "2", "name": "y"}]',
        },
    ),
    "Claude Code transcripts (1 session)": (
        "claude",
        {
            "-home-aki-shop/1.jsonl": b'{"type":"user","sessionId":"1","message":{}}\n',
            "-home-aki-shop/memory/x.md": NOTE,
        },
    ),
    "Google Takeout (1 activity log, 1 Keep note)": (
        "takeout",
        {
            "Takeout/My Activity/Gemini Apps/MyActivity.json": b'[{"header": "Gemini Apps",'
            b'"title": "Prompted x", "time": "2026-11-02T00:00:00Z"}]',
            "Takeout/Keep/x.json": b'{"isTrashed": false, "isPinned": false, "textContent": "x"}',
            "Takeout/Drive/Meeting.txt": NOTE,
        },
    ),
    "a Confluence space export in XML (1 space)": (
        "confluence",
        {"entities.xml": b"<hibernate-generic/>", "attachments/1/2/3": b"x"},
    ),
    "a Confluence space export in HTML (1 page)": (
        "confluence",
        {"SHOP/Home_65591.html": b'<body class="aui-theme-default">', "SHOP/index.html": b"x"},
    ),
    "GitHub reviews and comments (1 file)": (
        "github",
        {"1.json": b'{"html_url": "https://github.com/a/b", "user": {}, "diff_hunk": "@@"}'},
    ),
    "meetings (2 transcripts)": ("meeting", {"a.vtt": CAPTIONS, "会議.txt": SPOKEN}),
    "notes (2 files)": ("markdown", {"2026-11-02.md": NOTE, "plans.txt": NOTE, "a.png": b"x"}),
}
WORDS = pytest.mark.parametrize("words", SAMPLES)


def put(folder: Path, members: Mapping[str, bytes]) -> Path:
    for name, data in members.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


@WORDS
def test_each_source_is_told_by_what_lies_in_a_folder_a_zip_and_a_tar(
    tmp_path: Path, words: str
) -> None:
    source, members = SAMPLES[words]
    folder = put(tmp_path / "folder", members)
    zipped = write_zip(tmp_path / "export.zip", members)
    packed = tmp_path / "export.tgz"
    packed.write_bytes(tar_of(members))
    for path in (folder, zipped, packed):
        found = recognise(path)
        assert (found.source, found.words) == (source, words)


def test_every_source_of_files_is_recognised() -> None:
    connectors = {name: load(name) for name in SOURCES}
    of_files = {name for name, it in connectors.items() if not isinstance(it, LiveConnector)}
    assert {source for source, _ in SAMPLES.values()} == of_files - {"takeout-activity"}


def test_a_path_that_is_nothing_known_is_refused_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        recognise(put(tmp_path / "x", {"data.json": b'{"a": 1}', "photo.jpg": b"x"}))
    assert "looks like none" in str(refused.value)
    for source, _ in SAMPLES.values():
        assert f"  {source}: " in str(refused.value)


@pytest.mark.parametrize(
    "two",
    [
        {"a.vtt": CAPTIONS, "plans.md": NOTE, "2.md": NOTE},
        {"1.jsonl": b'{"sessionId":"1","type":"user"}', "2026-11-02.json": DAY},
    ],
)
def test_a_path_that_fits_two_sources_is_refused_with_both(
    tmp_path: Path, two: Mapping[str, bytes]
) -> None:
    with pytest.raises(UsageError, match=r"fits more than one source: .*;"):
        recognise(put(tmp_path / "x", two))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"\x1f\x8bbroken"])
def test_broken_and_empty_archives_and_folders_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    (tmp_path / "x.tgz").write_bytes(data)
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "x.zip", tmp_path / "x.tgz", tmp_path / "empty", tmp_path / "no"):
        with pytest.raises(UsageError):
            recognise(path)


def test_a_look_is_bounded_whatever_lies_there(tmp_path: Path) -> None:
    folder = tmp_path / "general"
    folder.mkdir()
    for number in range(HEADS + 5):
        (folder / f"{2000 + number}-01-02.json").write_bytes(DAY + b" " * 100_000)
    os.mkfifo(folder / "zzz")
    look = look_at(tmp_path)
    assert sum(bool(file.head) for file in look.files) == HEADS
    assert not look.complete
    assert recognise(tmp_path).words == "a Slack export (1+ channels)"
    crowd = write_zip(tmp_path / "crowd.zip", {f"{n}.png": b"" for n in range(NAMES + 5)})
    started = time.perf_counter()
    assert len(look_at(crowd).files) == NAMES
    assert time.perf_counter() - started < 10.0
