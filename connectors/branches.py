"""A conversation that branches: in what order it reads, and which way it went on.

Editing a question or asking again for an answer begins a branch. All of it was said and is kept;
what the conversation left behind is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from context_engine.events import Utterance

_NEVER = datetime.min.replace(tzinfo=UTC)
_Rank = tuple[datetime, int, int]


@dataclass(frozen=True, slots=True)
class Node:
    """A message in the tree; `said` is empty when nothing of it is kept."""

    key: str
    parent: str | None
    at: datetime | None
    said: tuple[Utterance, ...] = ()


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """Return each node once, parents before children, otherwise by time.

    A node without a time, or with one before its parent's, comes right behind its parent.
    """
    ranks = _ranks(nodes)
    return sorted({node.key: node for node in nodes}.values(), key=lambda node: ranks[node.key])


def abandoned(nodes: Sequence[Node], leaf: str | None = None) -> list[str]:
    """Return `<first>..<last>`, ids of messages, for each branch that was left behind.

    leaf: the node at which the conversation stands; when it is not known, the newest one.
    """
    order = in_order(nodes)
    known = {node.key: node for node in order}
    if leaf not in known:
        parents = {node.parent for node in order}
        leaf = next((node.key for node in reversed(order) if node.key not in parents), None)
    path = set(_upwards(leaf, known))
    branch: dict[str, str] = {}
    spans: dict[str, list[str]] = {}
    for node in order:
        if node.key in path or node.parent is None:
            continue
        begin = node.key if node.parent in path else branch.get(node.parent)
        if begin is not None:
            branch[node.key] = begin
            spans.setdefault(begin, []).extend(said.native_id for said in node.said)
    return [f"{said[0]}..{said[-1]}" for said in spans.values() if said]


def _upwards(leaf: str | None, known: Mapping[str, Node]) -> Iterator[str]:
    """Yield the leaf and what is above it, up to a name that no node bears; cycles end."""
    met: set[str] = set()
    while leaf is not None and leaf not in met:
        met.add(leaf)
        yield leaf
        leaf = known[leaf].parent if leaf in known else None


def _ranks(nodes: Sequence[Node]) -> dict[str, _Rank]:
    """Return for each node (time, depth, place in the file), never before its parent's."""
    known = {node.key: node for node in nodes}
    places = {key: place for place, key in enumerate(known)}
    ranks: dict[str, _Rank] = {}
    for node in nodes:
        # from the highest ancestor without a rank down to the node
        chain = []
        for key in _upwards(node.key, known):
            if key in ranks or key not in known:
                break
            chain.append(known[key])
        for each in reversed(chain):
            above = ranks.get(each.parent or "", (_NEVER, 0, 0))
            ranks[each.key] = (max(each.at or _NEVER, above[0]), above[1] + 1, places[each.key])
    return ranks
