"""The one writer of an index: follows the vault and keeps it findable.

By keyword at once, by meaning in a second step.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from context_engine.errors import AlreadyRunningError, BadInputError, IndexMismatchError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from context_engine.sqlite import immediate
from index.chunking import CHUNKER
from index.embedding.base import Embedder
from index.entries import build_entries
from index.pending import EmbedReport, embed_waiting, waiting
from index.reading import read_note
from index.schema import damage_reported, locked, open_for_writing, read_meta, write_meta
from index.store import (
    FileState,
    PreparedNote,
    delete_note,
    prepare,
    write_failure,
    write_note,
)
from index.tokenize import TOKENIZER

MAX_FILE_BYTES = 50_000_000
NOT_INDEXED = frozenset({"identity/_profile.md"})
"""Generated from another vault: indexing it would show everything twice."""

_CHUNKS_A_TRANSACTION = 1_000
_RACY_NS = 2_000_000_000
"""A file written this shortly before it was read may change again under the same mtime."""

_log = get_logger(__name__)


@dataclass(frozen=True)
class NoteFailure:
    """A file that could not be indexed, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class ScanReport:
    """What a scan found: paths relative to the vault."""

    indexed: tuple[str, ...]
    removed: tuple[str, ...]
    failed: tuple[NoteFailure, ...]
    unchanged: int


