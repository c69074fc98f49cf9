"""How long the start of a task takes: query_self on a warm index of 10,000 chunks.

    python benchmarks/query_self.py [--chunks N] [--calls N] [--json]

Half of the chunks are insights, half conversations (benchmarks/corpus.py). Questions are embedded
by the model that the product carries; the vectors of the passages are made up, which changes what
is found and not how long it takes. The folder asked about has 3,000 files and a history. What is
asked about it stays the same, as in a session, so its vector is remembered; questions are all new.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from corpus import MESSAGES_A_NOTE, Corpus
from metrics import percentiles
from numpy.typing import NDArray
from scale import TokenSums

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.operations.base import Answer, Services
from api.operations.budget import to_json
from api.operations.registry import OPERATIONS
from api.remembered import RememberingEmbedder
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder, FloatMatrix
from index.embedding.factory import make_embedder
from index.search import Searcher
from index.writer import IndexWriter
from vault.identity import project_identity

SCOPE = Scope.PERSONAL
PROJECTS = 20
WARM_UP_CALLS = 5


class MadeUpPassages:
    """The product's model for questions, sums of token vectors for passages."""

    def __init__(self, model: Embedder) -> None:
        self.identity = model.identity
        self._model = model
        self._made_up = TokenSums()

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return a row a text."""
        return self._made_up.embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[Any]:
        """Return the vector of one question."""
        return self._model.embed_query(text)


def main() -> None:
    """Run and print."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.chunks, arguments.calls)
    print(orjson.dumps({"query_self": figures}, option=orjson.OPT_INDENT_2).decode())


def measure(folder: Path, chunks: int, calls: int) -> dict[str, Any]:
    """Build a home of so many chunks and return the figures."""
    home, work = Home(folder / "home"), folder / "p3"
    home.create()
    corpus = Corpus()
    write_vault(home, corpus, chunks)
    write_folder(work, corpus)
    model = make_embedder(EmbeddingSettings(), home.models, "")
    embedder = MadeUpPassages(model)
    index_vault(home, embedder)
    services = Services(home=home, index=Searcher(home, RememberingEmbedder(embedder)))
    questions = corpus.questions(calls + WARM_UP_CALLS)
    asked: dict[str, list[dict[str, Any]]] = {
        "folder": [{"cwd": str(work)}] * len(questions),
        "question": [{"query": text} for text in questions],
        "folder_and_question": [{"cwd": str(work), "query": text} for text in questions],
    }
    return {
        "chunks": services.index.stats(SCOPE).chunks,
        **{name: _timed(services, arguments) for name, arguments in asked.items()},
    }


def index_vault(home: Home, embedder: Embedder) -> None:
    """Index the vault whole."""
    with IndexWriter(home, SCOPE, embedder) as writer:
        writer.scan()
        while writer.embed_pending(2_000).waiting:
            pass


def _timed(services: Services, asked: Sequence[dict[str, Any]]) -> dict[str, float]:
    caller = Caller("benchmark", SCOPE, Transport.STDIO)
    log = AuditLog(services.home.audit_log)
    wall, processor = [], []
    for arguments in asked:
        started, used = time.perf_counter(), time.process_time()
        answer = perform(OPERATIONS["query_self"], lambda: services, caller, arguments, log)
        assert isinstance(answer, Answer), answer  # noqa: S101  # else nothing was measured
        to_json(answer)
        wall.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    cpu = percentiles(processor[WARM_UP_CALLS:])
    return percentiles(wall[WARM_UP_CALLS:]) | {f"cpu_{name}": cpu[name] for name in cpu}


def write_vault(home: Home, corpus: Corpus, chunks: int) -> None:
    """Write so many chunks, half insights and half conversations, with projects and identity."""
    root = home.vault(SCOPE)
    for number in range(chunks // 2 // MESSAGES_A_NOTE):
        head = f"---\ntype: source\nsource: claude\ntitle: Talk {number}\n---\n"
        _write(root / f"sources/claude/2026/01/talk-{number:012x}.md", head + corpus.note(number))
    for number, text in enumerate(corpus.questions(chunks // 2)):
        project = f"p{number % PROJECTS}"
        head = f"type: insight\nkind: decision\nconfidence: raw\nproject: {project}\n"
        note = f"---\n{head}title: 'No {number}'\ncreated: 2026-05-04T03:02:01Z\n---\n{text}\n"
        _write(root / f"knowledge/decision/2026-05-04-{number:012x}.md", note)
    for number in range(PROJECTS):
        front = f"---\ntype: project\ntitle: p{number}\nstate: active\ngoal: ship it\n---\n"
        _write(root / f"projects/p{number}.md", front)
    items = "".join(f"- {text} {{public}}\n" for text in corpus.questions(40))
    _write(root / "identity/canonical.md", f"# Me\n\n{items}")
    project_identity(home)


def write_folder(work: Path, corpus: Corpus) -> None:
    """Write a working folder with a history and 3,000 files."""
    subjects = corpus.questions(400)
    who = "0" * 40 + " " + "1" * 40 + " Aki <aki@example.org> 1767600000 +0900"
    log = "".join(f"{who}\tcommit: {subject[:70]}\n" for subject in subjects)
    _write(work / ".git" / "logs" / "HEAD", log)
    for number in range(3_000):
        _write(work / f"src{number % 30}" / f"module_{number}.py", "x = 1\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="the figures are JSON either way")
    return parser.parse_args()


if __name__ == "__main__":
    main()
