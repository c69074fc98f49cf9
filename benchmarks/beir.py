"""BEIR folders as vaults: `corpus.jsonl`, `queries.jsonl`, `qrels.tsv` to notes and questions."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

Corpus = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Question:
    """A query with the documents that answer it. `world` is the corpus it is asked of."""

    id: str
    text: str
    world: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class Dataset:
    """One folder. A world holds what a query may see; most sets have a single one."""

    name: str
    worlds: Mapping[str, Corpus]
    questions: tuple[Question, ...]


def load(folder: Path) -> Dataset:
    """Read a folder in the BEIR shape; `meta.scope` separates worlds."""
    worlds: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for document in _records(folder / "corpus.jsonl"):
        worlds[_world(document)].append(document)
    relevant: dict[str, set[str]] = defaultdict(set)
    with (folder / "qrels.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if int(row["score"]) > 0:
                relevant[row["query-id"]].add(row["corpus-id"])
    questions = tuple(
        Question(record["_id"], record["text"], _world(record), frozenset(relevant[record["_id"]]))
        for record in _records(folder / "queries.jsonl")
        if relevant[record["_id"]]
    )
    return Dataset(folder.name, worlds, questions)


def write_vault(corpus: Corpus, vault: Path) -> dict[tuple[str, int], str]:
    """Write documents as notes; return the document of each (path, section or -1 for all).

    Documents that carry `meta.session` are the messages of a conversation: one source note a
    session. Every other document is a note of its own. File names give nothing away.
    """
    places: dict[tuple[str, int], str] = {}
    sessions: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for number, document in enumerate(corpus):
        session = (document.get("meta") or {}).get("session")
        if session is not None:
            sessions[str(session)].append(document)
            continue
        path = f"{number:06}.md"
        _write(vault / path, "note", document["title"], document["text"])
        places[path, -1] = document["_id"]
    for number, messages in enumerate(sessions.values()):
        path = f"sources/s{number:06}.md"
        _write(vault / path, "source", "", "\n".join(_messages(messages)))
        places.update({(path, place): m["_id"] for place, m in enumerate(messages)})
    return places


def _messages(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for place, message in enumerate(messages):
        date = message["meta"].get("date", "")
        yield f"## message · {date} <!-- ce:u={place:016x} other -->\n\n{message['text']}\n"


def _write(path: Path, kind: str, title: str, body: str) -> None:
    front = f"---\ntype: {kind}\ntitle: {orjson.dumps(title).decode()}\n---\n\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(front + body + "\n", encoding="utf-8")


def _world(record: Mapping[str, Any]) -> str:
    return str((record.get("meta") or {}).get("scope", ""))


def _records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            if line.strip():
                yield orjson.loads(line)
