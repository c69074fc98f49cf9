"""Whether a name is that of the vault's owner."""

from __future__ import annotations

import unicodedata

UNSET = "owner"
"""What the owner is called until the settings say otherwise: nobody's name."""


def name_key(name: str) -> str:
    """Return `name` as it is compared: width and case do not count."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def is_owner(name: str, owner_name: str) -> bool:
    """Say whether a source's `name` is exactly the owner's; never while the owner has no name."""
    wanted = name_key(owner_name)
    return bool(wanted) and wanted != UNSET and name_key(name) == wanted
