"""GitHub's JSON: what was said in it, by whom, where. Webhook, REST, Events API and `gh --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from connectors.github_threads import Thread, thread_of
from connectors.markup import fence, without_comments
from connectors.text import clean_text, parse_time, shorten
from context_engine.clock import Clock
from context_engine.events import Ref
from context_engine.markers import strip_injected

Record = Mapping[str, Any]

DEPTH = 4
"""Lists of records inside records that are followed."""

HUNK_LINES = 12
_NAME = 200
_THREADS = ("pull_request", "issue", "discussion")
_CONTAINERS = ("items", "nodes", "comments", "reviews", "latestReviews", "replies")
_NOT_EVENTS = frozenset(
    {"action", "changes", "repository", "sender", "organization", "installation", "enterprise"}
)
_DELETED = "deleted"
_STATES = {
    "approved": "**Approved**",
    "changes_requested": "**Changes requested**",
    "dismissed": "**Review dismissed**",
}


@dataclass(frozen=True, slots=True)
class Comment:
    """Something said in a thread. `stamp` orders its versions as text does."""

    thread: Thread
    native_id: str
    author: str
    by_bot: bool
    at: datetime | None
    stamp: str
    text: str
    deleted: bool = False
    refs: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record, or a part of one, that gave nothing: of an unknown `kind`, or why it is bad."""

    kind: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Around:
    """What a record is said within."""

    thread: Thread | None = None
    action: str = ""
    depth: int = 0


Found = Comment | Unreadable


def comments(record: Record, clock: Clock) -> Iterator[Found]:
    """Yield what was said in one record, what a thread begins with before what is said in it."""
    payload = record.get("payload")
    if isinstance(payload, dict):
        # a logged delivery, or the Events API
        record = payload
    if _is_webhook(record):
        yield from _webhook(record, clock)
    else:
        yield from _object(record, _Around(), clock)


def _is_webhook(record: Record) -> bool:
    return "action" in record or isinstance(record.get("repository"), dict)


def _webhook(record: Record, clock: Clock) -> Iterator[Found]:
    parent = next((record[key] for key in _THREADS if isinstance(record.get(key), dict)), None)
    thread = thread_of(parent) if parent else None
    said = next(
        (
            record[key]
            for key in ("comment", "review", "thread")
            if isinstance(record.get(key), dict)
        ),
        None,
    )
    action = str(record.get("action"))
    if parent and thread:
        yield from _opener(parent, thread, clock, action if said is None else "")
    if said is not None:
        yield from _object(said, _Around(thread, action, depth=1), clock)
    elif not thread:
        kinds = [str(key) for key in record if key not in _NOT_EVENTS]
        yield Unreadable(kind=f"webhook {clean_text(kinds[0])[:40]}" if kinds else "webhook")


def _object(record: Record, around: _Around, clock: Clock) -> Iterator[Found]:
    """Yield what a REST or GraphQL object says: a comment, a review, a thread, a list of them."""
    if _is_thread(record):
        thread = thread_of(record)
        if thread is None:
            yield Unreadable(reason="tells no repository and number")
            return
        yield from _opener(record, thread, clock, around.action)
        around = _Around(thread, depth=around.depth)
    elif _is_comment(record):
        yield from _comment(record, around, clock)
    inside = [each for key in _CONTAINERS for each in _records(record.get(key))]
    if inside and around.depth < DEPTH:
        deeper = _Around(around.thread, around.action, around.depth + 1)
        for each in inside:
            yield from _object(each, deeper, clock)
    elif not _is_thread(record) and not _is_comment(record):
        yield Unreadable(kind="object without a comment")


def _records(value: Any) -> Iterator[Record]:
    # GraphQL wraps lists: {"nodes": [...]}
    items = value.get("nodes") if isinstance(value, dict) else value
    return (item for item in (items if isinstance(items, list) else []) if isinstance(item, dict))


def _is_thread(record: Record) -> bool:
    return isinstance(record.get("title"), str) and _is_int(record.get("number"))


def _is_comment(record: Record) -> bool:
    return "body" in record and isinstance(_user(record), dict)


def _opener(record: Record, thread: Thread, clock: Clock, action: str) -> Iterator[Comment]:
    """Yield the text that a thread begins with, when there is one."""
    text = _body(record)
    if text or action == _DELETED:
        yield _made(record, thread, text, clock, action)


