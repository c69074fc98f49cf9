"""Notes written straight into a vault, and an index over them."""

from __future__ import annotations

from pathlib import Path

from context_engine.home import Home
from context_engine.scopes import Scope
from index.embedding.base import Embedder
from index.writer import IndexWriter


def put_note(home: Home, path: str, body: str, *, scope: Scope = Scope.WORK, **front: str) -> Path:
    """Write a note; `front` holds front matter values as YAML."""
    file = home.vault(scope) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    head = "".join(f"{key}: {value}\n" for key, value in front.items())
    file.write_text(f"---\n{head}---\n{body}\n" if front else f"{body}\n", encoding="utf-8")
    return file


def put_conversation(
    home: Home, path: str, *messages: str, scope: Scope = Scope.WORK, title: str = "Talk"
) -> Path:
    """Write a source note with one message a text."""
    blocks = [
        f"## aki · 2026-11-02 09:{number:02} UTC <!-- ce:u={number:016x} owner"
        f" at=2026-11-02T09:{number:02}:00Z -->\n\n{text}\n"
        for number, text in enumerate(messages)
    ]
    return put_note(
        home, path, "\n".join(blocks), scope=scope, type="source", source="claude", title=title
    )


def index_all(home: Home, embedder: Embedder | None, *scopes: Scope) -> None:
    """Index the vaults of these scopes completely."""
    for scope in scopes or (Scope.WORK,):
        with IndexWriter(home, scope, embedder) as writer:
            writer.scan()
            if embedder is not None:
                while writer.embed_pending().waiting:
                    pass
