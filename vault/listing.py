"""Which notes a vault holds, without reading them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class NoteFile:
    """One note as the file system sees it; `path` is relative to its vault, with `/`."""

    path: str
    size: int
    mtime_ns: int


def list_notes(root: Path, folder: str = "") -> Iterator[NoteFile]:
    """Yield the `.md` files below `root`/`folder`, sorted within each folder.

    Hidden files and folders, links and undecodable names are passed over: they are no notes.
    """
    try:
        with os.scandir(root / folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        if entry.name.startswith(".") or not _is_text(entry.name):
            continue
        path = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from list_notes(root, path)
        elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
            yield from _file(entry, path)


def _file(entry: os.DirEntry[str], path: str) -> Iterator[NoteFile]:
    try:
        info = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    yield NoteFile(path, info.st_size, info.st_mtime_ns)


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
