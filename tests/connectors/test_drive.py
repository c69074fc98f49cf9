"""Takeout's exports in a Google Drive are found, downloaded through every mishap, and read once."""

from __future__ import annotations

import io
import json
import resource
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr

from connectors import drive_api
from connectors.base import LiveConnector, ReadOptions
from connectors.drive import DriveConnector
from connectors.drive_download import own
from connectors.takeout import TakeoutConnector
from context_engine.errors import (
    AccessDeniedError,
    AlreadyRunningError,
    ContextEngineError,
    DependencyDownError,
)
from context_engine.events import Checkpoint
from context_engine.source_settings import DriveSettings, LiveSettings
from support.drive_server import (
    CLIENT_SECRET,
    REFRESH_TOKEN,
    DriveServer,
    error_body,
    serving_drive,
    settings_for,
)
from support.http_faults import Fault
from support.sources import read_source
from support.takeout import Turn, as_html, as_json, keep_note
from support.transcripts import MemoryLedger, Reading, take
from support.web import Web

START = datetime(2026, 10, 1, 8, tzinfo=UTC)
MEDIA = "/drive/v3/files/"
FIRST, SECOND = "1FirstPart", "1SecondPart"


def turns(count: int) -> list[Turn]:
    return [Turn(START + timedelta(days=n), f"Which cache, question {n}?") for n in range(count)]


