"""The review on a terminal: one insight at a time, one key a decision."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from api.cli.review import print_report, similar_json
from api.cli.terminal import clip, shown, wrapped
from api.review import (
    Choice,
    Desk,
    Edit,
    Item,
    Report,
    accept,
    add_to_identity,
    edit,
    find,
    merge,
    pending,
    reject,
    set_place,
    undo,
)
from context_engine.errors import UsageError
from context_engine.insights import Kind
from context_engine.scopes import Scope
from context_engine.settings import Settings

_HELP = (
    "a accept   r reject   e edit   m merge   k kind   s scope   i identity   "
    "u undo   n/space next   p previous   q quit"
)
_ALL = 1_000_000


@dataclass
class _Screen:
    """Where the person is."""

    settings: Settings
    desk: Desk
    items: list[Item]
    at: int = 0

    @property
    def item(self) -> Item:
        return self.items[self.at]


def run(settings: Settings, desk: Desk, scopes: Sequence[Scope], kinds: Sequence[Kind]) -> int:
    """Go through what waits until the person leaves or nothing is left."""
    items = pending(desk.home, scopes=scopes, kinds=kinds, limit=_ALL).items
    screen = _Screen(settings, desk, list(items))
    while 0 <= screen.at < len(screen.items):
        _show(screen)
        key = click.getchar()
        if key in {"q", "\x03", "\x04", "\x1b"}:
            break
        _act(screen, key)
    click.echo(f"{pending(desk.home, scopes=scopes, kinds=kinds, limit=1).total} left")
    return 0


def card(item: Item, similar: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of one insight: what it says, on what evidence, from where, like what."""
    columns = min(shutil.get_terminal_size().columns, 100)
    about = f" · {shown(item.subject or item.project or '')}".rstrip(" ·")
    yield click.style(clip(item.title, columns), bold=True)
    yield f"{item.kind.value} · {item.scope.value}{about} · {item.confidence.value}"
    yield ""
    yield from wrapped(item.content, columns)
    if item.evidence:
        yield ""
        yield from (f"  > {line}" for line in wrapped(item.evidence, columns - 4))
    yield ""
    source = item.source_title or item.source_path or item.source or "unknown"
    date = f"{item.created:%Y-%m-%d}" if item.created else "undated"
    yield clip(f"from {source} · {date} · {item.extractor or 'a person'}", columns)
    yield clip(f"in {item.place}", columns)
    if item.claims_validated:
        yield "it says validated, but its seal is missing or wrong"
    for one in similar:
        yield clip(f"like: {one['title']} ({one['place']})", columns)


def _show(screen: _Screen) -> None:
    click.clear()
    click.echo(f"{screen.at + 1} of {len(screen.items)}\n")
    for line in card(screen.item, similar_json(screen.settings, screen.item)):
        click.echo(line)
    click.echo(f"\n{click.style(_HELP, dim=True)}")


def _act(screen: _Screen, key: str) -> None:
    if key == "u":
        _report(_undone(screen.desk))
        return
    if key == "p":
        screen.at = max(0, screen.at - 1)
        return
    decide = _KEYS.get(key)
    if decide is None:
        screen.at += key in {"n", " ", "\r"}
        return
    report = decide(screen.desk, screen.item)
    if report is None:
        return
    if report.ok:
        screen.at += 1
        return
    _report(report)
    screen.items[screen.at] = find(screen.desk.home, screen.item.insight_id) or screen.item


def _report(report: Report | None) -> None:
    if report is not None:
        print_report(report)
    click.pause()


def _undone(desk: Desk) -> Report | None:
    try:
        return undo(desk)
    except UsageError as error:
        click.echo(str(error))
        return None


def _choice(item: Item) -> Choice:
    return Choice(item.insight_id, item.content_hash)


def _accept(desk: Desk, item: Item) -> Report:
    return accept(desk, [_choice(item)])


def _reject(desk: Desk, item: Item) -> Report:
    return reject(desk, [_choice(item)])


def _edit(desk: Desk, item: Item) -> Report | None:
    text = click.edit(f"{item.title}\n\n{item.content}\n", extension=".md")
    if text is None:
        return None
    title, _, content = text.strip().partition("\n")
    return edit(desk, _choice(item), Edit(title=title, content=content.strip()), accepted=True)


def _merge(desk: Desk, item: Item) -> Report:
    into = str(click.prompt("merge into (ID)"))
    return merge(desk, [_choice(item)], into.strip())


def _kind(desk: Desk, item: Item) -> Report:
    kind = click.prompt("kind", type=click.Choice([kind.value for kind in Kind]))
    subject = None
    if kind in {Kind.PERSON.value, Kind.PROJECT.value}:
        known = item.project if kind == Kind.PROJECT.value else "".join(item.people[:1])
        subject = str(click.prompt("about", default=known or None))
    return set_place(desk, [_choice(item)], kind=Kind(kind), subject=subject)


def _scope(desk: Desk, item: Item) -> Report | None:
    scope = Scope(click.prompt("scope", type=click.Choice([scope.value for scope in Scope])))
    if not click.confirm(f"move it from {item.scope.value} to {scope.value}, for its readers?"):
        return None
    return set_place(desk, [_choice(item)], scope=scope, widen=True)


def _identity(desk: Desk, item: Item) -> Report:
    scopes = click.Choice([scope.value for scope in Scope])
    seen = click.prompt("seen by", type=scopes, default=Scope.PERSONAL.value)
    return add_to_identity(desk, _choice(item), Scope(seen))


_KEYS: Mapping[str, Callable[[Desk, Item], Report | None]] = {
    "a": _accept,
    "r": _reject,
    "e": _edit,
    "m": _merge,
    "k": _kind,
    "s": _scope,
    "i": _identity,
}
