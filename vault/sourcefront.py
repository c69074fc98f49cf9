"""Front matter of source notes: made once, then changed entry by entry as the document grows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from context_engine.clock import isoformat
from context_engine.events import Ref, SourceDocument
from context_engine.redaction import redact
from vault.escape import one_line
from vault.frontmatter import render
from vault.notefile import text_in, time_in

TITLE_LIMIT = 200
_URL_LIMIT = 2_000
_WORD_LIMIT = 500
_META_LIMIT = 40
_REFS_BYTES = 24_000
"""Front matter above 64 KB could not be read back; a session may touch thousands of files."""


def title_of(document: SourceDocument) -> str:
    """Return the document's title as the note shows it."""
    return one_line(redact(document.title).text, TITLE_LIMIT) or document.source


def new_front(document: SourceDocument, title: str) -> dict[str, Any]:
    """Return the entries of a new source note, in their order, without `content_hash`."""
    return {
        "type": "source",
        "id": document.document_id,
        "source": document.source,
        "title": title,
        "scope": document.scope.value,
        "project": _word(document.project),
        "url": _url(document.url),
        "part": document.part,
        "started": started(document),
        "updated": newest(document),
        "refs": merged_refs([], document.refs),
        "meta": _meta({}, document),
    }


def front_changes(front: Mapping[str, Any], document: SourceDocument) -> dict[str, Any]:
    """Return the entries that `document` changes in a note's front matter, title left out.

    What a person filled in is kept: project and url are only set where there was none.
    """
    wanted = {
        "project": text_in(front, "project") or _word(document.project),
        "url": text_in(front, "url") or _url(document.url),
        "started": _earliest(time_in(front, "started"), started(document)),
        "updated": _latest(time_in(front, "updated"), newest(document)),
        "refs": merged_refs(front.get("refs"), document.refs),
        "meta": _meta(front.get("meta"), document) if is_newer(front, document) else None,
    }
    return {
        key: isoformat(value) if isinstance(value, datetime) else value
        for key, value in wanted.items()
        if value and front.get(key) != value
    }


def is_newer(front: Mapping[str, Any], document: SourceDocument) -> bool:
    """Tell whether `document` is at least as recent as what the note holds."""
    if document.revision:
        # it says what changed since, however old the messages are that it did so to
        return True
    known, new = time_in(front, "updated"), newest(document)
    return known is None or (new is not None and new.replace(microsecond=0) >= known)


def newest(document: SourceDocument) -> datetime | None:
    """Return the time of the latest message."""
    times = [utterance.at for utterance in document.utterances if utterance.at]
    return max(times, default=document.started)


def merged_refs(known: Any, refs: Iterable[Ref]) -> list[dict[str, Any]]:
    """Return the places touched, each once, as far as they fit; a known one keeps its place."""
    merged = {_ref_key(item): item for item in known or () if isinstance(item, dict)}
    for ref in refs:
        item = {"repo": _word(ref.repo), "path": _word(ref.path), "commit": _word(ref.commit)}
        if ref.commit or _ref_key(item) not in merged:
            merged[_ref_key(item)] = item
    return _within_budget(list(merged.values()))


def _within_budget(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    size, kept = 0, []
    for item in items:
        size += len(render({"ref": item}).encode())
        if size > _REFS_BYTES:
            break
        kept.append(item)
    return kept


def _ref_key(item: Mapping[str, Any]) -> tuple[str, str]:
    return str(item.get("repo")), str(item.get("path"))


def _meta(known: Any, document: SourceDocument) -> dict[str, Any]:
    merged = dict(known) if isinstance(known, dict) else {}
    merged |= {one_line(key, 60): _word(value) or "" for key, value in document.meta.items()}
    return dict(list(merged.items())[:_META_LIMIT])


def _word(text: str | None) -> str | None:
    return one_line(redact(text).text, _WORD_LIMIT) or None if text else None


def _url(url: str | None) -> str | None:
    # a cut address leads nowhere
    plain = one_line(redact(url).text, _URL_LIMIT) if url and len(url) <= _URL_LIMIT else None
    return plain or None


def started(document: SourceDocument) -> datetime | None:
    """Return when the document began: as its source says, else its earliest message here."""
    times = [utterance.at for utterance in document.utterances if utterance.at]
    return document.started or min(times, default=None)


def _earliest(one: datetime | None, two: datetime | None) -> datetime | None:
    return min((time for time in (one, two) if time), default=None)


def _latest(one: datetime | None, two: datetime | None) -> datetime | None:
    return max((time for time in (one, two) if time), default=None)
