"""Running one job: the attempt before it, the outcome after it, whatever happens between."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from typing import TypeVar

import apsw
import structlog
from pydantic import ValidationError

from context_engine.errors import (
    BadInputError,
    ContextEngineError,
    DeadlineExceededError,
    DependencyDownError,
    LLMOutputError,
    UnsafePathError,
)
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.metrics import count, observe
from context_engine.scopes import Scope
from vault.paths import vault_root
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome

DISK = "disk"
"""Dependency name of a disk that is full, read-only, or not ours to write on."""

log = get_logger(__name__)

T = TypeVar("T")


def run_job(
    outbox: Outbox,
    worker_id: str,
    message: tuple[int, str],
    work: Callable[[Job], Outcome],
    *,
    max_attempts: int,
) -> None:
    """Run the job that `message` (job id, key) names, unless somebody did or does already.

    Never raises for anything the job does: each end is recorded in the outbox.
    """
    job = _persist(lambda: outbox.start(*message, worker_id, max_attempts=max_attempts))
    if job is None:
        return
    bound = structlog.contextvars.bound_contextvars(
        job_id=job.job_id, job=job.key, event_id=job.event_id
    )
    with bound:
        _attempt(outbox, job, work, max_attempts)


def _attempt(outbox: Outbox, job: Job, work: Callable[[Job], Outcome], max_attempts: int) -> None:
    started = time.monotonic()
    try:
        outcome = work(job)
        observe("job_seconds", time.monotonic() - started, queue=job.queue)
        _persist(lambda: _record(outbox, job, outcome))
    except DependencyDownError as error:
        _set_aside(outbox, job, error)
    except (BadInputError, UnsafePathError, ValidationError) as error:
        # no retry mends it
        _give_up(outbox, job, "bad_input", error, 1)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is recorded
        if _disk_trouble(error):
            _set_aside(outbox, job, DependencyDownError(DISK, str(error)))
        else:
            _give_up(outbox, job, classify(error), error, max_attempts)


def _set_aside(outbox: Outbox, job: Job, down: DependencyDownError) -> None:
    _persist(lambda: outbox.wait_for(job, down))
    count("jobs_total", queue=job.queue, outcome="waits")
    log.warning("job waits", dependency=down.dependency, reason=down.reason)


def _give_up(outbox: Outbox, job: Job, error_class: str, error: Exception, limit: int) -> None:
    reason = f"{type(error).__name__}: {error}"[:2000]
    final = _persist(lambda: outbox.fail(job, error_class, reason, max_attempts=limit))
    count("jobs_total", queue=job.queue, outcome=error_class)
    log.warning("job failed", error_class=error_class, quarantined=final, exc_info=error)


def _record(outbox: Outbox, job: Job, outcome: Outcome) -> None:
    if outcome.waits_for is not None:
        outbox.wait_for(job, outcome.waits_for, outcome)
        count("jobs_total", queue=job.queue, outcome="waits")
    else:
        outbox.finish(job, outcome)
        count("jobs_total", queue=job.queue, outcome="done")


def classify(error: Exception) -> str:
    """Return the class under which a failure is counted and quarantined."""
    if isinstance(error, DeadlineExceededError):
        return "timeout"
    if isinstance(error, LLMOutputError):
        return error.outcome
    if isinstance(error, ContextEngineError):
        return "refused"
    return "error"


def _disk_trouble(error: Exception) -> bool:
    if isinstance(error, (apsw.FullError, apsw.ReadOnlyError)):
        return True
    return isinstance(error, OSError) and error.errno in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        # a vault whose rights somebody changed for a moment
        errno.EACCES,
        errno.EPERM,
    )


def disk_is_writable(home: Home) -> bool:
    """Return whether a file of a megabyte can be written durably, and the vaults' folders be."""
    roots = [root for scope in Scope if (root := vault_root(home, scope)).exists()]
    if not all(os.access(root, os.W_OK | os.X_OK) for root in roots):
        return False
    probe = home.state / "disk.probe"
    try:
        with probe.open("wb") as file:
            file.write(b"\0" * 1_000_000)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)
    return True


def _persist(action: Callable[[], T]) -> T:
    """Retry while the outbox cannot be written: forgetting an outcome would lose or repeat work."""
    pause = 0.1
    while True:
        try:
            return action()
        except (apsw.BusyError, apsw.FullError, apsw.IOError, apsw.ReadOnlyError) as error:
            log.error("outbox cannot be written, trying again", error=str(error))  # noqa: TRY400 - repeated
            time.sleep(pause)
            pause = min(pause * 2, 10.0)
