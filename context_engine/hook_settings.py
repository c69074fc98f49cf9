"""Settings of what assistants are told by hooks."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class HookSettings(BaseModel):
    """What assistants are told without having asked."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    session_budget: Annotated[int, Field(ge=500, le=20_000)] = 2000
    """Tokens of what a session is told at its start, at most."""
    recall: bool = True
    """Whether a prompt may be told which notes to read first."""
