"""Names of passages that last: an id to fetch one by, and a URL to cite it by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

SCHEME = "context-engine://"

_CHUNK = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Reference:
    """`<scope>/<path>#<chunk_id>`; either half is enough to find something.

    The chunk says where in the note; the path still leads there when the note was edited and has
    other chunks by now.
    """

    path: str
    """With the scope in front; empty when only the chunk is known."""
    chunk_id: str | None

    @property
    def id(self) -> str:
        """What `fetch` takes."""
        return f"{self.path}#{self.chunk_id}" if self.chunk_id else self.path

    @property
    def url(self) -> str:
        """The same as a URL. It opens nothing by itself: there is no file or host in it."""
        mark = f"#{self.chunk_id}" if self.chunk_id else ""
        return f"{SCHEME}{quote(self.path)}{mark}"


def parse_reference(text: str) -> Reference:
    """Read an id, a URL of ours, a path or a chunk id alone."""
    text = text.strip()
    place = unquote(text.removeprefix(SCHEME)) if text.startswith(SCHEME) else text
    if _CHUNK.fullmatch(place):
        return Reference("", place)
    path, mark, chunk_id = place.rpartition("#")
    if mark and _CHUNK.fullmatch(chunk_id):
        return Reference(path, chunk_id)
    return Reference(place, None)
