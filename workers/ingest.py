"""The ingest job: an event becomes (part of) a source note in its vault."""

from __future__ import annotations

from collections.abc import Callable

from context_engine.errors import BadInputError
from context_engine.events import Role, SourceDocument, decode_document
from context_engine.settings import Settings
from vault.forgotten import without_forgotten
from vault.paths import vault_root
from vault.sources import write_source
from vault.store import read_or_none, remove
from vault.tombstones import tombstones
from workers.broker import EXTRACT
from workers.indexer_jobs import index_job
from workers.outbox import Outbox
from workers.outbox_model import Job, NewJob, Outcome
from workers.standing import follow_insights


def ingest_work(settings: Settings, outbox: Outbox) -> Callable[[Job, str | None], Outcome]:
    """Return the work of the ingest queue."""

    def ingest(job: Job, event: str | None) -> Outcome:
        own = outbox.payload(job.event_id or "")
        if own is None:
            raise BadInputError(job.key, "the event's text is gone; collect it again")
        # what travelled is believed only as far as it is what was committed here: a Redis may be
        # shared with another home
        payload = event.encode() if event is not None and event.encode() == own else own
        return _store(settings, decode_document(payload))

    return ingest


def _store(settings: Settings, given: SourceDocument) -> Outcome:
    document = without_forgotten(tombstones(settings.paths), given)
    if document is None:
        return Outcome({"forgotten": True}, outcomes={"forgotten": 1}, drop_payload=True)
    written = write_source(settings.paths, document)
    if without_forgotten(tombstones(settings.paths), document) is not document:
        # its owner had it forgotten at this very moment: what stood here is gone already
        return _taken_back(settings, document, written.path)
    scope, path = document.scope.value, written.path
    followed = follow_insights(settings.paths, document, written)
    changed = dict.fromkeys((path, *written.marked, *followed))
    spoken = [
        u.marker
        for u in document.utterances
        if u.role is not Role.ASSISTANT and u.text and not u.withdrawn
    ]
    extract = NewJob(
        EXTRACT,
        f"{EXTRACT}:{document.event_id}",
        {"scope": scope, "path": path, "markers": [u.marker for u in document.utterances]},
        lane=document.document_id,
        event_id=document.event_id,
    )
    return Outcome(
        result={"scope": scope, "path": path, "added": len(written.added)},
        follow_ups=(
            *(index_job(scope, each) for each in changed),
            *((extract,) if spoken else ()),
        ),
        paths=tuple((scope, each) for each in changed),
        drop_payload=True,
    )


def _taken_back(settings: Settings, document: SourceDocument, path: str) -> Outcome:
    root = vault_root(settings.paths, document.scope)
    seen = read_or_none(root, path)
    if seen is not None:
        remove(root, path, seen)
    job = index_job(document.scope.value, path)
    return Outcome({"forgotten": True}, (job,), outcomes={"forgotten": 1}, drop_payload=True)
