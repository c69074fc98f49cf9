"""`context-engine ingest`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from api.cli.auto import AUTO, by_source, recognise_all
from api.cli.common import json_option, moment, on_terminal, print_json, say
from api.cli.following import check_follow, until_interrupted
from api.cli.ingest_report import print_preview, print_summary
from api.cli.progress import Meter
from connectors.base import Connector, LiveConnector, ReadOptions
from connectors.recognition import Recognised
from connectors.registry import SOURCES, load
from context_engine.errors import ContextEngineError, UsageError
from context_engine.logs import configure
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.search import Searcher
from workers.collector import CollectReport, collect, read_options
from workers.handover import try_spool
from workers.jobs import DISK, disk_is_writable
from workers.outbox import Outbox
from workers.parts import engine
from workers.preview import Preview, preview, preview_summary
from workers.progress import Progress, all_progress, run_progress, run_summary
from workers.refill import refill_ledger
from workers.supervisor import is_running

POLL_SECONDS = 0.1


@click.command("ingest")
@click.argument("source", metavar="SOURCE", type=click.Choice([AUTO, *sorted(SOURCES)]))
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    help="Vault of all that is read; default: by a session's folder, else `default_scope`.",
)
@click.option("--project", help="Project of everything read; default: from the source.")
@click.option(
    "--since", metavar="DATE", callback=moment, help="Take only what was said on that day or later."
)
@click.option("--dry-run", is_flag=True, help="Say what would come in, and write nothing.")
@click.option("--follow", is_flag=True, help="Stay on and collect what happens: slack-live.")
@click.option("--wait", is_flag=True, help="With `up` running: wait until all is searchable.")
@json_option
def command(source: str, paths: tuple[Path, ...], **chosen: Any) -> int:
    """Collect SOURCE from PATHS (default: where it usually lies) into the memory.

    SOURCE is one of those that `context-engine sources` lists, or `auto`: then each of PATHS is
    looked at, and what it is is said.

    Only what is new is read. With `up` running the events are handed over to it; otherwise the
    engine is started for as long as it takes. Interrupt and run again: it goes on. After a run
    with --since one without it takes the rest.
    """
    wanted = _Wanted(**chosen)
    settings = load_settings()
    recognised = recognise_all(paths) if source == AUTO else ()
    targets = by_source(recognised) if source == AUTO else {source: paths}
    runs = [_run(settings, load(name), its, wanted) for name, its in targets.items()]
    _report(runs, recognised, settings, wanted)
    return max((_exit_code(run) for run in runs), default=0)


@dataclass(frozen=True)
class _Wanted:
    """What the caller asked for, by the names of the options."""

    scope: str | None
    project: str | None
    since: datetime | None
    dry_run: bool
    follow: bool
    wait: bool
    as_json: bool


def _run(
    settings: Settings, connector: Connector, paths: tuple[Path, ...], wanted: _Wanted
) -> dict[str, Any]:
    chosen = _existing(connector, paths)
    scope = Scope(wanted.scope) if wanted.scope else None
    options = read_options(settings, scope, wanted.project, wanted.since)
    if wanted.follow:
        check_follow(connector, dry_run=wanted.dry_run)
        options = dataclasses.replace(options, follow=True)
    if wanted.dry_run:
        return {"source": connector.name} | foresee(settings, connector, chosen, options)
    settings.paths.create()
    configure("ingest", folder=settings.paths.logs)
    summary = ingest(settings, connector, chosen, options, wait=wanted.wait)
    return {"source": connector.name} | summary


def _report(
    runs: Sequence[dict[str, Any]],
    recognised: Sequence[Recognised],
    settings: Settings,
    wanted: _Wanted,
) -> None:
    if wanted.as_json:
        each = [{"path": str(it.path), "source": it.source, "looks_like": it.words}
                for it in recognised]  # fmt: skip
        print_json({"recognised": each, "runs": runs} if recognised else runs[0])
        return
    for run in runs:
        if len(runs) > 1:
            click.echo(f"— {run['source']} —")
        if wanted.dry_run:
            print_preview(run)
        else:
            print_summary(run, settings)


def _exit_code(summary: dict[str, Any]) -> int:
    if not summary["events"] and not summary["unchanged"] and not summary["checkpoints"]:
        say(f"nothing here looks like {summary['source']} data; see: context-engine sources")
        return 1
    return 1 if summary.get("quarantined") else 0


def _existing(connector: Connector, paths: tuple[Path, ...]) -> tuple[Path, ...]:
    if paths and isinstance(connector, LiveConnector):
        raise UsageError(
            f"{connector.name} is asked over the network and takes no PATH; files are read by: "
            f"context-engine ingest {connector.shares} PATH"
        )
    chosen = paths or tuple(path.expanduser() for path in connector.default_paths)
    missing = [str(path) for path in chosen if not path.exists()]
    if missing:
        raise UsageError(
            f"no such file or folder: {', '.join(missing)}; name the place of your "
            f"{connector.name} data: context-engine ingest {connector.name} PATH"
        )
    return chosen


def ingest(
    settings: Settings,
    connector: Connector,
    paths: tuple[Path, ...],
    options: ReadOptions,
    *,
    wait: bool,
) -> dict[str, Any]:
    """Collect, work, and return what was read and what became of it.

    wait: also when a running engine takes the events over.
    """
    started = time.monotonic()
    outbox = Outbox(settings.paths.outbox)
    refill_ledger(settings.paths, outbox)
    report = CollectReport()
    with engine(settings) as handed_over, Meter(enabled=on_terminal()) as meter:
        options = meter.reading(options, report)
        if not handed_over:
            try_spool(settings, outbox)
        with until_interrupted(connector.name) if options.follow else nullcontext():
            collect(
                connector,
                paths,
                outbox,
                options,
                redaction=settings.redaction_options,
                report=report,
                on_bad=meter.bad,
            )
        if handed_over and wait:
            _await(settings, lambda: run_progress(outbox, report.run_id), meter)
        elif not handed_over:
            if disk_is_writable(settings.paths):
                outbox.resume(DISK)
            # nobody else would finish what an interrupted run has left
            _await(settings, lambda: all_progress(outbox), meter)
    summary = run_summary(outbox, report)
    pending = all_progress(outbox).unfinished
    return summary | {
        "handed_over": handed_over,
        "pending": pending,
        "seconds": round(time.monotonic() - started, 2),
    }


def foresee(
    settings: Settings, connector: Connector, paths: tuple[Path, ...], options: ReadOptions
) -> dict[str, Any]:
    """Return what `ingest` would take in now; nothing is written."""
    started = time.monotonic()
    report = Preview()
    with Meter(enabled=on_terminal()) as meter:
        options = meter.reading(options, report)
        outbox = settings.paths.outbox
        preview(connector, paths, outbox, options, on_bad=meter.bad, report=report)
    return preview_summary(report) | {"seconds": round(time.monotonic() - started, 2)}


def _await(settings: Settings, progress_of: Callable[[], Progress], meter: Meter) -> None:
    while (progress := progress_of()).unfinished:
        meter.working(progress.total - progress.unfinished, progress.total)
        _pause(settings)
    wait_for_vectors(settings, meter)


def _pause(settings: Settings) -> None:
    """Sleep for a moment; raise ContextEngineError when nobody works any more."""
    if not is_running(settings.paths):
        raise ContextEngineError(
            "the engine that took the events over has stopped; nothing is lost, "
            "run the command again to go on"
        )
    time.sleep(POLL_SECONDS)


def wait_for_vectors(settings: Settings, meter: Meter) -> None:
    """Return when every chunk has its vector or was given up."""
    searcher = Searcher(settings.paths, None)
    while (missing := _unembedded(searcher)) > 0:
        meter.embedding(missing)
        _pause(settings)


def _unembedded(searcher: Searcher) -> int:
    counted = [searcher.stats(scope) for scope in Scope]
    return sum(stats.chunks - stats.embedded - stats.quarantined for stats in counted)
