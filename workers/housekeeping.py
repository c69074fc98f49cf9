"""What a home needs when the engine starts, and again when its identity changes."""

from __future__ import annotations

from context_engine.errors import BadInputError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from vault.identity import create_identity, project_identity
from vault.layout import IDENTITY, PROFILE
from vault.store import clean_leftovers

log = get_logger(__name__)


def open_home(home: Home) -> None:
    """Create what is missing, remove what a killed writer left, project the identity."""
    home.create()
    clean_leftovers(home)
    create_identity(home)
    follow_identity(home)


def follow_identity(home: Home) -> None:
    """Write the projections of the identity for work and public anew, where it changed.

    An identity that cannot be read leaves them as they are.
    """
    try:
        projections = project_identity(home)
    except BadInputError as error:
        log.warning("identity not projected", place=error.place, reason=error.reason)
        return
    for projection in projections:
        if projection.changed:
            log.info("identity projected", path=projection.path, conflict=projection.conflict)


def is_identity(scope: Scope, path: str) -> bool:
    """Return whether a file is the identity or what was made of it, which nobody else may write."""
    return path == (IDENTITY if scope is Scope.PERSONAL else PROFILE)
