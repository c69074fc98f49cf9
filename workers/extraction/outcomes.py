"""The classes that every extraction is counted by."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one proposed insight, of one window, or of one call."""

    # one proposed insight
    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    UNVERIFIED_QUOTE = "unverified_quote"
    OUT_OF_SCHEMA = "out_of_schema"
    POISONED = "poisoned"
    INJECTED = "injected"
    """A message of which a part was our own context, which was left out."""
    DOWNGRADED = "downgraded"
    """Accepted, but below the confidence that the model asked for; also counted as accepted."""
    # one reply of the model
    EMPTY = "empty"
    TRUNCATED = "truncated"
    CONTEXT_OVERFLOW = "context_overflow"
    BAD_JSON = "bad_json"
    ECHOED_SCHEMA = "echoed_schema"
    REPETITION = "repetition"
    TOO_LARGE = "too_large"
    WRONG_MODEL = "wrong_model"
    SERVER_ERROR = "server_error"
    # one call that brought no reply
    DEADLINE = "deadline"
    LLM_DOWN = "llm_down"
    SKIPPED = "skipped"
    """A window that was not tried because the calls before it had failed."""
