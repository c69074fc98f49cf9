"""The five kinds of insight and their fields. The set is closed; a model cannot extend it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from context_engine.events import Ref
from context_engine.ids import short_id
from context_engine.scopes import Scope


class Kind(StrEnum):
    """What an insight is about; fixes where it lands in the vault."""

    VALUE = "value"
    DECISION = "decision"
    LEARNING = "learning"
    PROJECT = "project"
    PERSON = "person"


class Confidence(StrEnum):
    """`validated`: stated outright by the owner, quote verified. `raw`: everything else."""

    RAW = "raw"
    VALIDATED = "validated"


@dataclass(frozen=True)
class Insight:
    """One distilled statement with its evidence.

    `evidence` occurs verbatim in the source (after normalising space and width) or the insight
    is never built. `utterance` is the marker of the message that holds the evidence.
    `extractor` names who distilled it (`ollama:<model>`, `cues`, `client:<name>`).
    """

    scope: Scope
    kind: Kind
    title: str
    content: str
    confidence: Confidence
    evidence: str
    source: str
    source_path: str | None
    event_id: str | None
    utterance: str | None
    extractor: str
    created: datetime
    verified: datetime | None = None
    project: str | None = None
    subject: str | None = None
    """For kind `person`, whom it is about; for kind `project`, which project."""
    people: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[Ref, ...] = ()
    supersedes: str | None = None
    owner_said: bool = False
    """Whether the evidence is the owner's own words, and no hearsay."""

    @cached_property
    def insight_id(self) -> str:
        """Short id over scope, kind and evidence: saying it again overwrites, never adds."""
        return short_id("insight", self.scope, self.kind, self.evidence or self.content)