class IndexWriter:
    """Writes the index of one scope. Use as a context manager, from one thread at a time.

    `embedder` None means keyword search only. `path` is for building an index beside the one
    in use. Entering raises AlreadyRunningError when another writer has the index, and
    IndexCorruptError when the file is damaged.
    """

    def __init__(
        self, home: Home, scope: Scope, embedder: Embedder | None, *, path: Path | None = None
    ) -> None:
        self._vault = home.vault(scope)
        self._path = path or home.index(scope)
        self._embedder = embedder
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            lock = locked(self._path.with_suffix(".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._stack.enter_context(lock)
        except BlockingIOError as error:
            raise AlreadyRunningError(
                f"{self._path} is being written by another process"
            ) from error
        try:
            self._connection = open_for_writing(self._path)
            self._stack.callback(self._connection.close)
            self._identify()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def mismatches(self) -> tuple[str, ...]:
        """What this index was built with that is no longer configured; empty when all is well."""
        stored = read_meta(self._connection)
        return tuple(
            f"{key}: {stored[key]} → {value}"
            for key, value in self._identities().items()
            if stored.get(key, value) != value
        )

    def index_note(self, path: str) -> bool:
        """Index the vault file `path` (relative); return whether anything changed.

        A file that is gone is removed. One that cannot be read is remembered as failed.
        """
        self._require_match()
        prepared = self._prepare(path)
        with damage_reported(self._path), immediate(self._connection):
            return self._write(path, prepared)

    def chunk_count(self, path: str) -> int:
        """Return how many chunks the vault file `path` is cut into."""
        query = "SELECT count(*) FROM chunk JOIN note ON note.id = chunk.note WHERE note.path = ?"
        return int(self._connection.execute(query, (path,)).fetchall()[0][0])

    def remove_note(self, path: str) -> bool:
        """Take the vault file `path` out of the index; return whether it was there."""
        with damage_reported(self._path), immediate(self._connection):
            known = self._known(path) is not None
            delete_note(self._connection, path)
            return known

    def scan(self) -> ScanReport:
        """Compare the whole vault with the index and follow it."""
        self._require_match()
        with damage_reported(self._path):
            known = dict(self._connection.execute("SELECT path, id FROM note"))
            found = sorted(_vault_files(self._vault))
            changed = [path for path in found if self._differs(path)]
            self._write_all(changed)
            removed = sorted(known.keys() - set(found))
            for path in removed:
                self.remove_note(path)
            if changed or removed:
                self._forget_unused_vectors()
            failed = self._failures(changed)
        indexed = tuple(path for path in changed if path not in {item.path for item in failed})
        return ScanReport(indexed, tuple(removed), failed, len(found) - len(changed))

    def embed_pending(self, limit: int = 256) -> EmbedReport:
        """Give up to `limit` waiting chunks their vector.

        Raises DependencyDownError when the embedder cannot work now, and IndexMismatchError
        when the index holds another model's vectors.
        """
        if self._embedder is None:
            return EmbedReport(0, 0, waiting(self._connection))
        self._require_match()
        with damage_reported(self._path):
            return embed_waiting(self._connection, self._embedder, limit)

    def _identities(self) -> dict[str, str]:
        own = {"chunker": CHUNKER, "tokenizer": TOKENIZER}
        return own | ({"embedder": str(self._embedder.identity)} if self._embedder else {})

    def _identify(self) -> None:
        """Store who builds this index, where nobody has yet."""
        stored = read_meta(self._connection)
        missing = {key: value for key, value in self._identities().items() if key not in stored}
        if missing:
            with immediate(self._connection):
                write_meta(self._connection, **missing)

    def _require_match(self) -> None:
        if self.mismatches:
            raise IndexMismatchError(
                f"{self._path} was built differently ({'; '.join(self.mismatches)}); "
                "rebuild it with: context-engine reindex --rebuild"
            )

    def _known(self, path: str) -> tuple[int, int, int, str] | None:
        row = self._connection.execute(
            "SELECT size, mtime_ns, indexed_ns, hash FROM note WHERE path = ?", (path,)
        ).fetchone()
        return None if row is None else (row[0], row[1], row[2], row[3])

    def _differs(self, path: str) -> bool:
        """Compare size and mtime, and the content where these cannot tell."""
        known = self._known(path)
        try:
            now = (self._vault / path).stat()
        except OSError:
            return known is not None
        if known is None or now.st_size != known[0]:
            return True
        if now.st_mtime_ns == known[1] and known[2] - known[1] > _RACY_NS:
            return False
        if _hash_file(self._vault / path) != known[3]:
            return True
        self._connection.execute(
            "UPDATE note SET mtime_ns = ?, indexed_ns = ? WHERE path = ?",
            (now.st_mtime_ns, time.time_ns(), path),
        )
        return False

    def _prepare(self, path: str) -> PreparedNote | tuple[FileState, str] | None:
        try:
            state, data = _read(self._vault, path)
        except FileNotFoundError:
            return None
        except (OSError, BadInputError) as error:
            return FileState(path, 0, 0, 0, ""), str(error)
        try:
            note = read_note(path, data)
        except BadInputError as error:
            return state, error.reason
        return prepare(state, note.metadata, build_entries(path, note))

    def _write(self, path: str, prepared: PreparedNote | tuple[FileState, str] | None) -> bool:
        if prepared is None:
            return delete_note(self._connection, path) > 0
        if isinstance(prepared, PreparedNote):
            return write_note(self._connection, prepared) > 0
        state, reason = prepared
        _log.warning("note not indexed", path=path, reason=reason)
        write_failure(self._connection, state, reason)
        return True

    def _write_all(self, paths: Sequence[str]) -> None:
        """Write many notes, some hundreds of chunks a transaction."""
        held: list[tuple[str, PreparedNote | tuple[FileState, str] | None]] = []
        chunks = 0
        for path in paths:
            prepared = self._prepare(path)
            held.append((path, prepared))
            chunks += len(prepared.entries) if isinstance(prepared, PreparedNote) else 1
            if chunks >= _CHUNKS_A_TRANSACTION:
                self._flush(held)
                held, chunks = [], 0
        self._flush(held)

    def _flush(
        self, held: Sequence[tuple[str, PreparedNote | tuple[FileState, str] | None]]
    ) -> None:
        with immediate(self._connection):
            for path, prepared in held:
                self._write(path, prepared)

    def _failures(self, paths: Sequence[str]) -> tuple[NoteFailure, ...]:
        rows = self._connection.execute("SELECT path, error FROM note WHERE error IS NOT NULL")
        return tuple(NoteFailure(path, error) for path, error in rows if path in set(paths))

    def _forget_unused_vectors(self) -> None:
        """Drop vectors of text that no chunk holds any more."""
        self._connection.execute(
            "DELETE FROM embedding WHERE content_hash NOT IN (SELECT content_hash FROM chunk)"
        )


def _vault_files(vault: Path) -> Iterator[str]:
    """Yield the Markdown files of a vault; hidden folders and links are not entered."""
    for folder, names, files in os.walk(vault):
        names[:] = [name for name in names if not name.startswith(".")]
        for name in files:
            if name.endswith(".md") and not name.startswith("."):
                path = (Path(folder) / name).relative_to(vault).as_posix()
                if path not in NOT_INDEXED and not (vault / path).is_symlink():
                    yield path


def _read(vault: Path, path: str) -> tuple[FileState, bytes]:
    """Return a file's state and content, read through one descriptor without following links."""
    descriptor = os.open(vault / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        seen_ns = time.time_ns()
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise BadInputError(path, "is not a regular file")
        if info.st_size > MAX_FILE_BYTES:
            raise BadInputError(path, f"is larger than {MAX_FILE_BYTES} bytes")
        data = file.read(MAX_FILE_BYTES + 1)
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return FileState(path, info.st_size, info.st_mtime_ns, seen_ns, digest), data


def _hash_file(path: Path) -> str:
    """Return the hash of a file's content; empty, and so different, when it cannot be read."""
    hasher = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                hasher.update(block)
    except OSError:
        return ""
    return hasher.hexdigest()
