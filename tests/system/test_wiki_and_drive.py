"""A wiki and a Drive from the command line: what they hold is found, what is deleted is not."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from context_engine.home import Home
from support.confluence_site import EMAIL, TOKEN, Comment, Content, Site, serving_site
from support.drive_server import (
    CLIENT_SECRET,
    REFRESH_TOKEN,
    DriveServer,
    serving_drive,
    settings_for,
)
from support.engine import run_json, running
from support.takeout import Turn, as_json
from support.web import Web


def answer(home: Home, question: str) -> str:
    return json.dumps(run_json(home, "query", question)["results"], ensure_ascii=False)


def holding(home: Home, *secrets: str) -> list[Path]:
    """Return the files of the home in which one of the secrets stands."""
    files = [path for path in home.root.rglob("*") if path.is_file()]
    wanted = [secret.encode() for secret in secrets]
    return [path for path in files if any(secret in path.read_bytes() for secret in wanted)]


def archive() -> bytes:
    data = BytesIO()
    log = json.dumps(as_json([Turn(datetime(2026, 10, 1, 8, tzinfo=UTC), "Which cache is it?")]))
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("Takeout/My Activity/Gemini Apps/MyActivity.json", log)
    return data.getvalue()


def environment_of(wiki: Web, drive: Web) -> dict[str, str]:
    credentials = settings_for(drive).credentials
    assert credentials is not None
    return {
        "CE_CONFLUENCE__SITE": f"{wiki.url}/wiki",
        "CE_CONFLUENCE__EMAIL": EMAIL,
        "CE_CONFLUENCE__TOKEN": TOKEN,
        "CE_DRIVE__BASE_URL": f"{drive.url}/drive/v3",
        "CE_DRIVE__OAUTH_URL": f"{drive.url}/token",
        "CE_DRIVE__CREDENTIALS": credentials.get_secret_value(),
    }


def test_a_wiki_and_a_drive_are_found_and_a_deleted_page_is_not(home: Home) -> None:
    site = Site()
    site.add(
        Content("1", "Shop Home", "<p>Welcome</p>"),
        Content("2", "キャッシュ", "<p>Valkeyに決めた。</p>", parent="1"),
        Comment("3", "2", "<p>evict allkeys-lru</p>"),
    )
    exports = DriveServer({"1A": ("takeout-20261101T080000Z-001.zip", archive())})
    with serving_site(site) as wiki, serving_drive(exports) as drive, running(home):
        extra = environment_of(wiki, drive)
        first = run_json(home, "ingest", "confluence-live", "--wait", extra=extra)
        assert (first["messages"], first["notes"]) == (3, 2)
        assert run_json(home, "ingest", "drive", "--wait", extra=extra)["messages"] == 2
        before = answer(home, "cache Valkey allkeys-lru")
        for words in ("Valkeyに決めた", "allkeys-lru", "Which cache is it?"):
            assert words in before
        site.pages["2"].status = "trashed"
        second = run_json(home, "ingest", "confluence-live", "--wait", extra=extra)
        assert (second["events"], second["unchanged"]) == (1, 1)
        after = answer(home, "cache Valkey allkeys-lru")
    assert "Which cache is it?" in after
    assert "Valkeyに決めた" not in after
    assert "allkeys-lru" not in after
    assert holding(home, TOKEN, CLIENT_SECRET, REFRESH_TOKEN, "ya29.") == []
    assert [path for path in home.downloads.iterdir() if path.is_dir()] == []
