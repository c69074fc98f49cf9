"""The check of the seals: whether what was validated still counts."""

from __future__ import annotations

from api.doctor.model import Check, bad, good
from context_engine.errors import ConfigError
from context_engine.scopes import Scope
from context_engine.secretkey import read_key
from context_engine.settings import Settings
from vault.insight_files import files_with
from vault.paths import vault_root
from vault.seals import SEAL


def seals(settings: Settings) -> Check:
    """Look whether the key is there by which insights were validated."""
    home = settings.paths
    try:
        key = read_key(home)
    except ConfigError as error:
        return bad("seals", str(error), "context-engine review reseal")
    if key is not None:
        return good("seals", "the key of the seals is there")
    signs = (f"\n{SEAL}: ".encode(), f" {SEAL}=".encode())
    for scope in Scope:
        sealed = files_with(vault_root(home, scope), lambda data: any(s in data for s in signs))
        if next(sealed, None) is not None:
            return bad(
                "seals",
                "insights were validated by a key that is not here, and count as raw",
                f"put {home.keys} back from a backup, or: context-engine review reseal --all",
            )
    return good("seals", "nothing is validated yet")
