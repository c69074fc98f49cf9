"""The jobs of the index queue: one file, or a whole vault."""

from __future__ import annotations

from context_engine.scopes import Scope
from workers.broker import INDEX
from workers.outbox_model import NewJob


def index_job(scope: str, path: str) -> NewJob:
    """Return the job that brings the index up to date with one file."""
    key = f"{INDEX}:{scope}:{path}"
    return NewJob(INDEX, key, {"scope": scope, "path": path}, lane=key, repeatable=True)


def reindex_job(scope: Scope, *, rebuild: bool) -> NewJob:
    """Return the job that compares a whole vault with its index, or builds the index anew."""
    key = f"reindex:{scope.value}:{'rebuild' if rebuild else 'scan'}"
    arguments = {"scope": scope.value, "path": None, "rebuild": rebuild}
    return NewJob(INDEX, key, arguments, lane=key, repeatable=True)
