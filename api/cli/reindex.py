"""`context-engine reindex`."""

from __future__ import annotations

import time

import click

from api.cli.common import json_option, on_terminal, plural, print_json, say, settings_of_memory
from api.cli.ingest import wait_for_vectors
from api.cli.progress import Meter
from context_engine.logs import configure
from context_engine.scopes import Scope
from index.search import Searcher
from workers import outbox_report
from workers.indexer_jobs import reindex_job
from workers.outbox import Outbox
from workers.parts import engine

POLL_SECONDS = 0.1


@click.command("reindex")
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    help="Only the index of this vault; default: all.",
)
@click.option("--rebuild", is_flag=True, help="Build the index anew from the vault.")
@json_option
def command(scope: str | None, rebuild: bool, as_json: bool) -> int:
    """Bring the index up to date with the vault: new, changed, moved and deleted files.

    Queries are answered throughout. Interrupt and run again: it goes on.
    """
    settings = settings_of_memory()
    settings.paths.create()
    configure("reindex", folder=settings.paths.logs)
    scopes = [Scope(scope)] if scope else list(Scope)
    outbox = Outbox(settings.paths.outbox)
    jobs = [reindex_job(each, rebuild=rebuild) for each in scopes]
    outbox.add(jobs)
    with engine(settings), Meter(enabled=on_terminal()) as meter:
        while unfinished := outbox_report.unfinished(outbox, [job.key for job in jobs]):
            meter.working(len(jobs) - unfinished, len(jobs))
            time.sleep(POLL_SECONDS)
        wait_for_vectors(settings, meter)
    searcher = Searcher(settings.paths, None)
    report = {each.value: searcher.stats(each) for each in scopes}
    failed = [
        item for item in outbox_report.quarantined(outbox) if item.key in {job.key for job in jobs}
    ]
    if as_json:
        print_json(
            {
                "scopes": {
                    name: {"notes": s.notes, "chunks": s.chunks, "embedded": s.embedded}
                    for name, s in report.items()
                },
                "failed": [{"job": item.key, "reason": item.error} for item in failed],
            }
        )
    else:
        for name, stats in report.items():
            click.echo(
                f"{name:<9} {plural(stats.notes, 'note')}, {plural(stats.chunks, 'chunk')}, "
                f"{stats.embedded:,} with vectors"
            )
        for item in failed:
            say(f"{item.key} failed: {item.error}")
    return 1 if failed else 0
