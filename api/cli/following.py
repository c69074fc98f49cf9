"""`ingest --follow`: staying on until a person, or the machine's service manager, ends it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from api.cli.common import say
from connectors.base import Connector, FollowedConnector
from context_engine.errors import UsageError


def check_follow(connector: Connector, *, dry_run: bool) -> None:
    """Raise UsageError when there is nothing that a connector could follow."""
    if dry_run:
        raise UsageError("--dry-run says what is there now; it cannot follow what happens")
    if not isinstance(connector, FollowedConnector):
        raise UsageError(f"{connector.name} cannot be followed; run it again now and then")


@contextmanager
def until_interrupted(what: str) -> Iterator[None]:
    """Take Ctrl-C and SIGTERM inside the block for its end, and no failure."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    say(f"following {what}; Ctrl-C ends it")
    try:
        yield
    except KeyboardInterrupt:
        say("no longer following; what came in is being finished")
    finally:
        signal.signal(signal.SIGTERM, before)
