"""Reading any source the way the engine does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from connectors.base import Connector, ReadOptions
from context_engine.events import Checkpoint, SourceDocument
from support.transcripts import MemoryLedger, Reading, take

AKI = ReadOptions(owner_name="Aki")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=20,
)


def read_source(
    connector: Connector,
    *paths: Path,
    ledger: MemoryLedger | None = None,
    options: ReadOptions = AKI,
) -> Reading:
    """Read `paths`; with a ledger, what each checkpoint covers is committed."""
    reading, ledger = Reading(), ledger or MemoryLedger()
    pending: list[SourceDocument] = []
    for item in connector.read(paths, ledger, options):
        take(reading, item)
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            ledger.commit(pending, item)
            pending = []
    assert pending == [], "every event is covered by a checkpoint"
    return reading


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def mutate(value: Any, data: st.DataObject) -> Any:
    """Return a copy of a JSON value in which a few values are turned into anything."""
    changed = json.loads(json.dumps(value))
    for _ in range(data.draw(st.integers(min_value=1, max_value=3))):
        places = list(_places(changed))
        if places:
            holder, key = data.draw(st.sampled_from(places))
            holder[key] = data.draw(json_values)
    return changed


def _places(value: Any) -> list[tuple[Any, Any]]:
    keys = list(value) if isinstance(value, dict) else []
    keys = list(range(len(value))) if isinstance(value, list) else keys
    return [(value, key) for key in keys] + [place for key in keys for place in _places(value[key])]
