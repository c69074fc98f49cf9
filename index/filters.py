"""Search filters as SQL that the engines apply before they choose the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from index.model import Filters

Clause = tuple[str, tuple[str | float, ...]]


def condition(filters: Filters) -> Clause:
    """Return a condition over `id`, a chunk's rowid, and its bindings.

    One of the kinds and source types, every one of the people and tags.
    """
    clauses = list(_clauses(filters))
    if not clauses:
        return "1", ()
    sql = " AND ".join(text for text, _ in clauses)
    bindings = tuple(value for _, values in clauses for value in values)
    # nested, not joined: beside a table that has an id of its own, `id` would mean that one
    note = f"EXISTS (SELECT 1 FROM note WHERE note.id = chunk.note AND {sql})"
    return f"EXISTS (SELECT 1 FROM chunk WHERE chunk.rowid = id AND {note})", bindings


def _clauses(filters: Filters) -> Iterator[Clause]:
    if filters.kinds:
        yield _one_of("note.kind", [kind.value for kind in filters.kinds])
    if filters.source_types:
        yield _one_of("note.source", filters.source_types)
    if filters.project is not None:
        yield "note.project = ?", (filters.project,)
    if filters.confidence is not None:
        yield "coalesce(chunk.confidence, note.confidence) = ?", (filters.confidence.value,)
    if filters.since is not None:
        yield "coalesce(chunk.at, note.created) >= ?", (filters.since.timestamp(),)
    if filters.until is not None:
        yield "coalesce(chunk.at, note.created) <= ?", (filters.until.timestamp(),)
    yield from (_labelled("person", name) for name in filters.people)
    yield from (_labelled("tag", tag) for tag in filters.tags)


def _one_of(column: str, values: Sequence[str]) -> Clause:
    return f"{column} IN ({', '.join('?' * len(values))})", tuple(values)


def _labelled(field: str, value: str) -> Clause:
    return (
        "EXISTS (SELECT 1 FROM label WHERE label.note = note.id AND field = ? AND value = ?)",
        (field, value),
    )
