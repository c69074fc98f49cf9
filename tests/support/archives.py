"""Archives made for tests: honest ones, and ones that lie."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path


def zip_bytes(members: Mapping[str, bytes]) -> bytes:
    """Return a deflated zip of these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def write_zip(path: Path, members: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zip_bytes(members))
    return path


def named_zip(names: Iterable[bytes], data: bytes = b"x") -> bytes:
    """Return a zip whose names are these very bytes, without the UTF-8 flag."""
    bodies, directory, offset = bytearray(), bytearray(), 0
    crc, size = zlib.crc32(data), len(data)
    count = 0
    for name in names:
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, crc, size, size, len(name), 0)
        local = b"PK\x03\x04" + fields + name + data
        central = struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 33, crc, size, size,
                              len(name), 0, 0, 0, 0, 0, offset)  # fmt: skip
        directory += b"PK\x01\x02" + central + name
        bodies += local
        offset += len(local)
        count += 1
    end = struct.pack("<HHHHIIH", 0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), offset, 0)
    return bytes(bodies + directory) + b"PK\x05\x06" + end


def bomb(megabytes: int, name: str = "conversations.json", fill: bytes = b"\0") -> bytes:
    """Return a zip of one member that is `megabytes` of one byte."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w") as member,
    ):
        member.write(b"[")
        for _ in range(megabytes):
            member.write(fill * 1_000_000)
    return buffer.getvalue()


def tar_bytes(members: Iterable[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload] # str
        for info, data in members:
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def tar_of(members: Mapping[str, bytes]) -> bytes:
    return tar_bytes((tarfile.TarInfo(name), data) for name, data in members.items())
