"""An archive costs what its limits say, whatever it claims; its honest members are read."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.archive import Listed, Member, walk_members
from connectors.archive_budget import Limits
from context_engine.errors import BadInputError
from context_engine.events import BadRecord
from support.archives import bomb, named_zip, tar_bytes, tar_of, write_zip, zip_bytes


def contents(
    *paths: Path, limits: Limits | None = None
) -> tuple[dict[str, bytes], list[BadRecord]]:
    """Read every member whole; return what was read by path, and what was refused."""
    read: dict[str, bytes] = {}
    bad: list[BadRecord] = []
    for item in walk_members(paths, limits=limits or Limits()):
        if isinstance(item, Member):
            try:
                with item.open() as stream:
                    read[item.path] = stream.read()
            except BadInputError as error:
                bad.append(BadRecord(error.place, error.reason))
        elif isinstance(item, BadRecord):
            bad.append(item)
    return read, bad


def save(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_a_folder_a_zip_and_a_tar_give_the_same_members(tmp_path: Path) -> None:
    members = {"a/1.json": b"one", "a/b/2.json": b"two"}
    folder = tmp_path / "folder"
    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    assert contents(folder) == (members, [])
    assert contents(write_zip(tmp_path / "x.zip", members)) == (members, [])
    assert contents(save(tmp_path / "x.tgz", tar_of(members))) == (members, [])


def test_all_parts_of_a_split_export_are_read_from_a_folder_or_named_one_by_one(
    tmp_path: Path,
) -> None:
    one = write_zip(tmp_path / "takeout-20261101T000000Z-001.zip", {"Takeout/a": b"1"})
    two = write_zip(tmp_path / "takeout-20261101T000000Z-002.zip", {"Takeout/b": b"2"})
    expected: tuple[dict[str, bytes], list[BadRecord]] = (
        {"Takeout/a": b"1", "Takeout/b": b"2"},
        [],
    )
    assert contents(tmp_path) == expected
    assert contents(one, two) == expected
    assert contents(tmp_path, one) == expected


def test_a_zip_inside_a_zip_is_read_and_named_by_both(tmp_path: Path) -> None:
    inner = zip_bytes({"conversations.json": b"[]"})
    outer = write_zip(tmp_path / "outer.zip", {"batch-0001.zip": inner, "readme": b"hi"})
    (member,) = (m for m in walk_members([outer]) if isinstance(m, Member) and m.name != "readme")
    assert member.place == f"{outer}!batch-0001.zip!conversations.json"


def test_archives_may_be_passed_over(tmp_path: Path) -> None:
    outer = write_zip(tmp_path / "outer.zip", {"Drive/mine.zip": zip_bytes({"a": b"1"})})
    paths = [m.path for m in walk_members([outer], enter=lambda _: False) if isinstance(m, Member)]
    assert paths == ["Drive/mine.zip"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../evil", "leads out of the archive"),
        ("a/../../evil", "leads out of the archive"),
        ("..\\evil", "leads out of the archive"),
        ("/etc/passwd", "an absolute name"),
        ("C:\\Windows\\x", "an absolute name"),
        ("\\\\server\\share", "an absolute name"),
        ("./", "no usable name"),
        ("n" * 2000, "too long"),
    ],
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_name_that_leads_out_is_refused_by_name_and_the_rest_is_read(
    tmp_path: Path, name: str, reason: str, kind: str
) -> None:
    if kind == "tar":
        path = save(tmp_path / "x.tar.gz", tar_of({name: b"evil", "good": b"good"}))
    else:
        path = save(tmp_path / "x.zip", named_zip([name.encode(), b"good"]))
    read, bad = contents(path)
    assert set(read) == {"good"}
    if name == "./" and not bad:
        return  # a folder
    assert reason in bad[0].reason
    assert bad[0].place.startswith(f"{path}!")


def test_links_and_devices_are_refused(tmp_path: Path) -> None:
    link, hard, device = (tarfile.TarInfo(name) for name in ("link", "hard", "device"))
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    hard.type, hard.linkname = tarfile.LNKTYPE, "link"
    device.type = tarfile.CHRTYPE
    rows = [(link, b""), (hard, b""), (device, b""), (tarfile.TarInfo("good"), b"1")]
    read, bad = contents(save(tmp_path / "x.tar.gz", tar_bytes(rows)))
    assert read == {"good": b"1"}
    assert [record.reason for record in bad] == [
        "refused: a link",
        "refused: a link",
        "refused: neither a file nor a folder",
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    read, bad = contents(save(tmp_path / "x.zip", buffer.getvalue()))
    assert (read, [record.reason for record in bad]) == ({}, ["refused: a link"])


def test_encrypted_and_exotic_members_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("lzma", b"x" * 100, zipfile.ZIP_LZMA)
        archive.writestr("bz", b"x" * 100, zipfile.ZIP_BZIP2)
        archive.writestr("good", b"x")
    read, bad = contents(save(tmp_path / "x.zip", buffer.getvalue()))
    assert set(read) == {"good"}
    assert [record.place for record in bad] == [f"{tmp_path}/x.zip!lzma", f"{tmp_path}/x.zip!bz"]
    encrypted = bytearray(zip_bytes({"secret": b"x"}))
    encrypted[6] |= 1
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    _, bad = contents(save(tmp_path / "e.zip", bytes(encrypted)))
    assert [record.reason for record in bad] == ["refused: encrypted"]


JAPANESE = "Takeout/マイ アクティビティ/Gemini アプリ/マイアクティビティ.json"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (JAPANESE.encode("cp932"), JAPANESE),
        (JAPANESE.encode(), JAPANESE),
        ("表ソ能.txt".encode("cp932"), "表ソ能.txt"),
        ("Gerät/Töpfe.json".encode("cp437"), "Gerät/Töpfe.json"),
        (unicodedata.normalize("NFD", JAPANESE).encode(), JAPANESE),
    ],
)
def test_names_without_the_utf8_flag_are_read_as_their_writer_meant_them(
    tmp_path: Path, raw: bytes, expected: str
) -> None:
    read, bad = contents(save(tmp_path / "x.zip", named_zip([raw, b"plain.txt"])))
    assert (set(read), bad) == ({expected, "plain.txt"}, [])


def test_flagged_and_unflagged_names_live_together(tmp_path: Path) -> None:
    name = "Screenshot 2026-01-01 at 9.41\u202fAM.png"
    path = write_zip(tmp_path / "x.zip", {name: b"1", "plain": b"2", "日本語": b"3"})
    assert set(contents(path)[0]) == {name, "plain", "日本語"}


def test_a_member_that_unpacks_to_a_thousand_times_its_size_is_refused_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b"\0" * 60_000_000)
        archive.writestr("good", b"good")
    read, bad = contents(tmp_path / "x.zip")
    assert "bomb" not in read
    assert "400 times" in bad[0].reason
    assert bad[0].place.endswith("!bomb")


def test_declared_sizes_are_not_believed(tmp_path: Path) -> None:
    data = bytearray(bomb(60))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    read, bad = contents(save(tmp_path / "x.zip", bytes(data)))
    assert read == {}
    assert len(bad) == 1


def test_totals_and_counts_end_an_archive(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {f"{n}": bytes(1000) for n in range(20)})
    read, bad = contents(path, limits=Limits(total_bytes=5_000))
    assert len(read) == 5
    assert "unpacks to more than" in bad[-1].reason
    read, bad = contents(path, limits=Limits(members=5))
    assert "holds more than 5 members" in bad[-1].reason
    tar = save(tmp_path / "x.tgz", tar_of({f"{n}": b"1" for n in range(20)}))
    read, bad = contents(tar, limits=Limits(members=5))
    assert len(read) == 5
    assert "holds more than 5 members" in bad[-1].reason
    _, bad = contents(path, limits=Limits(member_bytes=500))
    assert len(bad) == 20


def test_archives_inside_archives_end_somewhere(tmp_path: Path) -> None:
    data = zip_bytes({"x.json": b"deep"})
    for _ in range(10):
        data = zip_bytes({"next.zip": data})
    read, bad = contents(save(tmp_path / "x.zip", data))
    assert read == {}
    assert "4 deep" in bad[0].reason


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"no zip at all", b"PK\x05\x06" + b"\xff" * 18, zip_bytes({"a": b"1"})[:-30]],
)
@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz"])
def test_what_is_no_archive_is_refused_by_name(tmp_path: Path, data: bytes, suffix: str) -> None:
    path = save(tmp_path / f"x.{suffix}", data)
    read, bad = contents(path)
    assert read == {}
    assert [record.place for record in bad] == [str(path)]


def test_a_damaged_member_costs_only_itself(tmp_path: Path) -> None:
    data = bytearray(zip_bytes({"a": bytes(range(256)) * 9, "b": b"good"}))
    data[60] ^= 0xFF
    read, bad = contents(save(tmp_path / "x.zip", bytes(data)))
    assert read == {"b": b"good"}
    assert bad[0].place.endswith("!a")


def test_a_tar_that_was_cut_short_gives_what_is_whole(tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(300_000)  # noqa: S311 - data that does not compress
    data = tar_of({"a": b"whole", "b": noise, "c": b"lost"})
    read, bad = contents(save(tmp_path / "x.tar.gz", data[: len(data) // 2]))
    assert read == {"a": b"whole"}
    assert bad


def test_progress_reports_every_byte_once(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"a": bytes(5_000_000), "b": b"1"})
    (tmp_path / "plain.json").write_bytes(bytes(3_000_000))
    seen: list[tuple[int, int]] = []

    def progress(read: int, total: int, place: str = "") -> None:
        del place
        seen.append((read, total))

    for item in walk_members([tmp_path], progress):
        if isinstance(item, Member) and item.name != "b":
            with item.open() as stream:
                stream.read()
    total = path.stat().st_size + 3_000_000
    assert sum(count for count, _ in seen) == total
    assert {whole for _, whole in seen} == {total}


def _hostile(folder: Path) -> Iterator[Path]:
    yield save(folder / "zeros.zip", bomb(100))
    yield save(folder / "spaces.zip", bomb(60, fill=b" "))
    yield save(folder / "many.zip", zip_bytes({f"{n}.json": bytes(3_000_000) for n in range(40)}))
    yield save(folder / "nested.zip", zip_bytes({f"{n}.zip": bomb(50) for n in range(5)}))
    yield save(folder / "count.zip", named_zip([b"x"] * 150_000))
    huge = tarfile.TarInfo("pax")
    huge.type = tarfile.XHDTYPE
    buffer = huge.tobuf()
    header = bytearray(buffer)
    header[124:136] = b"77777777777\0"
    header[148:156] = b"        "
    header[148:156] = f"{sum(header):06o}\0 ".encode()
    yield save(folder / "pax.tar", bytes(header) + bytes(100_000))


_MEASURE = """
import json, sys, time
from support.memory import peak_memory
from pathlib import Path
from connectors.archive import Member, walk_members
from context_engine.errors import BadInputError
from context_engine.events import BadRecord
started, bad = time.perf_counter(), 0
for item in walk_members([Path(sys.argv[1])]):
    if isinstance(item, Member):
        try:
            with item.open() as stream:
                while stream.read(1 << 18):
                    pass
        except BadInputError:
            bad += 1
    else:
        bad += isinstance(item, BadRecord)
