"""The one writer of an index: follows the vault and keeps it findable.

By keyword at once, by meaning in a second step.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from context_engine.errors import (
    AlreadyRunningError,
    BadInputError,
    ContextEngineError,
    IndexCorruptError,
    IndexMismatchError,
    NotFoundError,
    UnsafePathError,
)
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from context_engine.secretkey import key_fingerprint
from context_engine.sqlite import immediate
from index.cells import tend
from index.chunking import CHUNKER
from index.embedding.base import Embedder
from index.entries import build_entries
from index.pending import EmbedReport, embed_waiting, waiting
from index.reading import read_text
from index.schema import (
    damage_reported,
    locked,
    number,
    open_for_writing,
    read_meta,
    write_meta,
)
from index.store import (
    FileState,
    PreparedNote,
    delete_note,
    prepare,
    write_failure,
    write_note,
)
from index.tokenize import TOKENIZER
from vault.layout import IDENTITY, PROFILE
from vault.listing import NoteFile
from vault.notes import NoteType, read_note, scan_notes

_SEALS = "seals"
"""Key of the fingerprint by whose seals confidences were read."""
_CHUNKS_A_TRANSACTION = 1_000
_RACY_NS = 2_000_000_000
"""A file written this shortly before it was read may change again under the same mtime."""

_log = get_logger(__name__)

_Prepared = PreparedNote | tuple[FileState, str] | None


@dataclass(frozen=True)
class _Known:
    """A file as it was when it was indexed."""

    size: int
    mtime_ns: int
    indexed_ns: int
    hash: str


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
    unfinished: bool = False
    """Whether more files changed than this scan was allowed to take."""


class IndexWriter:
    """Writes the index of one scope. Use as a context manager, from one thread at a time.

    `embedder` None means keyword search only. `path` is for building an index beside the one
    in use. Entering raises AlreadyRunningError when another writer has the index, and
    IndexCorruptError when the file is damaged.
    """

    def __init__(
        self, home: Home, scope: Scope, embedder: Embedder | None, *, path: Path | None = None
    ) -> None:
        self._home, self._scope = home, scope
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
            self._open()
            self._stack.callback(self._close)
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
    def waiting(self) -> int:
        """How many chunks wait for a vector."""
        return waiting(self._connection)

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
        self._require_match("chunker", "tokenizer")
        prepared = self._prepare(path)
        with damage_reported(self._path), immediate(self._connection):
            return self._write(path, prepared)

    def chunk_count(self, path: str) -> int:
        """Return how many chunks the vault file `path` is cut into."""
        query = "SELECT count(*) FROM chunk JOIN note ON note.id = chunk.note WHERE note.path = ?"
        return number(self._connection, query, (path,))

    def remove_note(self, path: str) -> bool:
        """Take the vault file `path` out of the index; return whether it was there."""
        with damage_reported(self._path), immediate(self._connection):
            known = self._known(path) is not None
            delete_note(self._connection, path)
            return known

    def scan(self, limit: int | None = None) -> ScanReport:
        """Compare the whole vault with the index and follow it, in at most `limit` new files."""
        self._require_match("chunker", "tokenizer")
        with damage_reported(self._path):
            self._doubt_other_seals()
            known = dict(self._connection.execute("SELECT path, id FROM note"))
            found = [file for file in scan_notes(self._home, self._scope) if _is_indexed(file.path)]
            differing = [file.path for file in found if self._differs(file)]
            changed = differing[:limit]
            self._write_all(changed)
            removed = sorted(known.keys() - {file.path for file in found})
            for path in removed:
                self.remove_note(path)
            if changed or removed:
                self._forget_unused_vectors()
            failed = self._failures(changed)
        indexed = tuple(path for path in changed if path not in {item.path for item in failed})
        return ScanReport(
            indexed,
            tuple(removed),
            failed,
            unchanged=len(found) - len(differing),
            unfinished=len(differing) > len(changed),
        )

    def embed_pending(self, limit: int = 256) -> EmbedReport:
        """Give up to `limit` waiting chunks their vector.

        Raises DependencyDownError when the embedder cannot work now, and IndexMismatchError
        when the index holds another model's vectors.
        """
        if self._embedder is None:
            return EmbedReport(0, 0, waiting(self._connection))
        self._require_match("embedder")
        with damage_reported(self._path):
            return embed_waiting(self._connection, self._embedder, limit)

    def tend(self) -> bool:
        """Do a bounded piece of grouping vectors where it is due; return whether more is to do.

        Embedding does it by itself, a piece a call.
        """
        with damage_reported(self._path):
            return tend(self._connection)

    def adopt_vectors(self, other: Path) -> None:
        """Take over the vectors that the index at `other`, of the same model, knows."""
        self._connection.execute("ATTACH ? AS other", (str(other),))
        try:
            self._connection.execute(
                "INSERT OR IGNORE INTO main.embedding SELECT * FROM other.embedding"
            )
        finally:
            self._connection.execute("DETACH other")

    def check(self) -> None:
        """Look through the whole file; raises IndexCorruptError when it is damaged."""
        with damage_reported(self._path):
            found = self._connection.execute("PRAGMA quick_check(1)").fetchall()[0][0]
            self._connection.execute("INSERT INTO lexical (lexical) VALUES ('integrity-check')")
        if found != "ok":
            raise IndexCorruptError(str(self._path), str(found))

    def exchanged(self, exchange: Callable[[], None]) -> None:
        """Let go of the file while `exchange` puts another in its place, then go on with that."""
        self._close()
        try:
            exchange()
        finally:
            self._open()

    def _open(self) -> None:
        self._connection = open_for_writing(self._path)
        with damage_reported(self._path):
            self._identify()

    def _close(self) -> None:
        self._connection.close()

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

    def _require_match(self, *keys: str) -> None:
        differing = [text for text in self.mismatches if text.startswith(keys)]
        if differing:
            raise IndexMismatchError(
                f"{self._path} was built differently ({'; '.join(differing)}); "
                "rebuild it with: context-engine reindex --rebuild"
            )

    def _doubt_other_seals(self) -> None:
        """Have insights read again when the key of their seals is another: files do not show it."""
        key = key_fingerprint(self._home)
        if read_meta(self._connection).get(_SEALS) == key:
            return
        with immediate(self._connection):
            self._connection.execute(
                "UPDATE note SET size = -1 WHERE kind IS NOT NULL OR type IN (?, ?)",
                (NoteType.PROJECT.value, NoteType.PERSON.value),
            )
            write_meta(self._connection, **{_SEALS: key})

    def _known(self, path: str) -> _Known | None:
        row = self._connection.execute(
            "SELECT size, mtime_ns, indexed_ns, hash FROM note WHERE path = ?", (path,)
        ).fetchone()
        return None if row is None else _Known(*row)

    def _differs(self, file: NoteFile) -> bool:
        """Compare size and mtime, and the content where these cannot tell."""
        known = self._known(file.path)
        if known is None or file.size != known.size:
            return True
        settled = known.indexed_ns - known.mtime_ns > _RACY_NS
        if file.mtime_ns == known.mtime_ns and settled:
            return False
        seen_ns = time.time_ns()
        try:
            digest = read_note(self._home, self._scope, file.path).digest
        except ContextEngineError:
            return True
        if digest != known.hash:
            return True
        self._connection.execute(
            "UPDATE note SET mtime_ns = ?, indexed_ns = ? WHERE path = ?",
            (file.mtime_ns, seen_ns, file.path),
        )
        return False

    def _prepare(self, path: str) -> _Prepared:
        """Return the note to write, a failure to remember, or None for a file to take out."""
        seen_ns = time.time_ns()
        if not _is_indexed(path):
            return None
        try:
            note = read_note(self._home, self._scope, path)
        except NotFoundError:
            return None
        except (BadInputError, UnsafePathError) as error:
            return FileState(path, -1, 0, seen_ns, ""), error.reason
        state = FileState(path, note.size, note.mtime_ns, seen_ns, note.digest)
        text = read_text(note)
        return prepare(state, text.metadata, build_entries(path, text))

    def _write(self, path: str, prepared: _Prepared) -> bool:
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
        held: list[tuple[str, _Prepared]] = []
        chunks = 0
        for path in paths:
            prepared = self._prepare(path)
            held.append((path, prepared))
            chunks += len(prepared.entries) if isinstance(prepared, PreparedNote) else 1
            if chunks >= _CHUNKS_A_TRANSACTION:
                self._flush(held)
                held, chunks = [], 0
        self._flush(held)

    def _flush(self, held: Sequence[tuple[str, _Prepared]]) -> None:
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


def _is_indexed(path: str) -> bool:
    """Tell whether a note is searched: the identity is returned whole, its projection too."""
    return path not in (IDENTITY, PROFILE)
