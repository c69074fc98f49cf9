"""What a job came to, in words. With `--json` a receipt gives it as it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from api.cli.common import plural
from workers.findable import FOUND, IMPROVED, NOT_FOUND

_SUMMARIES = {
    FOUND: "found by its summary",
    IMPROVED: "its summary was improved",
    NOT_FOUND: "not found by its summary",
}


def came_to(queue: str, result: Mapping[str, Any]) -> str:
    """Return what a job of `queue` came to, "" when it tells nothing."""
    if result.get("forgotten"):
        return "forgotten"
    words = _WORDS.get(queue, _counted)(result)
    return ", ".join(part for part in words if part)


def reason_in_words(reason: str) -> str:
    """Return why a job waits or failed; a dependency that its own message names is said once."""
    name, _, rest = reason.partition(": ")
    return rest if rest.startswith(f"{name} ") else reason


def _ingested(result: Mapping[str, Any]) -> list[str]:
    place = f"{result.get('scope')}/{result.get('path')}"
    return [f"{plural(result.get('added', 0), 'message')} added to {place}"]


def _extracted(result: Mapping[str, Any]) -> list[str]:
    kinds = result.get("insights", {})
    found = _counted(kinds)
    told = f" ({', '.join(found)})" if found else ""
    by = f" by {result['extractor']}" if result.get("extractor") else ""
    memory = _counted(result.get("memory", {}))
    left = [
        f"{name} {count}"
        for name, count in result.get("outcomes", {}).items()
        if count and name != "accepted"
    ]
    return [
        f"{plural(sum(kinds.values()), 'insight')}{told}{by}",
        f"in the memory: {' · '.join(memory)}" if memory else "",
        f"besides: {' · '.join(left).replace('_', ' ')}" if left else "",
    ]


def _indexed(result: Mapping[str, Any]) -> list[str]:
    return [
        plural(result.get("chunks") or 0, "chunk"),
        _SUMMARIES.get(result.get("summary") or "", ""),
    ]


def _counted(result: Mapping[str, Any]) -> list[str]:
    return [f"{str(name).replace('_', ' ')} {count}" for name, count in result.items() if count]


_WORDS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "ingest": _ingested,
    "extract": _extracted,
    "index": _indexed,
}
