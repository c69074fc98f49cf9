"""One way to open SQLite (apsw): WAL, busy timeout, numbered transactional migrations."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from context_engine.errors import ContextEngineError

BUSY_SECONDS = 30.0
"""How long a connection waits for another writer."""


def connect(path: Path, *, readonly: bool = False, durable: bool = False) -> apsw.Connection:
    """Open `path` in WAL mode.

    durable: fsync each commit (survives power loss). Without it a commit survives the death of
    the process, not of the machine.
    """
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if readonly
        else (apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    )
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_handler(_patience())
    if not readonly:
        _use_wal(connection)
        connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        path.chmod(0o600)
    connection.execute("PRAGMA foreign_keys=ON")
    return connection


def _use_wal(connection: apsw.Connection) -> None:
    """Switch to WAL, which processes that open a new file at once do at once.

    SQLite asks no busy handler while the mode changes; so this asks again by itself.
    """
    wait, attempt = _patience(), 0
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except apsw.BusyError:
            if not wait(attempt):
                raise
            attempt += 1
        else:
            return


def _patience() -> Callable[[int], bool]:
    """Return a busy handler that asks again every millisecond or two.

    SQLite's own sleeps up to 100 ms a time, which costs a busy queue most of its throughput.
    """
    begun = 0.0

    def wait(attempt: int) -> bool:
        nonlocal begun
        if attempt == 0:
            begun = time.monotonic()
        time.sleep(random.uniform(0.0002, 0.002))  # noqa: S311 - jitter, no secret
        return time.monotonic() - begun < BUSY_SECONDS

    return wait


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[apsw.Connection]:
    """Run a write transaction that takes the lock at its start, so that it cannot deadlock."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        # a commit that fails (a full disk, a deferred constraint) leaves the transaction open
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def migrate(connection: apsw.Connection, migrations: Sequence[str], *, keep: bool = False) -> None:
    """Bring the schema up to date: migration n (1-based) runs once, in one transaction.

    keep: copy a file that holds something beside itself first, as `<name>.schema<version>`.
    Raises ContextEngineError when the file was written by a newer program.
    """
    version = _user_version(connection)
    if version > len(migrations):
        raise ContextEngineError(
            f"{connection.filename} has schema {version}, this program knows {len(migrations)}: "
            "it was written by a newer version; upgrade this one"
        )
    if version == len(migrations):
        return
    if keep and version > 0:
        _keep_copy(connection, version)
    with immediate(connection):
        # another process may have migrated while we waited for the lock
        for number in range(_user_version(connection) + 1, len(migrations) + 1):
            connection.execute(migrations[number - 1])
            connection.execute(f"PRAGMA user_version={number}")


def _keep_copy(connection: apsw.Connection, version: int) -> None:
    copy = Path(f"{connection.filename}.schema{version}")
    partial = copy.with_name(f"{copy.name}.{random.getrandbits(32):08x}.tmp")
    target = apsw.Connection(str(partial))
    try:
        with target.backup("main", connection, "main") as copying:
            copying.step()
    finally:
        target.close()
    partial.chmod(0o600)
    partial.replace(copy)


def _user_version(connection: apsw.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
    return int(version)
