"""A thread that lives as long as a block."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOP_SECONDS = 10
"""How long the end of the block waits for the thread."""


@contextmanager
def in_background(loop: Callable[[threading.Event], None]) -> Iterator[None]:
    """Run `loop` beside the block; it is to return soon after its event is set."""
    stop = threading.Event()
    thread = threading.Thread(target=loop, args=(stop,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=STOP_SECONDS)
