"""Where everything lies below CE_HOME. The only place that knows these paths."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from context_engine.home_format import claim
from context_engine.scopes import Scope


@dataclass(frozen=True)
class Home:
    """Paths of one home. Nothing is created until `create` is called."""

    root: Path

    @property
    def config_file(self) -> Path:
        """Settings, written by a person."""
        return self.root / "config.toml"

    @property
    def state(self) -> Path:
        """All that can be deleted and rebuilt (outbox excepted while it holds pending events)."""
        return self.root / "state"

    @property
    def outbox(self) -> Path:
        """SQLite file of events and jobs."""
        return self.state / "outbox.db"

    @property
    def broker(self) -> Path:
        """Data directory of the embedded broker."""
        return self.state / "broker"

    @property
    def downloads(self) -> Path:
        """Files of sources until they are read."""
        return self.state / "downloads"

    @property
    def models(self) -> Path:
        """Converted embedding models."""
        return self.state / "models"

    @property
    def logs(self) -> Path:
        """Structured logs, one file a component."""
        return self.state / "logs"

    @property
    def locks(self) -> Path:
        """Lock files between our own processes; empty, never a source of truth."""
        return self.state / "locks"

    @property
    def audit_log(self) -> Path:
        """One line a request."""
        return self.state / "audit.jsonl"

    @property
    def metrics(self) -> Path:
        """Counts and points of the charts; derived."""
        return self.state / "metrics.sqlite"

    @property
    def routines(self) -> Path:
        """History of the routines."""
        return self.state / "routines.sqlite"

    @property
    def tokens(self) -> Path:
        """Hashed client tokens."""
        return self.state / "tokens.json"

    @property
    def keys(self) -> Path:
        """What must outlive `state`: the key of the seals, and the tombstones."""
        return self.root / "keys"

    @property
    def vaults(self) -> Path:
        """Parent of the three vaults."""
        return self.root / "vault"

    def vault(self, scope: Scope) -> Path:
        """Root of one vault."""
        return self.vaults / scope.value

    def index(self, scope: Scope) -> Path:
        """SQLite index file of one scope."""
        return self.state / "index" / f"{scope.value}.db"

    def create(self) -> None:
        """Create the folders, readable by the owner alone.

        Raises NewerHomeError for a home that a newer program wrote.
        """
        folders = [self.state, self.state / "index", self.models, self.logs, self.vaults]
        folders += [self.vault(scope) for scope in Scope]
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        claim(self.root)
        for folder in folders:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_private(folder: Path) -> None:
    """Create `folder` and what is missing above it, each for the owner alone.

    `mkdir(parents=True, mode=…)` gives the mode to the last one only.
    """
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
