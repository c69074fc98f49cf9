"""Text files in the encodings that people have: UTF-8, UTF-16, Shift_JIS."""

from __future__ import annotations

import codecs
import re

from connectors.archive import Member
from context_engine.errors import BadInputError

TEXT_LIMIT = 8 * 1024 * 1024
"""Bytes of one text file: nobody writes more by hand or says more in a meeting."""

_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]{2}")
_PROBE = 8_192


def read_text(member: Member) -> str:
    r"""Return the text of a file, with `\n` line ends.

    Raises BadInputError when it is too large, no text, or in an encoding that cannot be told.
    """
    with member.open() as stream:
        data = stream.read(TEXT_LIMIT + 1)
    if len(data) > TEXT_LIMIT:
        raise BadInputError(member.place, f"larger than {TEXT_LIMIT >> 20} MiB")
    text = decode(data)
    if text is None:
        raise BadInputError(member.place, "not text in UTF-8, UTF-16 or Shift_JIS")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode(data: bytes) -> str | None:
    """Return the text in `data`, or None when it is binary or its encoding cannot be told."""
    for bom, encoding in _BOMS.items():
        if data.startswith(bom):
            return _strict(data, encoding)
    if b"\0" in data[:_PROBE]:
        return None
    text = _strict(data, "utf-8")
    if text is None:
        text = _strict(data, "cp932")
        # what another encoding means by these bytes rarely reads as kana or kanji in a row
        text = text if text is not None and _JAPANESE.search(text) else None
    return text


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
