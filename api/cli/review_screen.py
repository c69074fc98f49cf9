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
    Result,
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
from api.review.journal import read_record
from api.review.scan import items_in
from context_engine.errors import UsageError
from context_engine.insights import Kind
from context_engine.scopes import Scope
from context_engine.settings import Settings

_HELP = ("a accept", "r reject", "e edit", "m merge", "k kind", "s scope", "i identity", "u undo",
         "n/space next", "p previous", "? keys", "q quit")  # fmt: skip
_KEYS_IN_WORDS = """\
a  accept: it counts as validated
r  reject: it goes, and does not come back
e  edit in your editor, and accept
m  merge: its evidence goes into another insight
k  another kind
s  another scope
i  add it to your identity, and accept it
u  undo the latest decision, also one of an earlier day
n  next, as space does
p  previous
q  quit; what was decided stays"""
_DONE = {"accept": "accepted", "reject": "rejected", "edit": "edited and accepted",
         "merge": "merged", "set": "moved", "identity": "in your identity"}  # fmt: skip
_OFFERED = 9
_ALL = 1_000_000


@dataclass
class _Screen:
    """Where the person is."""

    settings: Settings
    desk: Desk
    items: list[Item]
    at: int = 0
    notice: str = ""
    """What the key before did."""

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
    if screen.at >= len(screen.items) and screen.notice:
        click.echo(screen.notice)
    click.echo(f"{pending(desk.home, scopes=scopes, kinds=kinds, limit=1).total} left")
    return 0


def card(item: Item, similar: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of one insight: what it says, on what evidence, from where, like what."""
    columns = _columns()
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


def footer(columns: int) -> Iterator[str]:
    """Yield the keys in lines of at most `columns`, a key and its word together."""
    line = ""
    for key in _HELP:
        longer = f"{line}   {key}" if line else key
        if line and len(longer) > columns:
            yield line
            longer = key
        line = longer
    yield line


def _columns() -> int:
    return min(shutil.get_terminal_size().columns, 100)


def _show(screen: _Screen) -> None:
    click.clear()
    if screen.notice:
        click.echo(clip(screen.notice, _columns()))
        screen.notice = ""
    click.echo(f"{screen.at + 1} of {len(screen.items)}\n")
    for line in card(screen.item, similar_json(screen.settings, screen.item)):
        click.echo(line)
    click.echo()
    for line in footer(_columns()):
        click.echo(click.style(line, dim=True))


def _act(screen: _Screen, key: str) -> None:
    if key == "u":
        _undo(screen)
    elif key == "?":
        click.clear()
        click.echo(_KEYS_IN_WORDS)
        click.pause()
    elif key == "p":
        screen.at = max(0, screen.at - 1)
    elif key in _KEYS:
        _decide(screen, _KEYS[key](screen))
    else:
        screen.at += key in {"n", " ", "\r"}


def _decide(screen: _Screen, report: Report | None) -> None:
    if report is None:
        return
    if report.ok:
        changed = any(one.result is Result.DONE for one in report.done)
        screen.notice = f"{_DONE[report.action] if changed else 'as it was'}: {screen.item.title}"
        screen.at += 1
        return
    print_report(report)
    click.pause()
    screen.items[screen.at] = find(screen.desk.home, screen.item.insight_id) or screen.item


def _undo(screen: _Screen) -> None:
    """Take the latest decision back, say which it was, and go to what it was about."""
    try:
        report = undo(screen.desk)
    except UsageError as error:
        screen.notice = str(error)
        return
    if not report.ok:
        print_report(report)
        click.pause()
    back = [item for one in report.done if (item := find(screen.desk.home, one.asked))]
    record = read_record(screen.desk.home, report.batch or "")
    if back:
        _go_to(screen, back[0])
    if report.ok:
        what = back[0].title if back else "nothing is left of it"
        more = f" and {len(record.batch.insights) - 1} more" if len(back) > 1 else ""
        screen.notice = f"undone: {record.batch.action} – {what}{more}"


def _go_to(screen: _Screen, item: Item) -> None:
    """Show `item` as it is now, also one that did not wait when the review began."""
    ids = [each.insight_id for each in screen.items]
    if item.insight_id in ids:
        screen.at = ids.index(item.insight_id)
        screen.items[screen.at] = item
    else:
        screen.items.insert(screen.at, item)


def _choice(screen: _Screen) -> Choice:
    return Choice(screen.item.insight_id, screen.item.content_hash)


def _accept(screen: _Screen) -> Report:
    return accept(screen.desk, [_choice(screen)])


def _reject(screen: _Screen) -> Report:
    return reject(screen.desk, [_choice(screen)])


def _edit(screen: _Screen) -> Report | None:
    item = screen.item
    text = click.edit(f"{item.title}\n\n{item.content}\n", extension=".md")
    if text is None:
        return None
    title, _, content = text.strip().partition("\n")
    changes = Edit(title=title, content=content.strip())
    return edit(screen.desk, _choice(screen), changes, accepted=True)


def _merge(screen: _Screen) -> Report | None:
    offered = _targets(screen)
    for number, other in enumerate(offered, 1):
        click.echo(f"{number}  {other.insight_id}  {clip(other.title, _columns() - 17)}")
    numbers = "number or ID" if offered else "ID"
    into = str(click.prompt(f"merge into ({numbers}, empty: none)", default="", show_default=False))
    into = into.strip()
    if not into:
        return None
    if into in {str(number) for number in range(1, len(offered) + 1)}:
        into = offered[int(into) - 1].insight_id
    return merge(screen.desk, [_choice(screen)], into)


def _targets(screen: _Screen) -> list[Item]:
    """Return the insights of similar notes of the same vault: no others can be merged into."""
    item = screen.item
    places = [str(one["place"]) for one in similar_json(screen.settings, item)]
    paths = [path for scope, _, path in (place.partition("/") for place in places)
             if scope == item.scope.value]  # fmt: skip
    found = [each for path in dict.fromkeys(paths)
             for each in items_in(screen.desk.home, item.scope, path)]  # fmt: skip
    return [each for each in found if each.insight_id != item.insight_id][:_OFFERED]


def _kind(screen: _Screen) -> Report:
    item = screen.item
    kind = click.prompt("kind", type=click.Choice([kind.value for kind in Kind]))
    subject = None
    if kind in {Kind.PERSON.value, Kind.PROJECT.value}:
        known = item.project if kind == Kind.PROJECT.value else "".join(item.people[:1])
        subject = str(click.prompt("about", default=known or None))
    return set_place(screen.desk, [_choice(screen)], kind=Kind(kind), subject=subject)


def _scope(screen: _Screen) -> Report | None:
    scope = Scope(click.prompt("scope", type=click.Choice([scope.value for scope in Scope])))
    old = screen.item.scope.value
    if not click.confirm(f"move it from {old} to {scope.value}, for its readers?"):
        return None
    return set_place(screen.desk, [_choice(screen)], scope=scope, widen=True)


def _identity(screen: _Screen) -> Report:
    scopes = click.Choice([scope.value for scope in Scope])
    seen = click.prompt("seen by", type=scopes, default=Scope.PERSONAL.value)
    return add_to_identity(screen.desk, _choice(screen), Scope(seen))


_KEYS: Mapping[str, Callable[[_Screen], Report | None]] = {
    "a": _accept,
    "r": _reject,
    "e": _edit,
    "m": _merge,
    "k": _kind,
    "s": _scope,
    "i": _identity,
}
