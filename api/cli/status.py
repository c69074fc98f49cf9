"""`context-engine status`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
import redis

from api.cli.common import json_option, plural, print_json, settings_of_memory
from api.cli.usage_text import usage_text
from api.routines.report import problems as failing
from api.routines.report import routine_states
from api.usage.report import as_dict, usage_report
from context_engine.clock import isoformat
from context_engine.errors import IndexCorruptError
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.coverage import Coverage, empty_index
from index.model import ScopeStats
from index.search import Searcher
from workers import outbox_report
from workers.broker import make_client, namespace, queue_depths
from workers.extraction.client import OllamaModel
from workers.handover import given_up, waiting_transcripts
from workers.indexes import rebuild_waits_for
from workers.jobs import DISK
from workers.outbox import Outbox
from workers.supervisor import is_running, parts_alive


@click.command("status")
@json_option
def command(as_json: bool) -> int:
    """Say what waits, what is done and what is ill. Exit code 1 when something needs a person."""
    settings = settings_of_memory()
    settings.paths.create()
    report = collect_status(settings)
    if as_json:
        print_json(report)
    else:
        _print(report)
    return 1 if report["problems"] else 0


def collect_status(settings: Settings) -> dict[str, Any]:
    """Return the state of the whole: outbox, queues, indexes, LLM, parts, problems."""
    outbox = Outbox(settings.paths.outbox)
    components = parts_alive(settings.paths)
    routines = routine_states(settings)
    report = {
        "home": str(settings.paths.root),
        "running": is_running(settings.paths),
        "outbox": _outbox(outbox),
        "queues": _queues(settings),
        "index": _indexes(settings),
        "llm": _llm(settings),
        "components": components,
        "usage": as_dict(usage_report(settings.paths)),
        "handed_over": waiting_transcripts(settings.paths),
        "given_up": given_up(settings.paths),
        "outcomes": outbox_report.outcomes(outbox),
        "routines": [state.as_json() for state in routines],
    }
    return report | {"problems": _problems(report) + failing(routines)}


def _outbox(outbox: Outbox) -> dict[str, Any]:
    by_state: dict[str, int] = {}
    for states in outbox_report.counts(outbox).values():
        for state, count in states.items():
            by_state[state] = by_state.get(state, 0) + count
    last = outbox.meta("last_done")
    age = outbox_report.oldest_pending(outbox)
    on_disk, reason = outbox_report.waiting_for(outbox, DISK)
    return {
        "pending": sum(by_state.get(state, 0) for state in ("pending", "queued", "running")),
        "waiting": by_state.get("waiting", 0) - on_disk,
        "waiting_for_disk": {"jobs": on_disk, "reason": reason or None},
        "done": by_state.get("done", 0),
        "quarantined": by_state.get("quarantined", 0),
        "oldest_pending_seconds": None if age is None else round(age, 1),
        "last_completed": isoformat(datetime.fromtimestamp(float(last), UTC)) if last else None,
        "quarantine": [
            {"job": item.job_id, "key": item.key, "class": item.error_class, "reason": item.error}
            for item in outbox_report.quarantined(outbox)
        ],
    }


def _queues(settings: Settings) -> dict[str, int] | None:
    try:
        return queue_depths(make_client(settings), namespace(settings))
    except (redis.RedisError, OSError):
        return None


def _indexes(settings: Settings) -> dict[str, dict[str, Any]]:
    searcher = Searcher(settings.paths, None)
    found = {}
    for scope in Scope:
        try:
            found[scope.value] = _index(
                searcher.stats(scope),
                rebuild_waits_for(settings.paths, scope),
                empty_index(settings.paths, scope),
            )
        except IndexCorruptError as error:
            found[scope.value] = {"damaged": str(error)}
    return found


def _index(stats: ScopeStats, rebuilding: int | None, lacking: Coverage | None) -> dict[str, Any]:
    return {
        "notes": stats.notes,
        "chunks": stats.chunks,
        "embedded": stats.embedded,
        "quarantined": stats.quarantined,
        "model": stats.model or None,
        "bytes": stats.size_bytes,
        "rebuilding": rebuilding,
        # while it is being built anew nobody has to do a thing
        "lacks": str(lacking) if lacking and rebuilding is None else None,
    }


def _llm(settings: Settings) -> dict[str, Any]:
    """Ask for one real token: an open port proves nothing."""
    if settings.llm.mode == "cues":
        return {"model": "cues", "healthy": True, "reason": None, "seconds": None}
    health = OllamaModel.from_settings(settings).health()
    return {
        "model": health.model,
        "healthy": health.ok,
        "reason": health.reason,
        "seconds": round(health.seconds, 3),
    }


def _problems(report: dict[str, Any]) -> list[str]:
    problems = []
    if report["outbox"]["quarantined"]:
        given = plural(report["outbox"]["quarantined"], "job")
        problems.append(f"{given} in quarantine: mend the cause, then context-engine retry --all")
    disk = report["outbox"]["waiting_for_disk"]
    if disk["jobs"]:
        given = plural(disk["jobs"], "job")
        problems.append(f"{given} waiting for a place that can be written: {disk['reason']}")
    for index in report["index"].values():
        problems += [index[ill] for ill in ("damaged", "lacks") if index.get(ill)]
    problems += [
        f"a transcript was given up; see the log, then remove {file}" for file in report["given_up"]
    ]
    if report["running"]:
        if report["queues"] is None:
            problems.append("the broker does not answer")
        problems += [
            f"{part['name']} is not alive" for part in report["components"] if not part["alive"]
        ]
    return problems


def _print(report: dict[str, Any]) -> None:
    outbox = report["outbox"]
    click.echo(f"home      {report['home']} ({'running' if report['running'] else 'not running'})")
    for part in report["components"]:
        state = "alive" if part["alive"] else "DEAD"
        click.echo(
            f"          {part['name']:<9} {state}, pid {part['pid']}, restarts {part['restarts']}"
        )
    oldest = outbox["oldest_pending_seconds"]
    waiting = "" if oldest is None else f", oldest {oldest:g} s"
    click.echo(
        f"jobs      {outbox['pending']:,} pending{waiting}, {outbox['waiting']:,} waiting for the "
        f"LLM, {outbox['done']:,} done, {outbox['quarantined']:,} quarantined"
    )
    click.echo(f"          last completed {outbox['last_completed'] or 'never'}")
    if report["queues"] is not None:
        depths = ", ".join(f"{queue} {depth}" for queue, depth in report["queues"].items())
        click.echo(f"queues    {depths}")
    for scope, index in report["index"].items():
        if "damaged" in index:
            continue  # among the problems
        rebuilding = index["rebuilding"]
        if rebuilding is not None:
            click.echo(f"          {scope} is being rebuilt, {rebuilding:,} chunks to embed")
        click.echo(
            f"index     {scope:<8} {plural(index['notes'], 'note')}, "
            f"{plural(index['chunks'], 'chunk')} ({index['embedded']:,} with vectors)"
        )
    click.echo(usage_text(report["usage"], report["handed_over"]), nl=False)
    llm = report["llm"]
    click.echo(f"llm       {llm['model']}: {'healthy' if llm['healthy'] else llm['reason']}")
    for item in outbox["quarantine"][:10]:
        click.echo(f"given up  {item['key']} ({item['class']}): {item['reason']}")
    for problem in report["problems"]:
        click.echo(click.style(f"problem   {problem}", fg="red"))
