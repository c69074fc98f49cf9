"""The routines as a process of their own: `python -P -m api.routines.keep`, for containers.

It holds the home as `up` does, so that what a run collects is handed over to the workers beside it.
"""

from __future__ import annotations

import signal
import threading

from api.routines.keeper import Keeper
from api.upgrade import upgrade
from context_engine.logs import configure
from context_engine.settings import load_settings
from workers.supervisor import take_home


def main() -> None:
    """Keep the routines until told to stop."""
    settings = load_settings()
    settings.paths.create()
    configure("routines", folder=settings.paths.logs)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with take_home(settings.paths):
        upgrade(settings.paths)
        keeper = Keeper(settings)
        keeper.start()
        stop.wait()
        keeper.stop()


if __name__ == "__main__":
    main()
