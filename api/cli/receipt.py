"""`context-engine receipt`."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from api.cli.common import json_option, plural, print_json, settings_of_memory
from api.cli.receipt_words import came_to, reason_in_words
from api.cli.terminal import shown
from api.receipts import Receipt, receipt


@click.command("receipt")
@click.argument("name", metavar="ID")
@json_option
def command(name: str, as_json: bool) -> None:
    """Show the way of an event: attempts, files, chunks, with outcome and reason of each step.

    ID is an event, a note (work/…/x.md), an insight or a chunk.
    """
    home = settings_of_memory().paths
    home.create()
    found = receipt(home, name)
    if as_json:
        print_json(dataclasses.asdict(found))
    else:
        _print(found)


def _print(found: Receipt) -> None:
    for event in found.events:
        gone = "  FORGOTTEN" if event["forgotten"] else ""
        click.echo(f"event  {event['event_id']}  {event['source']}, {event['scope']}{gone}")
        click.echo(f"       {shown(event['title']) or '-'}  received {event['received']}")
        for job in event["jobs"]:
            click.echo(f"  job  {_job(job)}")
    for file in found.files:
        exists = "" if file["exists"] else "  (no such file now)"
        click.echo(f"file   {shown(file['place'])}{exists}")
        if file["indexing"]:
            click.echo(f"  job  {_job(file['indexing'])}")
        if file["not_indexed_because"]:
            click.echo(f"       not indexed: {shown(file['not_indexed_because'])}")
        click.echo(f"       {plural(len(file['chunks']), 'chunk')}")
        for chunk in file["chunks"]:
            click.echo(f"       {chunk['chunk_id']}  {chunk['state']}  {shown(chunk['heading'])}")
    for request in found.requests:
        who = request["client"] or "-"
        click.echo(f"asked  {request['time']}  {shown(who)}  {request['action']}")


def _job(job: dict[str, Any]) -> str:
    reason = f": {shown(reason_in_words(job['reason']))}" if job["reason"] else ""
    words = came_to(job["queue"], job["result"]) if job["result"] else ""
    result = f" → {shown(words)}" if words else ""
    failed = f", {job['failed_attempts']} attempts" if job["failed_attempts"] else ""
    return f"{job['queue']:<8} {job['state']}{failed} ({job['last_change']}){reason}{result}"