def archive(members: Mapping[str, bytes], padding: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members.items():
            file.writestr(f"Takeout/{name}", data)
        if padding:
            file.writestr("Takeout/Photos/a.jpg", bytes(range(256)) * (padding // 256))
    return buffer.getvalue()


def activity(count: int = 2) -> bytes:
    log = json.dumps(as_json(turns(count))).encode()
    return archive({"My Activity/Gemini Apps/MyActivity.json": log})


def notes(padding: int = 0) -> bytes:
    note = json.dumps(keep_note(), ensure_ascii=False).encode()
    return archive({"Keep/Queue.json": note}, padding)


@pytest.fixture
def drive() -> DriveServer:
    files = {
        FIRST: ("takeout-20261101T080000Z-1-001.zip", activity()),
        SECOND: ("takeout-20261101T080000Z-1-002.zip", notes(padding=20_000)),
        "1Other": ("takeout menu.pdf", b"%PDF"),
    }
    return DriveServer(files)


@pytest.fixture
def web(drive: DriveServer) -> Iterator[Web]:
    with serving_drive(drive) as web:
        yield web


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "downloads"


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


Read = Callable[..., Reading]


@pytest.fixture
def read(web: Web, ledger: MemoryLedger, folder: Path) -> Read:
    def read(waited: list[float] | None = None, **settings: Any) -> Reading:
        options = options_for(settings_for(web, **settings), folder, waited)
        return read_source(DriveConnector(), ledger=ledger, options=options)

    return read


def options_for(
    settings: DriveSettings, folder: Path, waited: list[float] | None = None
) -> ReadOptions:
    pauses: list[float] = [] if waited is None else waited
    live = LiveSettings(drive=settings)
    return ReadOptions(owner_name="Aki", live=live, downloads=folder, pause=pauses.append)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drive_api, "CHUNK", 4_096)


def left(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name != ".lock"]


def test_the_parts_of_an_export_are_read_as_one_and_removed(read: Read, folder: Path) -> None:
    reading = read()
    assert len([text for text in reading.texts if "Which cache" in text]) == 2
    assert any("Valkeyにする" in text for text in reading.texts)
    assert reading.bad == []
    assert left(folder) == []


def test_what_was_read_is_not_downloaded_again(drive: DriveServer, web: Web, read: Read) -> None:
    read()
    web.asked.clear()
    assert read().documents == []
    assert web.paths(MEDIA) == []


def test_the_next_export_adds_only_what_is_new(drive: DriveServer, read: Read) -> None:
    read()
    page = archive({"My Activity/Gemini Apps/MyActivity.html": as_html(turns(3))})
    drive.files["1Next"] = ("takeout-20270101T080000Z-1-001.zip", page)
    prompts = [text for text in read().texts if "Which cache" in text]
    assert prompts == ["Which cache, question 2?"]


def test_drive_and_files_on_the_disk_do_not_bring_a_message_twice(
    tmp_path: Path, drive: DriveServer, read: Read, ledger: MemoryLedger
) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(drive.files[FIRST][1])
    assert read_source(TakeoutConnector(), path, ledger=ledger).said
    assert [it for it in read().texts if "Which cache" in it] == []


def test_a_file_that_was_replaced_is_read_again(drive: DriveServer, read: Read) -> None:
    read()
    drive.files[FIRST] = (drive.files[FIRST][0], activity(3))
    assert "Which cache, question 2?" in read().texts


def test_a_part_that_comes_later_is_read_then_and_its_lack_is_told(
    drive: DriveServer, read: Read
) -> None:
    late = drive.files.pop(FIRST)
    first = read()
    assert [item.kind for item in first.unknown if "missing" in item.kind] == [
        "part 001 of an export is missing"
    ]
    drive.files[FIRST] = late
    second = read()
    assert "Which cache, question 1?" in second.texts
    assert [item.kind for item in second.unknown if "missing" in item.kind] == []


def test_a_connection_cut_in_the_middle_goes_on_from_there(
    drive: DriveServer, web: Web, read: Read, small_pieces: None
) -> None:
    read_once = Fault(half=True)
    web.faults.add(SECOND, read_once, Fault(503), read_once)
    waited: list[float] = []
    assert any("Valkeyにする" in text for text in read(waited).texts)
    assert len(waited) == 3
    whole = [piece for piece in drive.sent if piece[0] == SECOND]
    # twice cut, so twice the first piece; no other one more than once
    assert len(whole) - 2 == len({piece[1] for piece in whole}) > 3


def test_a_killed_download_is_resumed_where_it_was(
    drive: DriveServer, web: Web, folder: Path, read: Read, small_pieces: None
) -> None:
    size = len(drive.files[SECOND][1])
    drive.files[FIRST], kept = ("notes.zip", b""), drive.files[FIRST]
    options = options_for(settings_for(web), folder)
    seen: list[int] = []

    class KilledError(Exception):
        pass

    def progress(read: int, total: int, place: str = "") -> None:
        seen.append(read)
        if sum(seen) > size // 2:
            raise KilledError

    killed = ReadOptions(live=options.live, downloads=folder, progress=progress)
    with pytest.raises(KilledError):
        list(DriveConnector().read((), MemoryLedger(), killed))
    [partial] = [path for path in left(folder) if path.is_file()]
    held = partial.stat().st_size
    assert 0 < held < size
    drive.files[FIRST] = kept
    drive.sent.clear()
    assert any("Valkeyにする" in text for text in read().texts)
    assert min(first for name, first, _ in drive.sent if name == SECOND) == held


def test_a_run_killed_before_its_commit_loses_nothing(
    web: Web, folder: Path, ledger: MemoryLedger, read: Read
) -> None:
    options = options_for(settings_for(web), folder)
    lost = Reading()
    for item in DriveConnector().read((), ledger, options):
        take(lost, item)
        if isinstance(item, Checkpoint) and ":drive:" in item.key:
            break
    again = read()
    assert sorted(again.texts) == sorted(lost.texts)
    assert read().documents == []


def test_a_damaged_download_is_made_again(drive: DriveServer, read: Read) -> None:
    drive.damaged = {FIRST}
    assert "Which cache, question 1?" in read().texts
    assert len([piece for piece in drive.sent if piece[0] == FIRST]) == 2


def test_an_expired_token_is_renewed_in_the_middle(
    drive: DriveServer, web: Web, read: Read, small_pieces: None
) -> None:
    answer = web.answer
    drive.step = 10

    def expiring(asked: Any) -> Any:
        if MEDIA in asked.path and drive.issued == 1:
            drive.expired = 1
        return answer(asked)

    web.answer = expiring
    assert read().bad == []
    assert drive.issued == 2


def test_a_refused_renewal_says_what_to_do(drive: DriveServer, read: Read) -> None:
    drive.revoked = True
    with pytest.raises(AccessDeniedError, match=r"invalid_grant.*make new credentials") as caught:
        read()
    assert REFRESH_TOKEN not in str(caught.value)


def test_limits_and_outages_are_waited_for(web: Web, read: Read) -> None:
    limit = json.dumps(error_body("userRateLimitExceeded", "Slow down")).encode()
    web.faults.add("/drive/v3/files", Fault(429, {"Retry-After": "9"}), Fault(403, body=limit))
    web.faults.add(FIRST, Fault(500))
    waited: list[float] = []
    assert read(waited).bad == []
    assert waited[0] == 9.0
    assert len(waited) == 3


def test_an_outage_that_lasts_ends_the_run_and_keeps_what_arrived(
    web: Web, read: Read, folder: Path
) -> None:
    web.faults.add(SECOND, *[Fault(503)] * 6)
    with pytest.raises(DependencyDownError, match="Google Drive is not available"):
        read()
    assert any(path.name.endswith("-001.zip") for path in left(folder))
    assert any("Valkeyにする" in text for text in read().texts)
    assert left(folder) == []


def test_a_scope_that_is_missing_stops_the_run(web: Web, read: Read) -> None:
    body = json.dumps(error_body("insufficientPermissions", "Insufficient Permission")).encode()
    web.faults.add("/drive/v3/files", Fault(403, body=body))
    with pytest.raises(AccessDeniedError, match=r"drive\.readonly"):
        read()


def test_a_file_that_may_not_be_downloaded_is_named_and_the_rest_goes_on(
    web: Web, read: Read
) -> None:
    body = json.dumps(error_body("downloadQuotaExceeded", "Quota exceeded")).encode()
    web.faults.add(FIRST, Fault(403, body=body))
    reading = read()
    assert [item.place for item in reading.bad] == ["takeout-20261101T080000Z-1-001.zip"]
    assert any("Valkeyにする" in text for text in reading.texts)
    assert "Which cache, question 1?" in read().texts


def test_a_disk_that_is_too_small_is_told_before_the_download(
    drive: DriveServer, web: Web, read: Read
) -> None:
    drive.sizes[FIRST] = 1 << 56
    with pytest.raises(ContextEngineError, match=r"takeout-20261101T080000Z-1 needs .* make room"):
        read()
    assert web.paths(MEDIA) == []


def test_a_disk_that_fills_up_ends_the_run_with_a_reason(
    read: Read, folder: Path, small_pieces: None
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, hard))
    try:
        with pytest.raises(ContextEngineError, match=r"-002\.zip cannot be written"):
            read()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert any("Valkeyにする" in text for text in read().texts)


def test_what_an_older_run_left_is_removed(folder: Path, read: Read) -> None:
    stale = folder / "0123456789ab" / "takeout-20200101T000000Z-001.zip"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"x")
    read()
    assert left(folder) == []


