"""What a session is told at its start and beside a prompt, as Markdown between our marks.

Everything in it is quoted and labelled; the marks keep it from being collected again.
"""

from __future__ import annotations

from collections.abc import Iterator

from api.operations.base import Answer
from api.operations.found import Found
from api.operations.projects import ProjectSummary
from api.operations.query_self import QuerySelfAnswer
from api.operations.quoting import label
from api.operations.recall import RecallAnswer
from context_engine.markers import wrap_injected
from context_engine.text import says_again

_MORE = (
    "More is in the memory: search_knowledge before answering what may have been decided or "
    "solved before, read_memory for a note above, save_insight for what is worth keeping."
)


def start_text(answer: Answer | None) -> str:
    """Return a session's first context, "" when nothing is known."""
    if not isinstance(answer, QuerySelfAnswer):
        return ""
    sections = [text for text in _sections(answer) if text]
    if not sections:
        return ""
    return wrap_injected("\n\n".join((answer.notice, *sections, _MORE)), "session-start")


def recall_text(answer: Answer | None) -> str:
    """Return the instruction beside a prompt, "" when there is nothing to recall."""
    if not isinstance(answer, RecallAnswer) or not answer.notes:
        return ""
    notes = "\n".join(_line(note) for note in answer.notes)
    return wrap_injected(f"{answer.instruction}\n{notes}\n{answer.notice}", "recall")


def _sections(answer: QuerySelfAnswer) -> Iterator[str]:
    if answer.identity_card:
        yield f"## Who you work for\n{answer.identity_card.text.strip()}"
    if answer.current_projects:
        yield "## Active projects\n" + "\n".join(_project(each) for each in answer.current_projects)
    if answer.relevant_knowledge:
        notes = "\n".join(_line(note) for note in answer.relevant_knowledge)
        yield f"## What is known about this folder\n{notes}"


def _project(project: ProjectSummary) -> str:
    goal = f": {project.goal}" if project.goal else ""
    steps = "".join(f"\n  - next: {step}" for step in project.next_steps)
    latest = "".join(
        f"\n  - {(line.date or '')[:10]} [{line.confidence}] {line.title}"
        for line in project.latest
    )
    return f"- {project.name}{goal} (`{project.path}`){steps}{latest}"


def _line(note: Found) -> str:
    trust = label(note.confidence, note.path.partition("/")[2])
    marks = ", ".join(mark for mark in (note.kind, trust, (note.date or "")[:10]) if mark)
    summary = f": {note.summary}" if not says_again(note.summary, note.title) else ""
    return f"- [{marks}] {note.title}{summary} (`{note.path}`)"
