"""Names of archive members: decoded as their writer meant them, and refused when they lead out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from connectors.text import clean_text

_DRIVE = re.compile(r"[A-Za-z]:")
_JAPANESE_RUN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uff66-\uff9f]{2}|[\u3041-\u30fa]")
_BIDI = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
NAME_LENGTH = 1024


def decode_names(raw: Iterable[bytes]) -> Mapping[bytes, str]:
    """Return the text of names that carry no UTF-8 flag.

    macOS writes UTF-8 without the flag, Japanese Windows writes cp932, everything else by the
    standard cp437. One archive has one writer: what its names have in common decides.
    """
    names = [name for name in raw if not name.isascii()]
    encoding = "cp437"
    if all(_decodes(name, "utf-8") for name in names):
        encoding = "utf-8"
    elif any(_reads_japanese(name) for name in names):
        encoding = "cp932"
    return {name: _decode(name, encoding) for name in raw}


def _decodes(name: bytes, encoding: str) -> bool:
    try:
        name.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _reads_japanese(name: bytes) -> bool:
    """Say whether cp932 gives kana or two kanji in a row: a lone umlaut in cp437 gives neither."""
    return _decodes(name, "cp932") and bool(_JAPANESE_RUN.search(name.decode("cp932")))


def _decode(name: bytes, encoding: str) -> str:
    return name.decode(encoding if _decodes(name, encoding) else "cp437")


def normal_name(name: str) -> str:
    """Return `name` in NFC with `/` between its parts, without `.` parts."""
    parts = unicodedata.normalize("NFC", name).replace("\\", "/").split("/")
    start = "/" if parts[0] == "" and len(parts) > 1 else ""
    return start + "/".join(part for part in parts if part not in {"", "."})


def problem_of(name: str) -> str | None:
    """Return why a member of this name (as `normal_name` gives it) is refused, or None."""
    if len(name) > NAME_LENGTH:
        return "its name is too long"
    if name.startswith("/") or _DRIVE.match(name):
        return "an absolute name"
    if ".." in name.split("/"):
        return "its name leads out of the archive"
    if not name or "\0" in name:
        return "no usable name"
    return None


def shown_name(name: str) -> str:
    """Return `name` as a report may show it: bounded, without control or bidi characters."""
    return _BIDI.sub("", clean_text(name[:NAME_LENGTH])).replace("\n", " ").replace("\t", " ")
