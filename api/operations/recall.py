"""Recall: which notes a prompt makes worth reading before it is answered.

Each prompt of a session is searched for. What is near it gains a running score, which decays from
turn to turn; a note passes when its topic is held, or at once when prompt and note share something
distinctive. What passes is named with an instruction to read it, each note once a session: a mere
notice is not obeyed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, largest_within
from api.operations.distinctive import distinctive, holds
from api.operations.found import Found, found
from api.operations.quoting import IMPORTED_FOLDERS, NOTICE, Notice
from api.operations.relevance import grammar
from api.usage.log import note_id, session_id
from api.usage.recalled import Turn, began, take_turn
from context_engine.errors import NotFoundError
from context_engine.insights import Kind
from index.model import Filters, Hit, SearchRequest
from index.tokenize import normalise, tokenize

INSTRUCTION = (
    "Before answering, recall: read the notes below with read_memory (level 'section', query: what "
    "is asked) and take them into account."
)
MAX_PROMPT = 10_000
MAX_NOTES = 3
_CANDIDATES = 10
_SEARCHED = 200
"""Characters of a prompt that are searched for: a longer question costs milliseconds to embed."""
_COMPARED = 500
_ENOUGH_WORDS = 5.0
"""A prompt of fewer words says less: its overlap is counted as if it had so many."""
_GRAMMAR = 0.2
_PER_RANK = 0.15
_MANY = 6
"""A distinctive token that most of so many candidates hold tells none of them apart."""


class RecallRequest(Request):
    """A prompt, and the session that it belongs to."""

    prompt: Annotated[
        str, Field(min_length=1, max_length=MAX_PROMPT, description="What the owner just wrote.")
    ]
    session: Annotated[
        str,
        Field(min_length=1, max_length=100, description="The conversation's id, always the same."),
    ]
    budget: Annotated[
        int, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer.")
    ] = 3000


class RecallAnswer(Answer):
    """Notes to read first; mostly none."""

    notice: Notice = NOTICE
    instruction: Annotated[str, Field(description="What to do with the notes; empty: nothing.")]
    notes: tuple[Found, ...]
    warnings: tuple[str, ...] = ()

    def result_ids(self) -> tuple[str, ...]:
        """Return the notes named."""
        return tuple(note.path for note in self.notes)


@dataclass(frozen=True)
class _Candidate:
    hit: Hit
    note: str
    score: float
    shared: frozenset[str]
    """Distinctive tokens that prompt and note both hold."""


def recall(services: Services, caller: Caller, request: RecallRequest) -> RecallAnswer:
    """Return what is worth reading before the prompt is answered, and count the turn."""
    session = session_id(caller.scope, caller.client, request.session)
    since = began(services.usage, session)
    tokens = distinctive(request.prompt)
    result = services.index.search(
        caller.scope,
        SearchRequest(request.prompt[:_SEARCHED], _CANDIDATES, Filters(kinds=tuple(Kind))),
    )
    named = _named(services, caller, tokens) if tokens else ()
    # what was noted since the session began is most likely its own words
    hits = [hit for hit in (*named, *result.hits) if not hit.date or hit.date.timestamp() < since]
    candidates = list(_candidates(services, caller, request.prompt, tokens, hits))
    telling = _telling(candidates, tokens)
    turn = Turn(
        session=session,
        scope=caller.scope,
        scores={each.note: each.score for each in candidates},
        at_once={each.note for each in candidates if each.shared & telling},
    )
    passed = take_turn(services.usage, turn, MAX_NOTES)
    return _answer(request, passed, {each.note: each.hit for each in candidates}, result.warnings)


def _named(services: Services, caller: Caller, tokens: Sequence[str]) -> tuple[Hit, ...]:
    """Return notes that speak of what the prompt names; what merely came in is none."""
    text = " ".join(tokens)[:_SEARCHED]
    found_by_name = services.index.search(caller.scope, SearchRequest(text, 2 * _CANDIDATES))
    return tuple(hit for hit in found_by_name.hits if not hit.path.startswith(IMPORTED_FOLDERS))[
        :_CANDIDATES
    ]


def _answer(
    request: RecallRequest,
    passed: Sequence[str],
    hits: Mapping[str, Hit],
    warnings: tuple[str, ...],
) -> RecallAnswer:
    notes = tuple(found(hits[note]) for note in passed)

    def with_notes(count: int) -> RecallAnswer:
        return RecallAnswer(
            instruction=INSTRUCTION if count else "", notes=notes[:count], warnings=warnings
        )

    return largest_within(request.budget, len(notes), with_notes)


def _candidates(
    services: Services,
    caller: Caller,
    prompt: str,
    tokens: Sequence[str],
    hits: Sequence[Hit],
) -> Iterator[_Candidate]:
    weights = _weights(prompt[:_COMPARED])
    seen: set[str] = set()
    for rank, hit in enumerate(hits):
        note = note_id(f"{hit.scope.value}/{hit.path}")
        if note in seen:
            continue
        seen.add(note)
        text = _text(services, caller, hit)
        plain = normalise(text).lower()
        yield _Candidate(
            hit=hit,
            note=note,
            score=_overlap(weights, text) / (1 + _PER_RANK * rank),
            shared=frozenset(token for token in tokens if holds(plain, token)),
        )


def _text(services: Services, caller: Caller, hit: Hit) -> str:
    try:
        body = services.index.neighbours(caller.scope, hit.chunk_id, 0)[0].text
    except NotFoundError:
        # indexed anew since
        body = hit.summary
    return "\n".join((hit.title, hit.heading, " ".join(hit.tags), body))


def _weights(prompt: str) -> dict[str, float]:
    from index.lexical import parse_query

    little = grammar(prompt)
    return {
        term: _GRAMMAR if term in little else 1.0
        for term in parse_query(prompt).terms
        if len(term) > 1
    }


def _overlap(weights: Mapping[str, float], text: str) -> float:
    """Return which share of the prompt's words the text holds, 0 to 1."""
    shared = weights.keys() & set(tokenize(text))
    total = max(sum(weights.values()), _ENOUGH_WORDS)
    return sum(weights[term] for term in sorted(shared)) / total


def _telling(candidates: Sequence[_Candidate], tokens: Sequence[str]) -> frozenset[str]:
    held = {token: sum(token in each.shared for each in candidates) for token in tokens}
    return frozenset(
        token
        for token, count in held.items()
        if len(candidates) < _MANY or count <= len(candidates) / 2
    )


RECALL = Operation(
    name="recall",
    title="What to recall before answering",
    description=(
        "For programs that stand beside a conversation, such as hooks: give each of the owner's "
        "prompts with the conversation's id, and pass what comes back on to the model. Names notes "
        "to read once a topic is held or an identifier fits. To look something up use "
        "search_knowledge."
    ),
    request=RecallRequest,
    answer=RecallAnswer,
    run=recall,
)
