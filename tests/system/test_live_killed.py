"""A live source is killed with -9 in the middle: the next run loses nothing and doubles nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest

from context_engine.home import Home
from support.confluence_site import EMAIL, TOKEN, Comment, Content, Site
from support.drive_server import DriveServer, settings_for
from support.takeout import Turn, as_json
from support.web import Answer, Asked, serving_web
from workers.outbox import Outbox

CHILD = """
import sys
from connectors import drive_api
from connectors.registry import load
from context_engine.settings import load_settings
from workers import collector
from workers.outbox import Outbox

drive_api.CHUNK = 16 << 10
collector.BATCH_SECONDS = 0
settings = load_settings()
options = collector.read_options(settings)
collector.collect(load(sys.argv[1]), (), Outbox(settings.paths.outbox), options)
"""
KILLED, DONE = -9, 0


class Killer:
    """A service that kills the child when it was asked `after` times; with 0 it never does."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self._answer = answer
        self._child: subprocess.Popen[bytes] | None = None
        self._after = 0

    def __call__(self, asked: Asked) -> Answer:
        self._after -= 1
        if self._after == 0 and self._child is not None:
            self._child.kill()
            self._child.wait()
        return self._answer(asked)

    def run(self, source: str, home: Home, settings: Mapping[str, str], after: int) -> int:
        """Collect `source` into the outbox of `home`; return how that ended."""
        self._child, self._after = None, after
        environment = {**os.environ, "CE_HOME": str(home.root), **settings}
        command = [sys.executable, "-c", CHILD, source]
        self._child = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[2])
        return self._child.wait(timeout=60)


def messages(home: Home) -> Counter[tuple[str, str]]:
    """Count the messages in the outbox, by id and text."""
    outbox = Outbox(home.outbox)
    found: Counter[tuple[str, str]] = Counter()
    for job in outbox.publishable("ingest", 1_000):
        document = outbox.document(job.event_id or "")
        assert document is not None
        found.update((said.native_id, said.text) for said in document.utterances)
    return found


def fresh(folder: Path) -> Home:
    home = Home(folder)
    home.create()
    return home


@pytest.mark.chaos
def test_confluence_goes_on_with_the_page_where_it_was_killed(tmp_path: Path) -> None:
    site = Site(step=3)
    site.add(*(Content(str(n), f"Page {n}", f"<p>tok{n}</p>") for n in range(1, 7)))
    site.add(Comment("90", "2", "<p>tok90</p>"))
    killer = Killer(site.answer)
    with serving_web(killer) as web:
        settings = {
            "CE_CONFLUENCE__SITE": f"{web.url}/wiki",
            "CE_CONFLUENCE__EMAIL": EMAIL,
            "CE_CONFLUENCE__TOKEN": TOKEN,
        }
        home = fresh(tmp_path / "killed")
        assert killer.run("confluence-live", home, settings, 18) == KILLED
        some = messages(home)
        assert 0 < len(some) < 7
        web.asked.clear()
        assert killer.run("confluence-live", home, settings, 0) == DONE
        assert web.paths("/pages/1/") == []
    found = messages(home)
    assert set(found.values()) == {1}
    assert len(found) == 7
    assert some.keys() < found.keys()


@pytest.mark.chaos
def test_drive_goes_on_with_the_byte_where_it_was_killed(tmp_path: Path) -> None:
    start = datetime(2026, 10, 1, 8, tzinfo=UTC)
    turns = [Turn(start + timedelta(days=n), f"tok{n} is what?") for n in range(5)]
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        log = json.dumps(as_json(turns))
        file.writestr("Takeout/My Activity/Gemini Apps/MyActivity.json", log)
        file.writestr("Takeout/Photos/a.jpg", os.urandom(60_000))
    drive = DriveServer({"1A": ("takeout-20261101T080000Z-1-001.zip", archive.getvalue())})
    killer = Killer(drive.answer)
    with serving_web(killer) as web:
        credentials = settings_for(web).credentials
        assert credentials is not None
        settings = {
            "CE_DRIVE__BASE_URL": f"{web.url}/drive/v3",
            "CE_DRIVE__OAUTH_URL": f"{web.url}/token",
            "CE_DRIVE__CREDENTIALS": credentials.get_secret_value(),
        }
        home = fresh(tmp_path / "killed")
        # token, list, two pieces that arrive, one that does not
        assert killer.run("drive", home, settings, 5) == KILLED
        assert messages(home) == Counter()
        assert killer.run("drive", home, settings, 0) == DONE
    begun = Counter(first for _, first, _ in drive.sent)
    assert begun[0] == 1
    assert sorted(begun) == list(range(0, len(archive.getvalue()), 16 << 10))
    found = messages(home)
    assert len([text for _, text in found if "tok" in text]) == 5
    assert set(found.values()) == {1}
