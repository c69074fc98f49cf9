"""What a person makes of an insight: the note's or section's new text, sealed in their name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from context_engine.clock import isoformat
from context_engine.errors import BadInputError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from vault.blocks import WORD, Block, make_block, parse_body, replaced
from vault.escape import canonical, escape
from vault.marks import GONE, STALE, WITHDRAWN
from vault.notefile import NoteText, sealed, title_of, with_front
from vault.seals import REVIEWED, SEAL, Vouch, seal_note, seal_section
from vault.statements import (
    Statement,
    clean_title,
    clean_words,
    parse_statement,
    render_statement,
    summary_of,
)


@dataclass(frozen=True)
class Ruling:
    """A person's decision on one insight. What is None stays as it is."""

    vouch: Vouch
    confidence: Confidence
    title: str | None = None
    content: str | None = None
    project: str | None = None
    people: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    further_evidence: tuple[str, ...] = ()

    @property
    def rewrites(self) -> bool:
        """Whether the words change, not only what is thought of them."""
        return bool(self.title is not None or self.content is not None or self.further_evidence)


@dataclass(frozen=True)
class Ruled:
    """Where an insight stands that is ruled on."""

    home: Home
    scope: Scope
    kind: Kind
    path: str
    insight_id: str

    @property
    def folder(self) -> str:
        """The folder that links in the note start from."""
        return self.path.rpartition("/")[0]


def rule_note(at: Ruled, note: NoteText, ruling: Ruling) -> str:
    """Return the text of an insight's own note after the ruling.

    Raises BadInputError when its front matter cannot be read or changed.
    """
    title, body = _title_and_body(at, note, ruling)
    changes = _front_changes(note, ruling, title, body)
    front = sealed({**note.front, **changes}, body)
    front = seal_note(at.home, at.scope, at.kind, front, body, vouch=ruling.vouch)
    # what is raw again keeps no seal of what it was
    unsealed = {SEAL: None} if note.front.get(SEAL) else {}
    head = with_front(note, {**unsealed, **changes, **_made(front)}, at.path)
    if head == note.head:
        raise BadInputError(at.path, "its front matter cannot be changed; mend it by hand first")
    return head + body


def rule_section(at: Ruled, note: NoteText, ruling: Ruling) -> str:
    """Return the text of a project's or person's note after a ruling on one of its sections.

    Raises BadInputError when the section is not there any more.
    """
    about = title_of(note, at.path)

    def ruled(block: Block) -> Block:
        return seal_section(
            at.home, at.scope, at.kind, about, _ruled_block(at, block, ruling), vouch=ruling.vouch
        )

    return _with_section(at, note, lambda block: replaced(block, ruled(block)))


def drop_section(at: Ruled, note: NoteText) -> str:
    """Return the text of a note without one section; what a person wrote below it stays.

    Raises BadInputError when the section is not there any more.
    """
    return _with_section(at, note, lambda block: replace(block, raw=block.tail))


def _title_and_body(at: Ruled, note: NoteText, ruling: Ruling) -> tuple[str, str]:
    title = clean_title(ruling.title) if ruling.title is not None else title_of(note, at.path)
    if not ruling.rewrites:
        return title, note.body
    statement = _restated(parse_statement(without_title(note.body), at.folder), ruling)
    statement = replace(statement, tags=())
    return title, f"# {escape(title)}\n\n{render_statement(statement, at.folder)}\n"


def without_title(body: str) -> str:
    """Return an insight note's body below its title."""
    text = body.strip()
    first, _, rest = text.partition("\n")
    return rest.strip() if first.startswith("# ") else text


def _restated(statement: Statement, ruling: Ruling) -> Statement:
    content = statement.content if ruling.content is None else canonical(ruling.content).strip()
    quotes = dict.fromkeys((statement.evidence, *map(canonical, ruling.further_evidence)))
    evidence = "\n\n".join(quote for quote in quotes if quote)
    return replace(statement, content=content, evidence=evidence)


def _front_changes(note: NoteText, ruling: Ruling, title: str, body: str) -> dict[str, Any]:
    when = isoformat(ruling.vouch.when)
    changes: dict[str, Any] = {
        "type": "insight",
        "confidence": ruling.confidence.value,
        REVIEWED: when,
    }
    if ruling.rewrites:
        content = parse_statement(without_title(body), "").content
        changes |= {"title": title, "summary": summary_of(content)}
    if ruling.confidence is Confidence.VALIDATED:
        changes |= {"verified": when} | {
            mark: None for mark in (STALE, WITHDRAWN) if note.front.get(mark)
        }
    named = {"people": ruling.people, "tags": ruling.tags}
    changes |= {key: clean_words(words) for key, words in named.items() if words is not None}
    if ruling.project is not None:
        changes["project"] = clean_title(ruling.project) or None
    return changes


def _made(front: dict[str, Any]) -> dict[str, Any]:
    return {key: front[key] for key in ("content_hash", SEAL) if key in front}


def _ruled_block(at: Ruled, block: Block, ruling: Ruling) -> Block:
    left = {SEAL, "h", *((GONE, STALE) if ruling.confidence is Confidence.VALIDATED else ())}
    fields = {name: value for name, value in block.fields.items() if name not in left}
    fields = {WORD: ruling.confidence.value, **fields} | {
        WORD: ruling.confidence.value,
        REVIEWED: isoformat(ruling.vouch.when),
    }
    heading, text = block.heading, block.text
    if ruling.title is not None:
        day, dot, old = block.heading.partition(" · ")
        title = escape(clean_title(ruling.title))
        heading = f"{day}{dot}{title or old}" if dot else title or block.heading
    if ruling.rewrites or ruling.tags is not None:
        statement = _restated(parse_statement(block.text, at.folder), ruling)
        if ruling.tags is not None:
            statement = replace(statement, tags=tuple(clean_words(ruling.tags)))
        text = render_statement(statement, at.folder)
    return make_block(block.type, block.marker, heading, fields, text)


def _with_section(at: Ruled, note: NoteText, change: Callable[[Block], Block]) -> str:
    body = parse_body(note.body)
    if not any(block.marker == at.insight_id for block in body.blocks):
        raise BadInputError(at.path, f"holds no insight {at.insight_id} any more")
    blocks = tuple(
        change(block) if block.marker == at.insight_id else block for block in body.blocks
    )
    return note.head + replace(body, blocks=blocks).render()
