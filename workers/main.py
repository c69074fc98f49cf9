"""The worker parts: `python -P -m workers.main worker` ingests, `… extractor` distils.

Two processes, because a model that takes a minute a job must not hold up the archive.
"""

from __future__ import annotations

import sys
import threading

from context_engine.settings import load_settings
from workers.broker import EXTRACT, INGEST
from workers.extract import OLLAMA, extract_work, llm_is_up
from workers.handover import follow_spool
from workers.ingest import ingest_work
from workers.jobs import DISK, disk_is_writable
from workers.process import Role, serve


def worker_role(threads: int) -> Role:
    """Return the role that writes source notes."""
    return Role(
        name="worker",
        queues=(INGEST,),
        threads=threads,
        works=lambda settings, outbox: {INGEST: ingest_work(settings, outbox)},
        probes=lambda settings: {DISK: lambda: disk_is_writable(settings.paths)},
        background=lambda settings, outbox, stop: (
            threading.Thread(
                target=follow_spool, args=(settings, outbox, stop), name="spool", daemon=True
            ),
        ),
    )


def extractor_role(threads: int) -> Role:
    """Return the role that distils insights."""
    return Role(
        name="extractor",
        queues=(EXTRACT,),
        threads=threads,
        works=lambda settings, outbox: {EXTRACT: extract_work(settings, outbox)},
        probes=lambda settings: {
            DISK: lambda: disk_is_writable(settings.paths),
            OLLAMA: lambda: llm_is_up(settings),
        },
    )


def main(role: str) -> None:
    """Work in `role` until told to stop."""
    settings = load_settings()
    if role == "extractor":
        serve(extractor_role(settings.workers.extract_threads), settings)
    else:
        serve(worker_role(settings.workers.ingest_threads), settings)


if __name__ == "__main__":
    main(sys.argv[1])
