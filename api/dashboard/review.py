"""The inbox of raw insights: one key a decision, evidence beside its source, all of it undoable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page, see_other
from api.review import (
    Choice,
    Desk,
    Edit,
    Item,
    Report,
    Result,
    Similar,
    accept,
    add_to_identity,
    batches,
    edit,
    find,
    merge,
    reject,
    set_place,
    similar,
    undo,
)
from api.review.scan import items_in
from context_engine.errors import ContextEngineError, IndexCorruptError, NotFoundError, UsageError
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.browse import undecided
from vault.notes import read_note

SHOWN = 20
_SECONDS = 5.0
_UNDOABLE = 8
_AROUND = 1
"""Messages shown before and after the one that holds the evidence."""
_MAX_EXCERPT = 4_000
_SIMILAR = 3
_COMPARED = 8


@dataclass(frozen=True)
class Excerpt:
    """A message of the source, split where the evidence stands."""

    author: str
    before: str
    quote: str
    after: str


def show(deck: Deck, ask: Ask) -> Response:
    """Show what waits."""
    return page(ask, "review.html", **_inbox(deck, ask))


def detail(deck: Deck, ask: Ask) -> Response:
    """Show the source beside the evidence, and what resembles the insight."""
    item = _item(deck, ask.params["insight_id"])
    ask.exchange.results = (item.place,)
    return page(
        ask,
        "review_detail.html",
        item=item,
        excerpts=_excerpts(deck, item),
        similar=_similar(deck, item),
    )


def form(deck: Deck, ask: Ask) -> Response:
    """Show the fields of one insight to be changed."""
    item = _item(deck, ask.params["insight_id"])
    ask.exchange.results = (item.place,)
    return page(
        ask, "review_form.html", here="review", item=item, kinds=list(Kind), scopes=list(Scope)
    )


def decide(deck: Deck, ask: Ask) -> Response:
    """Take a decision, and show what waits then."""
    act = _ACTIONS.get(ask.params["action"])
    if act is None:
        raise NotFoundError(ask.params["action"])
    # one request's desk: what it decides bears the owner's name and this place
    desk = Desk(deck.home, "owner", "dashboard", deck.clock, deck.services().notify)
    report, said = _attempt(act, desk, ask)
    if not ask.partial:
        return see_other("/review")
    return page(ask, "review_inbox.html", **_inbox(deck, ask, report, said))


def _attempt(act: Callable[[Desk, Ask], Report], desk: Desk, ask: Ask) -> tuple[Report | None, str]:
    """Return what a decision did, or why it cannot be meant."""
    try:
        report = act(desk, ask)
    except UsageError as error:
        return None, str(error)
    ask.exchange.results = tuple(one.place for one in report.done if one.place)
    return report, ""


def _accept(desk: Desk, ask: Ask) -> Report:
    return accept(desk, _choices(ask))


def _reject(desk: Desk, ask: Ask) -> Report:
    return reject(desk, _choices(ask))


def _merge(desk: Desk, ask: Ask) -> Report:
    choices = _choices(ask)
    into = ask.field("into") or choices[0].insight_id
    return merge(desk, [choice for choice in choices if choice.insight_id != into], into)


def _identity(desk: Desk, ask: Ask) -> Report:
    return add_to_identity(desk, _choices(ask)[0])


def _edit(desk: Desk, ask: Ask) -> Report:
    changes = Edit(
        title=ask.field("title"),
        content=ask.field("content").replace("\r\n", "\n"),
        people=_words(ask.field("people")),
        tags=_words(ask.field("tags")),
    )
    return edit(desk, _choices(ask)[0], changes, accepted=ask.field("accepted") == "1")


def _move(desk: Desk, ask: Ask) -> Report:
    kind, scope = ask.field("kind"), ask.field("scope")
    return set_place(
        desk,
        _choices(ask),
        kind=Kind(kind) if kind in set(Kind) else None,
        scope=Scope(scope) if scope in set(Scope) else None,
        subject=ask.field("subject").strip() or None,
        widen=ask.field("widen") == "1",
    )


def _undo(desk: Desk, ask: Ask) -> Report:
    return undo(desk, ask.field("batch") or None)


_ACTIONS: Mapping[str, Callable[[Desk, Ask], Report]] = {
    "accept": _accept,
    "reject": _reject,
    "merge": _merge,
    "identity": _identity,
    "edit": _edit,
    "move": _move,
    "undo": _undo,
}


def _choices(ask: Ask) -> list[Choice]:
    """Return what was chosen: `id@hash`, so that text that changed since is not decided on."""
    pairs = [text.partition("@") for text in ask.form.get("choice", ())]
    if not pairs:
        raise UsageError("nothing was chosen")
    return [Choice(insight_id, digest or None) for insight_id, _, digest in pairs]


def _words(text: str) -> tuple[str, ...]:
    pieces = text.replace("、", ",").split(",")
    return tuple(piece.strip() for piece in pieces if piece.strip())


def _inbox(deck: Deck, ask: Ask, report: Report | None = None, said: str = "") -> dict[str, Any]:
    scope, kind = ask.query.get("scope", ""), ask.query.get("kind", "")
    start = ask.number("from") or 0
    scopes = (Scope(scope),) if scope in set(Scope) else tuple(Scope)
    key = f"waiting {' '.join(scopes)}"
    waiting = deck.cache.get(key, _SECONDS, lambda: _waiting(deck, scopes))
    items, after = _some(deck, waiting, start, Kind(kind) if kind in set(Kind) else None)
    ask.exchange.results += tuple(item.place for item in items)
    return {
        "here": "review",
        "items": items,
        "total": len(waiting),
        "start": start,
        "after": after if after < len(waiting) else None,
        "scope": scope,
        "kind": kind,
        "scopes": list(Scope),
        "kinds": list(Kind),
        "report": report,
        "failed": [one for one in report.done if one.result not in _FINE] if report else [],
        "said": said,
        "decisions": [batch for batch in batches(deck.home, _UNDOABLE) if not batch.undone],
    }


_FINE = (Result.DONE, Result.UNCHANGED)


def _waiting(deck: Deck, scopes: tuple[Scope, ...]) -> list[tuple[Scope, str]]:
    """Return the notes that may hold what waits, newest first; the index knows them unread."""
    found = [(at, scope, path) for scope in scopes for at, path in _undecided(deck, scope)]
    found.sort(key=lambda each: (-each[0], each[2]))
    return [(scope, path) for _, scope, path in found]


def _undecided(deck: Deck, scope: Scope) -> list[tuple[float, str]]:
    try:
        return undecided(deck.home, scope)
    except IndexCorruptError:
        return []


def _some(
    deck: Deck, waiting: list[tuple[Scope, str]], start: int, kind: Kind | None
) -> tuple[list[Item], int]:
    """Return the insights of the next notes, and the place where the following page begins."""
    items: list[Item] = []
    place = start
    for place, (scope, path) in enumerate(waiting[start : start + 50 * SHOWN], start):  # noqa: B007 - used after
        items += [
            item
            for item in items_in(deck.home, scope, path)
            if item.confidence is Confidence.RAW and kind in (None, item.kind)
        ]
        if len(items) >= SHOWN:
            break
    return items[: 3 * SHOWN], place + 1


def _item(deck: Deck, insight_id: str) -> Item:
    item = find(deck.home, insight_id)
    if item is None:
        raise NotFoundError(insight_id)
    return item


def _similar(deck: Deck, item: Item) -> list[Similar]:
    """Return what resembles an insight, without its own source: that stands beside it."""
    source = f"{item.scope.value}/{item.source_path}"
    with suppress(IndexCorruptError):
        found = similar(deck.services().index, item, _COMPARED)
        return [each for each in found if each.place != source][:_SIMILAR]
    return []


def _excerpts(deck: Deck, item: Item) -> tuple[Excerpt, ...]:
    """Return the message that holds the evidence and its neighbours; none when it is gone."""
    if not item.source_path:
        return ()
    try:
        messages = read_note(deck.home, item.scope, item.source_path).messages
    except ContextEngineError:
        return ()
    place = next((n for n, each in enumerate(messages) if each.marker == item.utterance), None)
    if place is None:
        place = next((n for n, each in enumerate(messages) if item.evidence in each.text), None)
    if place is None:
        return ()
    near = messages[max(0, place - _AROUND) : place + _AROUND + 1]
    return tuple(_excerpt(each.author, each.text, item.evidence) for each in near)


def _excerpt(author: str, text: str, quote: str) -> Excerpt:
    before, found, after = text.partition(quote) if quote else (text, "", "")
    return Excerpt(author, before[-_MAX_EXCERPT:], found, after[:_MAX_EXCERPT])
