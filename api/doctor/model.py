"""What a check says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One finding. `fix` is a command (or a sentence) that mends it; a good one may have a hint."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the finding as it is printed."""
        return asdict(self)


def good(name: str, detail: str, hint: str | None = None) -> Check:
    """Return a finding that is well."""
    return Check(name, ok=True, detail=detail, fix=hint)


def bad(name: str, detail: str, fix: str) -> Check:
    """Return a finding that a person should mend."""
    return Check(name, ok=False, detail=detail, fix=fix)
