"""Notes that Claude Code keeps for itself: `<cwd slug>/memory/*.md`."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from connectors.base import Item, Ledger
from connectors.claude_layout import MEMORY_LIMIT, cwd_of_folder, native_id
from connectors.claude_session import SOURCE, Env
from connectors.pieces import PartCounter, split_utterance
from connectors.places import project_name
from connectors.text import clean_text, first_sentence, show_path
from connectors.walk import Found
from context_engine.events import BadRecord, Checkpoint, Role, SourceDocument, Utterance
from context_engine.markers import strip_injected


def read_memory(found: Found, ledger: Ledger, env: Env) -> Iterator[Item]:
    """Yield a note as one message of the assistant, and again whenever it changed.

    The message keeps its id, so that a changed note replaces what was collected before.
    """
    if found.size > MEMORY_LIMIT:
        yield BadRecord(show_path(found.path), f"larger than {MEMORY_LIMIT >> 20} MiB")
        return
    data = found.path.read_bytes()
    name, digest = native_id(found.path), sha256(data).hexdigest()
    key = f"{SOURCE}:{name}"
    if (ledger.checkpoint(key) or {}).get("digest") == digest:
        return
    text = clean_text(strip_injected(data.decode("utf-8-sig", "replace")))
    if text:
        yield from _documents(found, name, text, env)
    yield Checkpoint(key, {"digest": digest})


def _documents(found: Found, name: str, text: str, env: Env) -> Iterator[SourceDocument]:
    cwd = cwd_of_folder(found.path.parent.parent)
    # no time: the file's date is that of the last copy, not of what it says
    note = Utterance(name, "assistant", Role.ASSISTANT, None, text)
    counter = PartCounter()
    for piece in split_utterance(note):
        yield SourceDocument(
            source=SOURCE,
            native_id=name,
            scope=env.options.scope_of(cwd),
            project=env.options.project or project_name(cwd),
            title=_title(text) or found.path.stem,
            utterances=(piece,),
            part=counter.place(len(piece.text)),
            meta={"kind": "memory", **({"cwd": cwd} if cwd else {})},
        )


def _title(text: str) -> str:
    """Return the first sentence below the front matter."""
    if text.startswith("---\n"):
        text = text.partition("\n---")[2] or text
    return first_sentence(text)
