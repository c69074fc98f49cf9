"""Transcripts that hooks handed over: the engine collects each by itself, as soon as it is there.

A hook leaves one file a session in `state/spool`. It is taken up under another name, so that the
next hand-over of the same session is not lost, and counted, so that a transcript that kills its
reader is given up at last: `context-engine ingest claude` still finds it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import orjson

from connectors.registry import load
from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.settings import Settings
from workers.collector import collect, read_options
from workers.outbox import Outbox
from workers.refill import refill_ledger

POLL_SECONDS = 0.5
RETRY_SECONDS = 30.0
SOURCE = "claude"
_NEXT_NAME = {".json": ".try1", ".try1": ".try2", ".try2": ".try3", ".try3": ".given-up"}

log = get_logger(__name__)


def spool(home: Home) -> Path:
    """Return the folder where hooks leave what they hand over."""
    return home.state / "spool"


def follow_spool(settings: Settings, outbox: Outbox, stop: threading.Event) -> None:
    """Collect what is handed over until told to stop."""
    pause = 0.0
    while not stop.wait(pause):
        pause = POLL_SECONDS if try_spool(settings, outbox) else RETRY_SECONDS


def try_spool(settings: Settings, outbox: Outbox) -> bool:
    """Collect what was handed over; returns False, and says why in the log, when that fails."""
    try:
        collect_spool(settings, outbox)
    except (ContextEngineError, OSError) as error:
        log.warning("hand-over waits", reason=str(error))
    except Exception:
        log.exception("hand-over failed, goes on")
    else:
        return True
    return False


def collect_spool(settings: Settings, outbox: Outbox) -> int:
    """Collect every transcript that was handed over; returns how many.

    Raises as `collect` does; what was not finished is tried again, three times in all.
    """
    taken = 0
    for file in _waiting(settings.paths):
        attempt = file.replace(file.with_suffix(_NEXT_NAME[file.suffix]))
        if attempt.suffix == ".given-up":
            log.error("a transcript is given up", place=str(_transcript(attempt)))
            continue
        transcript = _transcript(attempt)
        if transcript is not None:
            if not taken:
                refill_ledger(settings.paths, outbox)
            report = collect(
                load(SOURCE),
                [transcript],
                outbox,
                read_options(settings),
                redaction=settings.redaction_options,
            )
            log.info("transcript taken over", place=str(transcript), new=report.new)
            taken += 1
        attempt.unlink(missing_ok=True)
    return taken


def waiting_transcripts(home: Home) -> int:
    """Return how many sessions hooks have handed over that are not collected yet."""
    return sum(1 for _ in _waiting(home))


def given_up(home: Home) -> tuple[str, ...]:
    """Return the files of hand-overs that failed three times, for a person to look at."""
    return tuple(str(file) for file in sorted(spool(home).glob("*.given-up")))


def _waiting(home: Home) -> Iterator[Path]:
    folder = spool(home)
    if folder.is_dir():
        yield from sorted(file for file in folder.iterdir() if file.suffix in _NEXT_NAME)


def _transcript(file: Path) -> Path | None:
    """Return the transcript that a hook named; None when it named none that can be read."""
    try:
        given = orjson.loads(file.read_bytes())
        place = Path(given["transcript_path"])
    except (ValueError, TypeError, KeyError):
        return None
    if "\0" in str(place) or place.suffix != ".jsonl" or not place.is_absolute():
        return None
    return place if place.is_file() else None
