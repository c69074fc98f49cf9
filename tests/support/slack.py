"""An invented Slack workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.sources import write_json

Record = dict[str, Any]

USERS: list[Record] = [
    {
        "id": "U00000AKI",
        "name": "aki",
        "profile": {"display_name": "Aki", "email": "aki@x.example"},
    },
    {"id": "U00000KIM", "name": "kim", "profile": {"display_name": "", "real_name": "Kim 金"}},
    {"id": "U00000BOT", "name": "ci", "is_bot": True, "profile": {"bot_id": "B00000001"}},
]
CHANNELS: list[Record] = [{"id": "C00000GEN", "name": "general"}]
DMS: list[Record] = [{"id": "D00000KIM", "members": ["U00000AKI", "U00000KIM"]}]

FIRST = 1_793_610_000  # 2026-11-02T09:00:00Z


def ts(number: int) -> str:
    """The `ts` of message `number`, one a minute."""
    return f"{FIRST + 60 * number}.{number:06d}"


def message(number: int, text: str = "", user: str = "U00000KIM", **fields: Any) -> Record:
    return {"type": "message", "user": user, "text": text, "ts": ts(number), **fields}


def rich(*elements: Record) -> list[Record]:
    return [{"type": "rich_text", "elements": list(elements)}]


def section(*elements: Record, kind: str = "rich_text_section", **fields: Any) -> Record:
    return {"type": kind, "elements": list(elements), **fields}


def words(text: str, **style: bool) -> Record:
    return {"type": "text", "text": text, **({"style": style} if style else {})}


def export(root: Path, **folders: list[Record]) -> Path:
    """An export whose channels hold these messages, all on one day."""
    write_json(root / "users.json", USERS)
    write_json(root / "channels.json", CHANNELS)
    write_json(root / "dms.json", DMS)
    for folder, messages in folders.items():
        write_json(root / folder / "2026-11-02.json", messages)
    return root