def _comment(record: Record, around: _Around, clock: Clock) -> Iterator[Found]:
    thread = thread_of(record) or around.thread
    if around.thread and thread and thread.native_id == around.thread.native_id:
        thread = around.thread
    if thread is None:
        yield Unreadable(reason="tells no pull request, issue, discussion or commit")
        return
    text = "\n\n".join(filter(None, (_head(record), _hunk(record), _state(record), _body(record))))
    if not _body(record) and not _state(record) and around.action != _DELETED:
        yield Unreadable(kind="review without text" if "state" in record else "empty comment")
        return
    yield _made(record, thread, text, clock, around.action)


def _made(record: Record, thread: Thread, text: str, clock: Clock, action: str) -> Comment:
    user = _user(record)
    login = user.get("login") if isinstance(user, dict) else None
    author = shorten(clean_text(login)) if isinstance(login, str) and login else "ghost"
    created = _word(record, "submitted_at", "submittedAt", "created_at", "createdAt")
    at = parse_time(created, clock)
    return Comment(
        thread=thread,
        native_id=node_id(record) or f"{thread.native_id}:{created}:{author}",
        author=author,
        by_bot=author.endswith("[bot]") or (isinstance(user, dict) and user.get("type") == "Bot"),
        at=at,
        stamp=_stamp(record, at, clock, action),
        text=text,
        deleted=action == _DELETED,
        refs=_refs(record, thread),
    )


def _stamp(record: Record, at: datetime | None, clock: Clock, action: str) -> str:
    """Return when this version was made; of two in one second the edited one is the later."""
    updated = parse_time(_word(record, "updated_at", "updatedAt"), clock) or at
    state = record.get("state")
    later = action == "edited" or (isinstance(state, str) and state.lower() == "dismissed")
    return f"{updated:%Y-%m-%dT%H:%M:%S}.{int(later)}" if updated else f"0.{int(later)}"


def node_id(record: Record) -> str:
    """Return what names a record, whatever file or reply it comes from; empty for nothing."""
    node = record.get("node_id") or record.get("id")
    return clean_text(str(node))[:_NAME] if isinstance(node, str | int) else ""


def _head(record: Record) -> str:
    """Return the place in the code that a comment is about."""
    path = record.get("path")
    if not isinstance(path, str) or not path:
        return ""
    line = next(
        (record[key] for key in ("line", "original_line") if _is_int(record.get(key))), None
    )
    first = record.get("start_line")
    span = f"{first}-{line}" if _is_int(first) and line else line
    shown = clean_text(path).replace("`", "'").replace("\n", " ")[:_NAME]
    return f"`{shown}`" + (f" line {span}" if span else "")


def _hunk(record: Record) -> str:
    """Return the end of the diff that a comment is about; a reply is about its first comment."""
    hunk = record.get("diff_hunk") or record.get("diffHunk")
    if not isinstance(hunk, str) or not hunk.strip() or record.get("in_reply_to_id"):
        return ""
    lines = clean_text(hunk).split("\n")
    head = lines[:1] if len(lines) > HUNK_LINES else []
    return fence("\n".join([*head, *lines[-HUNK_LINES:]])[:4_000], "diff").strip("\n")


def _state(record: Record) -> str:
    state = record.get("state")
    is_review = any(key in record for key in ("submitted_at", "submittedAt"))
    return _STATES.get(state.lower(), "") if isinstance(state, str) and is_review else ""


def _body(record: Record) -> str:
    body = record.get("body")
    return clean_text(strip_injected(without_comments(body))) if isinstance(body, str) else ""


def _refs(record: Record, thread: Thread) -> tuple[Ref, ...]:
    path, commit = record.get("path"), record.get("commit_id") or record.get("original_commit_id")
    sha = clean_text(commit)[:64] if isinstance(commit, str) else None
    if isinstance(path, str) and path:
        return (Ref(thread.repo, clean_text(path)[:_NAME], sha),)
    return (Ref(thread.repo, ".", sha),) if sha and "/commit/" in thread.url else ()


def _user(record: Record) -> Any:
    # a deleted account is null in REST and in GraphQL alike
    for key in ("user", "author"):
        if key in record:
            return record[key] or {}
    return None


def _word(record: Record, *keys: str) -> str | None:
    return next((record[key] for key in keys if isinstance(record.get(key), str)), None)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
