"""When an insight was saved first: saving it again must not make it look new."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from context_engine.errors import BadInputError, NotFoundError, UnsafePathError
from context_engine.home import Home
from context_engine.insights import Insight


def first_saved(home: Home, insight: Insight) -> datetime | None:
    """Return the time at which the vault holds this very insight already, else None."""
    from vault.layout import INBOX, KIND_FOLDERS, SECTION_KINDS
    from vault.subjects import subject_name

    subject = subject_name(insight) if insight.kind in SECTION_KINDS else ""
    with suppress(NotFoundError, BadInputError, UnsafePathError):
        if subject:
            return _in_subject(home, insight, subject)
        folder = INBOX if insight.kind in SECTION_KINDS else KIND_FOLDERS[insight.kind]
        return _in_note(home, insight, folder)
    return None


def _in_note(home: Home, insight: Insight, folder: str) -> datetime | None:
    from vault.find import find_note
    from vault.notefile import time_in
    from vault.notes import read_note
    from vault.paths import vault_root

    path = find_note(vault_root(home, insight.scope), folder, insight.insight_id)
    return time_in(read_note(home, insight.scope, path).front, "created") if path else None


def _in_subject(home: Home, insight: Insight, subject: str) -> datetime | None:
    from vault.notes import read_note
    from vault.paths import vault_root
    from vault.subjects import find_subject

    path = find_subject(vault_root(home, insight.scope), insight.kind, subject)
    entries = read_note(home, insight.scope, path).entries
    return next((entry.at for entry in entries if entry.insight_id == insight.insight_id), None)
