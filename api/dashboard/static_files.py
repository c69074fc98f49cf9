"""Files of the program that pages load: all there are, read once."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


@cache
def files() -> dict[str, tuple[bytes, str]]:
    """Return content and media type by name."""
    places = [place for place in _FOLDER.iterdir() if place.suffix in _TYPES]
    return {place.name: (place.read_bytes(), _TYPES[place.suffix]) for place in places}


@cache
def version() -> str:
    """Return a word that changes when a file does."""
    digest = hashlib.sha256()
    for name, (data, _) in sorted(files().items()):
        digest.update(name.encode() + data)
    return digest.hexdigest()[:12]
