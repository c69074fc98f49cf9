"""`context-engine retry`."""

from __future__ import annotations

from typing import Any

import click

from api.cli.common import json_option, plural, print_json, say, settings_of_memory
from api.cli.terminal import shown
from context_engine.errors import UsageError
from context_engine.settings import Settings
from workers import outbox_report, quarantine
from workers.outbox import Outbox
from workers.outbox_model import Quarantined
from workers.supervisor import is_running

_MOST = 2**63 - 1
_LISTED = 100


@click.command("retry")
@click.argument("ids", nargs=-1, metavar="[ID]…", type=click.IntRange(1, _MOST))
@click.option("--class", "error_class", metavar="CLASS", help="All that was given up for this.")
@click.option("--all", "every", is_flag=True, help="All that was given up.")
@json_option
def command(ids: tuple[int, ...], error_class: str | None, every: bool, as_json: bool) -> int:
    """Try again what was given up, after its cause is mended; without arguments list it.

    ID is a job's number in the list. A job that took a worker down, or whose input was bad, gets
    one careful try, any other a fresh start.
    """
    if bool(ids) + (error_class is not None) + every > 1:
        raise UsageError("say it in one way: ID…, --class or --all")
    settings = settings_of_memory()
    settings.paths.create()
    outbox = Outbox(settings.paths.outbox)
    if not (ids or every or error_class is not None):
        _list(outbox, as_json=as_json)
        return 0
    count = _replay(settings, outbox, ids, None if every else error_class)
    _say_what_comes(settings, count, as_json=as_json)
    return 0 if count >= len(set(ids)) and (count or every) else 1


def _replay(
    settings: Settings, outbox: Outbox, ids: tuple[int, ...], error_class: str | None
) -> int:
    limit = settings.workers.max_attempts
    if ids:
        return quarantine.replay(outbox, list(dict.fromkeys(ids)), max_attempts=limit)
    found = [each.error_class for each in quarantine.classes(outbox)]
    chosen = found if error_class is None else [error_class]
    return sum(quarantine.replay_class(outbox, each, max_attempts=limit) for each in chosen)


def _say_what_comes(settings: Settings, count: int, *, as_json: bool) -> None:
    alive = is_running(settings.paths)
    if as_json:
        print_json({"replayed": count, "running": alive})
    else:
        click.echo(f"{plural(count, 'job')} to be tried again")
    if not count:
        say("nothing of that was given up; see: context-engine retry")
    elif not alive:
        say("the engine does not run: `context-engine up` or the next `ingest` does them")


def _list(outbox: Outbox, *, as_json: bool) -> None:
    classes = quarantine.classes(outbox)
    jobs = outbox_report.quarantined(outbox, _LISTED)
    if as_json:
        kinds = [{"class": each.error_class, "ailment": each.ailment.value, "jobs": each.jobs}
                 for each in classes]  # fmt: skip
        print_json({"classes": kinds, "jobs": [_job(job) for job in jobs]})
        return
    for job in jobs:
        click.echo(f"{job.job_id:>6}  {job.error_class:<12} {shown(job.key)}: {shown(job.error)}")
    total = sum(each.jobs for each in classes)
    if total > len(jobs):
        click.echo(f"        and {plural(total - len(jobs), 'older job')}")
    said = ", ".join(f"{each.jobs:,} {each.error_class}" for each in classes)
    say(f"given up: {said or 'nothing'}")
    if total:
        say("mend the cause, then: context-engine retry ID…, --class CLASS or --all")


def _job(job: Quarantined) -> dict[str, Any]:
    return {"job": job.job_id, "queue": job.queue, "key": job.key, "event": job.event_id,
            "class": job.error_class, "reason": job.error, "attempts": job.attempts}  # fmt: skip
