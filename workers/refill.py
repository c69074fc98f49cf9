"""After `state/` was deleted: learn from the vault which messages it holds already."""

from __future__ import annotations

from context_engine.home import Home
from context_engine.logs import get_logger
from vault.sources import known_utterances
from workers.outbox import Outbox

_DONE = "ledger_refilled"

log = get_logger(__name__)


def refill_ledger(home: Home, outbox: Outbox) -> None:
    """Make a fresh outbox remember what the vault's source notes hold; once per outbox.

    Without it a full export read again would add what is there under another file's name.
    """
    if outbox.meta(_DONE) is not None:
        return
    outbox.remember_markers(known_utterances(home))
    outbox.set_meta(_DONE, "1")
    log.info("ledger refilled from the vault")
