"""A labelled conversation: one JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from context_engine.errors import BadInputError
from context_engine.events import Role, Utterance
from context_engine.insights import Confidence, Kind

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_FIRST_UNSEEN = 69
_STARTED = datetime(2026, 10, 1, 9, tzinfo=UTC)


class LabelledMessage(BaseModel):
    """One message of a conversation."""

    model_config = _FROZEN

    role: Role
    author: str
    text: str


class Gold(BaseModel):
    """An insight that a careful reader would keep. `hearsay`: it comes from somebody else."""

    model_config = _FROZEN

    kind: Kind
    confidence: Confidence
    quote: str = Field(min_length=1)
    content: str
    hearsay: bool = False


class MustNot(BaseModel):
    """A quotation that no insight may rest on."""

    model_config = _FROZEN

    why: str
    quote: str = Field(min_length=1)


class Conversation(BaseModel):
    """A short transcript with what is, and what is not, to be found in it."""

    model_config = _FROZEN

    id: str
    language: Literal["ja", "en"]
    source: str
    messages: tuple[LabelledMessage, ...]
    gold: tuple[Gold, ...] = ()
    must_not: tuple[MustNot, ...] = ()

    @property
    def unseen(self) -> bool:
        """Whether the rules were finished before this conversation was written.

        The others were looked at while the rules grew: figures over them flatter.
        """
        number = self.id.rpartition("-")[2]
        return number.isdecimal() and int(number) >= _FIRST_UNSEEN

    def utterances(self) -> list[Utterance]:
        """Return the messages as a connector would yield them, a minute apart."""
        return [
            Utterance(
                native_id=f"{self.id}/{number}",
                author=message.author,
                role=message.role,
                at=_STARTED + timedelta(minutes=number),
                text=message.text,
            )
            for number, message in enumerate(self.messages)
        ]


def shipped() -> Path:
    """Return the folder of the labelled set that comes with the program."""
    return Path(str(files(__package__).joinpath("data")))


def load_conversations(folder: Path) -> Sequence[Conversation]:
    """Read every *.json below `folder`, by name.

    Raises BadInputError naming the file that is not in shape, or the folder that holds none.
    """
    found = [_load(path) for path in sorted(folder.rglob("*.json"))]
    if not found:
        raise BadInputError(str(folder), "no labelled conversation (*.json) is here")
    return found


def _load(path: Path) -> Conversation:
    try:
        return Conversation.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(str(path), f"{place}: {first['msg']}") from error
    except OSError as error:
        raise BadInputError(str(path), error.strerror or str(error)) from error
