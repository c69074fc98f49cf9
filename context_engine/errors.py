"""The one exception tree. Context travels as attributes; the message says what to do."""

from __future__ import annotations


class ContextEngineError(Exception):
    """Anything this engine raises on purpose."""


class ConfigError(ContextEngineError):
    """A setting is missing, malformed or contradicts another."""


class UsageError(ContextEngineError):
    """The caller asked for something that cannot be meant; exit code 2."""


class AlreadyRunningError(ContextEngineError):
    """Another supervisor holds this home."""


class DependencyDownError(ContextEngineError):
    """Something we wait for (LLM, broker) is away: pause, burn no attempt."""

    def __init__(self, dependency: str, reason: str) -> None:
        super().__init__(f"{dependency} is not available: {reason}")
        self.dependency = dependency
        self.reason = reason


class AccessDeniedError(ContextEngineError):
    """A service needs a secret that a person must give, mend or widen; no retry will do."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service}: {reason}")
        self.service = service
        self.reason = reason


class DeadlineExceededError(ContextEngineError):
    """A bounded operation ran out of its total time."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} did not finish within {seconds:g} s")
        self.what = what
        self.seconds = seconds


class BadInputError(ContextEngineError):
    """Input that no retry will mend."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class LLMOutputError(ContextEngineError):
    """The model answered, but not with something we can use; `outcome` is the counted class."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(f"{outcome}: {reason}")
        self.outcome = outcome
        self.reason = reason


class NoteConflictError(ContextEngineError):
    """A note changed between reading and writing."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed while it was being written")
        self.path = path


class UnsafePathError(ContextEngineError):
    """A path leaves its vault, or passes through a link."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class IndexCorruptError(ContextEngineError):
    """An index file is damaged; the vault can rebuild it."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} is damaged ({reason}); rebuild it with: context-engine reindex --rebuild"
        )
        self.path = path
        self.reason = reason


class IndexMismatchError(ContextEngineError):
    """The index was built by another model, tokenizer or chunker than the configured one."""


class NotFoundError(ContextEngineError):
    """Absent, or not this caller's to see: the two are the same on purpose."""
