"""One transcript file as it streams by: its conversation, its inline subagents, its state.

All that later records need from earlier ones is in the state, so that a file read in two runs
gives what it gives in one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.base import EVENT_LIMIT, Item, ReadOptions
from connectors.claude_conversation import Conversation, load_conversation
from connectors.claude_records import (
    Context,
    Problem,
    Record,
    Said,
    Spoken,
    Unknown,
    is_silent,
    said_in,
    said_in_attachment,
    said_in_queue,
    title_in,
    touched_files,
)
from connectors.claude_state import Heard, Prompts, Sidechains
from connectors.claude_vocabulary import SPEECHLESS_TYPES, SYSTEM_SUBTYPES
from connectors.pieces import PartCounter, Unseen, split_utterance
from connectors.places import project_name
from connectors.text import clean_text, first_sentence, shorten
from context_engine.clock import Clock
from context_engine.events import (
    BadRecord,
    Role,
    SourceDocument,
    UnknownRecord,
    Utterance,
)

SOURCE = "claude"
PENDING_LIMIT = 2 * EVENT_LIMIT
CONVERSATIONS = 64
"""Inline subagents remembered; one that is silent for longer begins a new part one."""
REFS_LIMIT = 50
META_LENGTH = 300

_MESSAGES = ("user", "assistant")
_AUTHORS = {Role.ASSISTANT: "assistant", Role.OTHER: "pasted"}
_META_FIELDS = {
    "sessionId": "session",
    "gitBranch": "git_branch",
    "version": "version",
    "entrypoint": "entrypoint",
    "cwd": "cwd",
}


@dataclass(frozen=True, slots=True)
class Env:
    """What all files of one run share."""

    options: ReadOptions
    unseen: Unseen
    clock: Clock


@dataclass(frozen=True, slots=True)
class Transcript:
    """A file before its first record is read. `cwd` is set where the records do not decide."""

    native_id: str
    by_agent: bool = False
    cwd: str | None = None
    title: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)


class Session:
    """Turns records into documents. Raises KeyError, TypeError or ValueError on a bad `state`."""

    def __init__(self, transcript: Transcript, state: Mapping[str, Any], env: Env) -> None:
        self._transcript, self._env = transcript, env
        self._context = Context(env.clock, transcript.native_id, transcript.by_agent)
        self._cwd: str | None = transcript.cwd or state.get("cwd")
        self._rank = int(state.get("rank", 0))
        self._title = str(state.get("title", "") or transcript.title or "")
        self._attachments = bool(state.get("attachments", False))
        self._meta: dict[str, str] = dict(state.get("meta", {}))
        self._meta_seen: dict[str, str] = {}
        self._heard = Heard(state.get("heard"))
        self._sidechains = Sidechains(state.get("sidechains"))
        self._prompts = Prompts(state.get("prompts"))
        conversations = state.get("conversations", {})
        self._conversations = {
            suffix: load_conversation(suffix, saved) for suffix, saved in conversations.items()
        }
        self._recent: deque[Any] = deque(maxlen=64)
        self._handlers: Mapping[str, Callable[[Record, str], Iterator[Item]]] = {
            "user": self._message,
            "assistant": self._message,
            "attachment": self._attachment,
            "queue-operation": self._queue,
            "system": self._system,
            "custom-title": self._titled,
            "ai-title": self._titled,
            "summary": self._titled,
            "pr-link": self._pull_request,
        }

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes; JSON values of bounded size."""
        return {
            "cwd": self._cwd,
            "rank": self._rank,
            "title": self._title,
            "attachments": self._attachments,
            "meta": self._meta,
            "heard": self._heard.state(),
            "sidechains": self._sidechains.state(),
            "prompts": self._prompts.state(),
            "conversations": {
                suffix: conversation.state() for suffix, conversation in self._conversations.items()
            },
        }

    def feed(self, record: Record, place: str) -> Iterator[Item]:
        """Take in one record; yield the documents it filled and what could not be understood."""
        kind = record.get("type")
        self._recent.append(record.get("uuid"))
        if kind in _MESSAGES and is_silent(record):
            self._follow(record)
            return
        self._note(record)
        handler = self._handlers.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            yield from handler(record, place)
        elif not isinstance(kind, str) or kind not in SPEECHLESS_TYPES:
            yield _unknown(place, kind if isinstance(kind, str) else "no type")

    def flush(self) -> Iterator[SourceDocument]:
        """Yield all that is pending."""
        for conversation in list(self._conversations.values()):
            yield from self._send(conversation)
        for suffix in list(self._conversations)[:-CONVERSATIONS]:
            if suffix:
                del self._conversations[suffix]

    def _note(self, record: Record) -> None:
        """Remember where the session is: the latest cwd, branch, version."""
        for name, key in _META_FIELDS.items():
            value = record.get(name)
            if value and value != self._meta_seen.get(name) and isinstance(value, str):
                self._meta_seen[name] = value
                self._meta[key] = _bounded(value)
        if self._cwd is None:
            # the folder it was started in fixes scope and project for good: a `cd` must not
            # carry the rest of a conversation into another vault
            self._cwd = self._meta.get("cwd")

    def _message(self, record: Record, place: str) -> Iterator[Item]:
        conversation = self._conversation_of(record)
        if record["type"] == "assistant":
            self._note_work(conversation, record)
        yield from self._hear(conversation, record, said_in(record, self._context), place)

    def _attachment(self, record: Record, place: str) -> Iterator[Item]:
        self._attachments = True
        conversation = self._conversation_of(record)
        spoken = said_in_attachment(record, self._context)
        yield from self._hear(conversation, record, spoken, place)

    def _queue(self, record: Record, place: str) -> Iterator[Item]:
        # versions that write attachments repeat these texts there, with their origin
        if not self._attachments:
            conversation = self._conversation_of(record)
            spoken = said_in_queue(record, self._context)
            yield from self._hear(conversation, record, spoken, place)

    def _system(self, record: Record, place: str) -> Iterator[Item]:
        self._follow(record)
        subtype = record.get("subtype")
        if subtype is not None and str(subtype) not in SYSTEM_SUBTYPES:
            yield _unknown(place, f"system/{subtype}")

    def _titled(self, record: Record, place: str) -> Iterator[Item]:
        found = title_in(record)
        if found is None:
            yield BadRecord(place, f"{record['type']} record without a title")
        elif found[0] >= self._rank and self._is_about_this(record):
            self._rank, self._title = found[0], shorten(clean_text(found[1]))

    def _is_about_this(self, record: Record) -> bool:
        """Say whether a title is this session's: summaries of others stand at a file's start."""
        leaf = record.get("leafUuid")
        if record["type"] != "summary":
            return True
        return leaf in self._recent if leaf else bool(self._conversations)

    def _pull_request(self, record: Record, place: str) -> Iterator[Item]:
        del place
        url = record.get("prUrl")
        if isinstance(url, str):
            self._meta["pull_request"] = _bounded(url)
        yield from ()

    def _follow(self, record: Record) -> str:
        """Return the suffix of the conversation that the record belongs to."""
        if self._transcript.by_agent:
            return ""
        if record.get("isSidechain") is True:
            return self._sidechains.follow(record)
        self._sidechains.leave()
        return ""

    def _conversation_of(self, record: Record) -> Conversation:
        suffix = self._follow(record)
        conversation = self._conversations.pop(suffix, None)
        self._conversations[suffix] = conversation or Conversation(suffix, PartCounter())
        return self._conversations[suffix]

    def _note_work(self, conversation: Conversation, record: Record) -> None:
        message = record.get("message")
        model = message.get("model") if isinstance(message, dict) else None
        if isinstance(model, str) and model and model != "<synthetic>":
            self._meta["model"] = _bounded(model)
        for ref in touched_files(record, self._meta.get("cwd")):
            if len(conversation.refs) < REFS_LIMIT:
                conversation.refs[ref] = None

    def _hear(
        self, conversation: Conversation, record: Record, spoken: Iterator[Spoken], place: str
    ) -> Iterator[Item]:
        prompt: str | None = None
        for said in spoken:
            if isinstance(said, Problem):
                yield BadRecord(place, said.reason)
            elif isinstance(said, Unknown):
                yield _unknown(place, said.kind)
            else:
                if prompt is None and said.role is Role.OWNER and record["type"] == "user":
                    prompt = said.key
                    self._note_rewind(conversation, record, prompt)
                if conversation.suffix == "":
                    self._prompts.latest = said.key
                yield from self._take(conversation, said)

    def _note_rewind(self, conversation: Conversation, record: Record, prompt: str) -> None:
        """Flag what a rewind left behind: it stays, but the conversation went another way."""
        abandoned = self._prompts.abandoned(record.get("parentUuid"), prompt)
        if abandoned and len(conversation.abandoned) < REFS_LIMIT:
            conversation.abandoned.append(abandoned)

    def _take(self, conversation: Conversation, said: Said) -> Iterator[SourceDocument]:
        text = self._heard.new_part(said.message, said.text) if said.message else said.text
        if not text:
            return
        conversation.started = conversation.started or said.at
        if not conversation.title and (said.role is Role.OWNER or self._is_agent(conversation)):
            conversation.title = first_sentence(text)
        author = _AUTHORS.get(said.role, self._env.options.owner_name)
        for piece in split_utterance(Utterance(said.key, author, said.role, said.at, text)):
            part = conversation.counter.place(len(piece.text))
            if conversation.is_full_for(part, len(piece.text)):
                yield from self._send(conversation)
            conversation.part = part
            if self._env.unseen.claim(piece.native_id):
                conversation.pending.append(piece)
                conversation.characters += len(piece.text)
        if self._is_crowded():
            yield from self.flush()

    def _is_crowded(self) -> bool:
        """Say whether much is pending, or little of very many: both are bounded."""
        pending = sum(each.characters for each in self._conversations.values())
        return pending > PENDING_LIMIT or len(self._conversations) > 2 * CONVERSATIONS

    def _is_agent(self, conversation: Conversation) -> bool:
        return self._transcript.by_agent or conversation.suffix != ""

    def _send(self, conversation: Conversation) -> Iterator[SourceDocument]:
        """Yield what is pending, as far as it is new; what it touched waits for new words."""
        utterances = self._env.unseen.new(conversation.pending)
        conversation.pending, conversation.characters = [], 0
        if utterances:
            yield self._document(conversation, utterances)
            conversation.refs, conversation.abandoned = {}, []

    def _document(
        self, conversation: Conversation, utterances: tuple[Utterance, ...]
    ) -> SourceDocument:
        options, suffix = self._env.options, conversation.suffix
        project = options.project or project_name(self._cwd)
        own_title = self._title if suffix == "" else ""
        return SourceDocument(
            source=SOURCE,
            native_id=self._transcript.native_id + suffix,
            scope=options.scope_of(self._cwd),
            project=project,
            title=own_title or conversation.title or project or "Claude Code",
            utterances=utterances,
            started=conversation.started,
            part=conversation.part,
            refs=tuple(conversation.refs),
            meta=self._document_meta(conversation),
        )

    def _document_meta(self, conversation: Conversation) -> dict[str, str]:
        meta = {**self._meta, **self._transcript.meta}
        if conversation.suffix:
            meta |= {
                "kind": "subagent",
                "agent": conversation.suffix[1:],
                "parent": self._transcript.native_id,
            }
        if conversation.abandoned:
            meta["abandoned"] = " ".join(conversation.abandoned)
        return meta


def _unknown(place: str, kind: str) -> UnknownRecord:
    return UnknownRecord(place, shorten(clean_text(kind), 80))


def _bounded(value: str) -> str:
    return clean_text(value)[:META_LENGTH]