def test_a_dry_run_only_names_what_would_be_downloaded(
    drive: DriveServer, web: Web, read: Read, folder: Path
) -> None:
    dry = ReadOptions(live=LiveSettings(drive=settings_for(web)))
    named = read_source(DriveConnector(), options=dry).unknown
    assert [item.place for item in named] == [drive.files[FIRST][0], drive.files[SECOND][0]]
    assert drive.sent == []
    assert not folder.exists()


def test_progress_reaches_its_total(drive: DriveServer, web: Web, folder: Path) -> None:
    told: list[tuple[int, int, str]] = []

    def progress(read: int, total: int, place: str = "") -> None:
        told.append((read, total, place))

    options = options_for(settings_for(web), folder)
    options = replace(options, progress=progress)
    read_source(DriveConnector(), options=options)
    size = sum(len(data) for name, data in drive.files.values() if name.endswith(".zip"))
    assert {total for _, total, _ in told} == {2 * size}
    # the directory of an archive is read before and after its members
    assert 2 * size <= sum(read for read, _, _ in told) < 2.1 * size
    assert any(place == f"{drive.files[FIRST][0]} from Google Drive" for _, _, place in told)


def test_two_runs_at_once_are_refused(folder: Path, read: Read) -> None:
    with own(folder), pytest.raises(AlreadyRunningError, match="another run"):
        read()


def test_a_name_that_is_no_part_is_never_a_path(drive: DriveServer, read: Read) -> None:
    evil = b"x"
    drive.files = {
        "1Evil": ("takeout-20261101T080000Z-1-001.zip/../../../evil.zip", evil),
        "1Evil2": ("../takeout-20261101T080000Z-1-001.zip", evil),
    }
    assert [item.kind for item in read().unknown] == ["file: not named as Takeout names parts"]
    assert drive.sent == []


def test_a_folder_can_be_named(web: Web, read: Read) -> None:
    read(folder="1FolderOfExports")
    assert "'1FolderOfExports' in parents" in web.asked[1].word("q")
    with pytest.raises(ContextEngineError, match=r"drive\.folder"):
        read(folder="x' or name contains 'a")


def test_a_service_accounts_file_is_used_when_nobody_else_may_read_it(
    tmp_path: Path, web: Web, folder: Path
) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    told = {"type": "service_account", "client_email": "ce@example.com", "private_key": pem}
    file = tmp_path / "account.json"
    file.write_text(json.dumps(told | {"token_uri": "https://elsewhere.example.com"}))
    file.chmod(0o644)
    settings = settings_for(web).model_copy(update={"credentials_file": file})
    options = options_for(settings, folder)
    with pytest.raises(AccessDeniedError, match="chmod 600"):
        read_source(DriveConnector(), options=options)
    file.chmod(0o600)
    assert "Which cache, question 1?" in read_source(DriveConnector(), options=options).texts
    assert b"jwt-bearer" in web.asked[0].body


@pytest.mark.parametrize("held", ["", "no json", "[]", "{}", '{"type": "service_account"}'])
def test_credentials_that_are_none_say_what_is_needed(folder: Path, held: str) -> None:
    options = options_for(DriveSettings(credentials=SecretStr(held)), folder)
    with pytest.raises(AccessDeniedError, match=r"drive\.readonly"):
        list(DriveConnector().read((), MemoryLedger(), options))


def test_no_secret_is_in_what_is_remembered_or_logged(
    read: Read, ledger: MemoryLedger, caplog: pytest.LogCaptureFixture
) -> None:
    assert isinstance(DriveConnector(), LiveConnector)
    with caplog.at_level("INFO"):
        read()
    remembered = "".join([*ledger.states, *ledger.states.values(), caplog.text])
    for hidden in (CLIENT_SECRET, REFRESH_TOKEN, "ya29.invented"):
        assert hidden not in remembered
