"""Which pull request, issue, discussion or commit a record of GitHub's belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connectors.text import clean_text, shorten

_PLACE = re.compile(
    r"(https?://[^/\s?#]{1,200})/(?:api/v3/)?(?:repos/)?([\w.-]{1,100})/([\w.-]{1,100})"
    r"/(pulls?|issues|discussions|commits?)/(\d{1,12}|[0-9a-f]{7,64})(?![\w])"
)
_API = re.compile(r"^https?://api\.")


@dataclass(frozen=True, slots=True)
class Thread:
    """A pull request, issue, discussion or commit. `title` is empty where only its id is told."""

    native_id: str
    repo: str
    label: str
    url: str
    title: str = ""


def thread_of(record: Mapping[str, Any]) -> Thread | None:
    """Return the thread that a record's addresses tell, or None."""
    keys = ("html_url", "pull_request_url", "issue_url", "url")
    for address in (record.get(key) for key in keys):
        match = _PLACE.search(address[:1000]) if isinstance(address, str) else None
        if match:
            return _thread(match, record)
    return None


def _thread(match: re.Match[str], record: Mapping[str, Any]) -> Thread:
    host, owner, name, kind, number = match.groups()
    host = _API.sub("https://", host)
    repo = f"{owner}/{name}"
    title = record.get("title")
    kind = kind.removesuffix("s") if kind != "issues" else "issues"
    if kind == "commit":
        label, path = f"{repo}@{number[:8]}", f"commit/{number}"
    elif kind == "discussion":
        label, path = f"{repo} discussion {number}", f"discussions/{number}"
    else:
        label, path = f"{repo}#{number}", f"{kind}/{number}"
    # the kind counts only where numbers of two kinds may meet: issues and pulls share theirs
    shared = "" if kind in {"issues", "pull"} else f"{kind}/"
    return Thread(
        native_id=f"{repo.lower()}/{shared}{number}",
        repo=repo,
        label=label,
        url=f"{host}/{repo}/{path}",
        title=shorten(clean_text(title), 120) if isinstance(title, str) else "",
    )
