"""One window through the model: retries, halves, and every fault counted under its name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from context_engine.errors import DeadlineExceededError, DependencyDownError, LLMOutputError
from workers.extraction.language import Language
from workers.extraction.outcomes import Outcome
from workers.extraction.prompts import build_messages
from workers.extraction.protocol import ChatMessage, ChatModel, Reply
from workers.extraction.schema import SCHEMA, Parsed, Proposal, parse_reply
from workers.extraction.windows import Window, halves

_ENDED = {
    "length": Outcome.TRUNCATED,
    "repetition": Outcome.REPETITION,
    "too_large": Outcome.TOO_LARGE,
}
_MAX_HALVINGS = 2
_WORTH_HALVING = 300
"""Tokens."""

_MAX_FAILURES = 3
"""After as many windows without any reply the rest of the document is skipped."""
_MAYBE_DOWN = frozenset({Outcome.SERVER_ERROR, Outcome.WRONG_MODEL, Outcome.TOO_LARGE})


@dataclass
class Reader:
    """Reads the windows of one document."""

    llm: ChatModel
    language: Language
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: int = 0

    def read(self, window: Window, depth: int = 0) -> list[Proposal]:
        """Return what the model proposes for `window`.

        Raises DependencyDownError when the model is away, not merely bad at this text.
        """
        if self.failures >= _MAX_FAILURES:
            self.outcomes[Outcome.SKIPPED] += 1
            return []
        try:
            reply = self._ask(build_messages(window, self.language))
        except DeadlineExceededError:
            return self._failed(Outcome.DEADLINE)
        except LLMOutputError as error:
            if error.outcome != Outcome.CONTEXT_OVERFLOW:
                return self._failed(error.outcome)
            self.outcomes[Outcome.CONTEXT_OVERFLOW] += 1
            return self._read_halves(window, depth)
        self.failures = 0
        return self._take(reply, window, depth)

    def _failed(self, outcome: str) -> list[Proposal]:
        self.failures += 1
        self.outcomes[outcome] += 1
        return []

    def _take(self, reply: Reply, window: Window, depth: int) -> list[Proposal]:
        parsed = parse_reply(reply.text)
        self._count(parsed, reply)
        proposals = list(parsed.proposals)
        if reply.ended == "length":
            proposals += self._read_halves(window, depth + 1)
        return proposals

    def _count(self, parsed: Parsed, reply: Reply) -> None:
        self.outcomes[Outcome.OUT_OF_SCHEMA] += parsed.refused
        ended = _ENDED.get(reply.ended)
        if ended is not None:
            self.outcomes[ended] += 1
        elif parsed.fault is not None:
            self.outcomes[parsed.fault] += parsed.fault is not Outcome.OUT_OF_SCHEMA
        elif not parsed.proposals and not parsed.refused:
            self.outcomes[Outcome.EMPTY] += 1

    def _read_halves(self, window: Window, depth: int) -> list[Proposal]:
        # a model that babbles over a short text will do so over half of it
        if depth >= _MAX_HALVINGS or sum(piece.cost for piece in window.own) < _WORTH_HALVING:
            return []
        return [found for half in halves(window) for found in self.read(half, depth + 1)]

    def _ask(self, messages: list[ChatMessage]) -> Reply:
        """Ask once, and once more when the model proves alive after it seemed to be down."""
        try:
            return self.llm.chat(messages, SCHEMA)
        except DependencyDownError:
            self._require_alive()
        except DeadlineExceededError:
            self._require_alive()
            raise
        except LLMOutputError as error:
            if error.outcome in _MAYBE_DOWN:
                self._require_alive(error.outcome)
            raise
        try:
            return self.llm.chat(messages, SCHEMA)
        except DependencyDownError as error:
            self._require_alive()
            # it lives, and this text brings it down each time: the text must not block the rest
            raise LLMOutputError(Outcome.SERVER_ERROR, error.reason) from error

    def _require_alive(self, outcome: str | None = None) -> None:
        health = self.llm.health(max_age=0.0)
        if health.ok:
            return
        if outcome is not None:
            self.outcomes[outcome] += 1
        raise DependencyDownError("ollama", health.reason or "no generation succeeded")
