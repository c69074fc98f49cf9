"""Find the file of an id: names end in `-<id>.md`, whatever slug and folder they began with.

A title may change between two pieces of one conversation, and so would the name made from it; the
id decides. Listings are kept per folder and read again when the folder changed.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vault.listing import list_notes
from vault.paths import split_relative

_NAME = re.compile(r"(?:.*-)?(?P<key>[0-9a-f]{12}(?:-p[0-9]{3,})?)\.md\Z")
_SETTLED_NS = 2_000_000_000
"""A folder changed within this time may change again under the same time stamp."""
_CACHE_LIMIT = 4_096


@dataclass(frozen=True)
class _Listing:
    mtime_ns: int
    notes: Mapping[str, str]
    folders: tuple[str, ...]


_cache: dict[str, _Listing] = {}


def find_note(root: Path, folder: str, note_id: str, part: int = 1) -> str | None:
    """Return the path, relative to `root`, of the note below `folder` with this id and part."""
    key = note_id if part <= 1 else f"{note_id}-p{part:03d}"
    split_relative(folder)
    return next((path for path in _walk(root, folder, key)), None)


def find_parts(root: Path, folder: str, note_id: str) -> tuple[int, ...]:
    """Return the numbers of the parts that the document with this id has below `folder`."""
    names = (file.path.rsplit("/", 1)[-1] for file in list_notes(root, folder))
    keys = (match["key"].partition("-p") for name in names if (match := _NAME.match(name)))
    return tuple(sorted({int(part or 1) for key, _, part in keys if key == note_id}))


def _walk(root: Path, folder: str, key: str) -> Iterator[str]:
    found, folders = _look(root / folder, key)
    if found is not None:
        yield f"{folder}/{found}"
    for name in folders:
        yield from _walk(root, f"{folder}/{name}", key)


def _look(path: Path, key: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the name of the note with `key` in one folder, and the folders in it."""
    try:
        mtime_ns = path.stat(follow_symlinks=False).st_mtime_ns
        known = _cache.get(str(path))
        if known and known.mtime_ns == mtime_ns:
            return known.notes.get(key), known.folders
        names = os.listdir(path)  # noqa: PTH208 - thousands of names, no need for Path objects
    except OSError:
        return None, ()
    folders = tuple(sorted(name for name in names if _is_folder(path, name)))
    if time.time_ns() - mtime_ns > _SETTLED_NS:
        listing = _Listing(mtime_ns, dict(_keys(names)), folders)
        _remember(str(path), listing)
        return listing.notes.get(key), folders
    # while a folder is being filled, a cheap look at all names comes once a note
    ending = f"{key}.md"
    likely = [name for name in names if name.endswith(ending)]
    return dict(_keys(likely)).get(key), folders


def _keys(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(names, reverse=True):
        match = _NAME.match(name)
        if match:
            yield match["key"], name


def _is_folder(path: Path, name: str) -> bool:
    if name.endswith(".md") or name.startswith("."):
        return False
    return stat.S_ISDIR((path / name).lstat().st_mode)


def _remember(path: str, listing: _Listing) -> None:
    if len(_cache) >= _CACHE_LIMIT:
        _cache.clear()
    _cache[path] = listing
