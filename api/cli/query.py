"""`context-engine query`."""

from __future__ import annotations

from typing import Any

import click

from api.caller import Caller, Transport
from api.cli.common import (
    caller_scope,
    json_option,
    print_json,
    say,
    scope_option,
    settings_of_memory,
)
from api.usage.log import FILE, UsageLog
from context_engine.clock import isoformat
from context_engine.errors import UsageError
from context_engine.insights import Kind
from context_engine.logs import configure
from context_engine.text import says_again
from index.embedding.factory import make_embedder
from index.model import DEFAULT_LIMIT, Filters, Hit, SearchRequest
from index.search import Searcher


@click.command("query")
@click.argument("text")
@scope_option
@click.option(
    "--limit",
    type=click.IntRange(1, 100),
    default=DEFAULT_LIMIT,
    show_default=True,
    help="At most so many hits.",
)
@click.option("--source-type", help="Only text from this source: claude, slack, …")
@click.option("--project", help="Only this project.")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="Only this kind.")
@click.option("--explain", is_flag=True, help="Show why each result stands where it stands.")
@json_option
def command(  # noqa: PLR0913, PLR0917 - one parameter an option
    text: str,
    scope: str | None,
    limit: int,
    source_type: str | None,
    project: str | None,
    kind: str | None,
    explain: bool,
    as_json: bool,
) -> int:
    """Search the memory for TEXT, by words and by meaning.

    A scope sees its own vault and the public one. Exit code 0 also when nothing is found.
    """
    if not text.strip():
        raise UsageError("nothing to search for: the text is empty")
    settings = settings_of_memory()
    configure("query", folder=settings.paths.logs)
    asked = caller_scope(settings, scope)
    filters = Filters(
        kinds=(Kind(kind),) if kind else (),
        source_types=(source_type,) if source_type else (),
        project=project,
    )
    embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
    searcher = Searcher(settings.paths, embedder)
    result = searcher.search(
        asked,
        SearchRequest(text=text, limit=limit, filters=filters, explain=explain),
    )
    UsageLog(settings.paths.state / FILE).searched(
        Caller("cli", asked, Transport.CLI),
        [f"{hit.scope.value}/{hit.path}" for hit in result.hits],
    )
    for warning in result.warnings:
        say(f"note: {warning}")
    if as_json:
        print_json(
            {
                "query": text,
                "results": [hit_to_json(hit) for hit in result.hits],
                "search_ms": round(result.search_ms, 2),
                "warnings": list(result.warnings),
            }
        )
        return 0
    for number, hit in enumerate(result.hits, 1):
        print_hit(number, hit)
    say(f"searched {' and '.join(each.value for each in asked.readable)}; --scope chooses another")
    if not result.hits:
        say("nothing found")
    return 0


def hit_to_json(hit: Hit) -> dict[str, Any]:
    """Return a hit as the command line and the demo print it."""
    data: dict[str, Any] = {
        "path": f"{hit.scope.value}/{hit.path}",
        "title": hit.title,
        "heading": hit.heading,
        "summary": hit.summary,
        "kind": hit.kind.value if hit.kind else None,
        "confidence": hit.confidence.value if hit.confidence else None,
        "source": hit.source,
        "project": hit.project,
        "tags": list(hit.tags),
        "date": isoformat(hit.date) if hit.date else None,
        "score": round(hit.score, 6),
        "bm25_rank": hit.bm25_rank,
        "vector_rank": hit.vector_rank,
        "scope": hit.scope.value,
        "chunk_id": hit.chunk_id,
        "superseded_by": f"{hit.scope.value}/{hit.superseded_by}" if hit.superseded_by else None,
    }
    if hit.explanation:
        data["explanation"] = dict(hit.explanation)
    return data


def print_hit(number: int, hit: Hit) -> None:
    """Write a hit for a person: what, where, why."""
    date = f"{hit.date:%Y-%m-%d}" if hit.date else "undated"
    what = f"{hit.kind.value}, {hit.confidence.value}" if hit.kind and hit.confidence else "source"
    heading = f" › {hit.heading}" if hit.heading and hit.heading != hit.title else ""
    click.echo(f"{number:2}. {click.style(hit.title, bold=True)}{heading}")
    if not says_again(hit.summary, hit.title, hit.heading):
        click.echo(f"    {hit.summary}")
    click.echo(
        click.style(
            f"    {what} · {hit.source or 'note'} · {date} · score {hit.score:.3f} · "
            f"words #{_rank(hit.bm25_rank)} · meaning #{_rank(hit.vector_rank)}",
            dim=True,
        )
    )
    click.echo(click.style(f"    {hit.scope.value}/{hit.path}  chunk {hit.chunk_id}", dim=True))
    if hit.superseded_by:
        click.echo(f"    replaced since by {hit.scope.value}/{hit.superseded_by}")
    for key, value in hit.explanation.items():
        click.echo(
            f"      {key}: {value:.3f}" if isinstance(value, float) else f"      {key}: {value}"
        )


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