print(json.dumps([bad, time.perf_counter() - started,
    peak_memory()]))
"""


def test_hostile_archives_are_refused_in_a_second_and_in_200_megabytes(tmp_path: Path) -> None:
    figures = {}
    for path in _hostile(tmp_path):
        output = subprocess.run(
            [sys.executable, "-c", _MEASURE, str(path)],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        ).stdout
        figures[path.name] = json.loads(output)
    assert all(bad for bad, _, _ in figures.values()), figures
    assert max(size for _, _, size in figures.values()) < 200_000_000, figures
    # a busy machine takes its time; on a quiet one each is below a second
    assert max(seconds for _, seconds, _ in figures.values()) < 5, figures
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(figures)


EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
HONEST = (
    zip_bytes({"a.json": b"[1]" * 40, "日本/b": b"2", "in.zip": zip_bytes({"c": b"3"})}),
    tar_of({"a.json": b"[1]" * 40, "b": b"2"}),
    tar_bytes([(tarfile.TarInfo("a"), b"1" * 600)], "w"),
)


@EXAMPLES
@given(st.sampled_from([0, 1, 2]), st.data())
def test_archives_with_any_bytes_changed_are_read_to_their_end(
    which: int, data: st.DataObject
) -> None:
    import tempfile

    archive = bytearray(HONEST[which])
    for _ in range(data.draw(st.integers(1, 6))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(archive)))
    with tempfile.TemporaryDirectory() as folder:
        path = save(Path(folder) / ("x.zip", "x.tgz", "x.tar")[which], bytes(archive[:cut]))
        read, bad = contents(path, limits=Limits(member_bytes=1_000_000))
    assert sum(map(len, read.values())) < 1_000_000
    assert len(bad) < 20


def test_a_member_that_is_opened_too_late_raises_nothing_else(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"a": b"1"})
    items: list[Listed] = list(walk_members([path]))
    (member,) = (item for item in items if isinstance(item, Member))
    with pytest.raises(BadInputError):
        member.open()
