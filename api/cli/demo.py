"""`context-engine demo`: the whole way, on sample sessions, in a home of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import click

from api.cli.common import plural, say
from api.cli.ingest import ingest
from api.cli.query import print_hit
from connectors.registry import load
from context_engine.errors import UsageError
from context_engine.home import Home
from context_engine.logs import configure
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.embedding.factory import make_embedder
from index.model import SearchRequest
from index.search import Searcher
from workers.collector import read_options

_CONFIG = """\
# The demo's settings. Yours lie in ~/context-engine/config.toml.
owner_name = "Aki"
default_scope = "personal"

[[scope_rule]]
path = "/home/aki/work/**"
scope = "work"

[[scope_rule]]
path = "/home/aki/oss/**"
scope = "public"
"""

QUERIES = (
    (Scope.WORK, "なぜキューを替えたのか"),
    (Scope.WORK, "root cause of the slow checkout"),
    (Scope.PERSONAL, "コードレビューの好み"),
)
"""Japanese and English, by words and by meaning."""

NEXT_STEPS = (
    ('export PATH="$PWD/.venv/bin:$PATH"', ""),
    ("context-engine init", "five questions; reads your Claude Code sessions"),
    ("context-engine up", "collects, follows your edits, serves assistants"),
    ("context-engine install claude-code", "or codex, cursor, gemini-cli, claude-desktop"),
    ("context-engine review", "decide what of it is true"),
    ("context-engine doctor", "is all well?"),
)
"""Commands as the README has them, and what each is for."""

_MARKER = "demo-home"
_HITS = 3


@click.command("demo")
@click.option(
    "--samples",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of Claude Code sessions; default: the ones this project ships.",
)
def command(samples: Path | None) -> int:
    """Try everything on sample sessions in a temporary home; your own data is not touched."""
    folder = samples or Path(__file__).parents[2] / "samples" / "claude" / "projects"
    if not folder.is_dir():
        raise UsageError(f"no sample sessions at {folder}; name a folder with --samples")
    settings = _fresh_home()
    configure("demo", folder=settings.paths.logs)
    say(f"Reading the sample sessions in {folder}")
    say("with broker, workers and indexer on a temporary home …")
    summary = ingest(settings, load("claude"), (folder,), read_options(settings), wait=True)
    _report(summary)
    _search(settings)
    _where(settings)
    return 1 if summary["quarantined"] else 0


def _fresh_home() -> Settings:
    root = Path(tempfile.gettempdir()) / f"context-engine-demo-{os.getuid()}"
    if root.exists():
        if not (root / _MARKER).is_file() or root.stat().st_uid != os.getuid():
            raise UsageError(f"{root} is not a demo of ours; remove it and run the demo again")
        _clear(root)
    home = Home(root)
    home.create()
    (root / _MARKER).touch()
    home.config_file.write_text(_CONFIG, encoding="utf-8")
    os.environ["CE_HOME"] = str(root)
    return load_settings()


def _clear(root: Path) -> None:
    """Empty the home of the last run; the converted model stays, it is the same each time."""
    shutil.rmtree(root / "vault", ignore_errors=True)
    for path in (root / "state").glob("*"):
        if path.name != "models":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _report(summary: dict[str, Any]) -> None:
    click.secho("\nWhat was read", bold=True)
    click.echo(
        f"  {plural(summary['events'], 'event')} with {plural(summary['messages'], 'message')}"
    )
    for kind, count in sorted(summary["unknown_types"].items()):
        click.echo(f"  {plural(count, 'record')} of the unknown type {kind!r}: counted, left out")
    for bad in summary["bad_records"]:
        click.echo(f"  refused {Path(bad['place']).name}: {bad['reason']}")
    for kind, count in sorted(summary["redacted"].items()):
        click.echo(
            f"  redacted {plural(count, 'secret')} of kind {kind}, before anything was stored"
        )
    click.secho("\nWhat became of it", bold=True)
    insights = ", ".join(f"{count} {kind}" for kind, count in summary["insights"].items())
    click.echo(
        f"  {plural(summary['notes'], 'note')}, cut into {plural(summary['chunks'], 'chunk')}"
    )
    click.echo(f"  insights: {insights}")
    if summary["waiting_for_llm"]:
        click.echo(
            "  No local model answers, so insights come from rules (`cues`) and are marked raw.\n"
            f"  {plural(summary['waiting_for_llm'], 'conversation')} wait for Ollama; "
            "it replaces them when it comes."
        )
    for item in summary["quarantine"]:
        click.echo(f"  given up: {item['queue']} ({item['class']}): {item['reason']}")
    click.echo(f"  {summary['seconds']:.1f} s in all")


def _search(settings: Settings) -> None:
    embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
    searcher = Searcher(settings.paths, embedder)
    for scope, text in QUERIES:
        result = searcher.search(scope, SearchRequest(text=text, limit=_HITS))
        command_line = f"context-engine query {text!r} --scope {scope.value}"
        click.secho(f"\n{command_line}   ({result.search_ms:.0f} ms)", bold=True)
        for number, hit in enumerate(result.hits, 1):
            print_hit(number, hit)


def _where(settings: Settings) -> None:
    click.secho("\nWhere it lies", bold=True)
    click.echo(f"  Markdown: {settings.paths.vaults}")
    for scope in Scope:
        notes = sum(1 for _ in settings.paths.vault(scope).rglob("*.md"))
        click.echo(f"    {scope.value:<9} {plural(notes, 'file')}")
    own = Path("~/.claude/projects").expanduser()
    click.secho("\nYour own sessions", bold=True)
    found = "are at" if own.is_dir() else "would be at"
    click.echo(f"  They {found} {own}. Your own memory, in ~/context-engine:")
    for step, about in NEXT_STEPS:
        click.echo(f"    {step:<38} # {about}" if about else f"    {step}")
