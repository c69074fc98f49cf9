"""A run as a process of its own: `python -P -m api.routines.process NAME`, started by `up`."""

from __future__ import annotations

import signal
import sys

from api.routines.runner import routine_named, run_routine
from context_engine.logs import configure
from context_engine.settings import load_settings
from workers.supervisor import exit_with_parent


def main(name: str) -> int:
    """Run one routine; exit code 1 when it failed."""
    settings = load_settings()
    settings.paths.create()
    configure("routines", folder=settings.paths.logs)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    exit_with_parent()
    try:
        result = run_routine(settings, routine_named(settings, name))
    except KeyboardInterrupt:
        return 130
    return 1 if result.outcome == "failed" else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
