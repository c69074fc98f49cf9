"""Find the file of an id: names end in `-<id>.md`, whatever slug and folder they began with.

A title may change between two pieces of one conversation, and so would the name made from it; the
id decides. Listings are kept per folder and read again when the folder changed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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


def _walk(root: Path, folder: str, key: str) -> Iterator[str]:
    listing = _list(root / folder)
    if key in listing.notes:
        yield f"{folder}/{listing.notes[key]}"
    for name in listing.folders:
        yield from _walk(root, f"{folder}/{name}", key)


def _list(path: Path) -> _Listing:
    try:
        mtime_ns = path.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return _Listing(0, {}, ())
    known = _cache.get(str(path))
    if known and known.mtime_ns == mtime_ns:
        return known
    return _read(path, mtime_ns)


def _read(path: Path, mtime_ns: int) -> _Listing:
    import os

    notes: dict[str, str] = {}
    folders: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            match = _NAME.match(entry.name)
            if match:
                notes.setdefault(match["key"], entry.name)
            elif not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
    listing = _Listing(mtime_ns, notes, tuple(sorted(folders)))
    if time.time_ns() - mtime_ns > _SETTLED_NS:
        if len(_cache) >= _CACHE_LIMIT:
            _cache.clear()
        _cache[str(path)] = listing
    return listing
