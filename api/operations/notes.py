"""Notes as an operation reads them: found by a place, within what the caller may read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.caller import Caller
from api.operations.base import Services
from context_engine.clock import isoformat, parse_utc
from context_engine.errors import BadInputError, NotFoundError
from context_engine.scopes import Scope

_MESSAGE_MARK = re.compile(r"[ \t]*<!-- ce:u=[^<>]*-->")
_INSIGHT_MARK = re.compile(r"<!-- ce:i=[0-9a-f]+ (raw|validated) -->")
_SUFFIX = ".md"


@dataclass(frozen=True)
class LoadedNote:
    """One note of a vault. `body` has its machine marks replaced by labels for a reader."""

    scope: Scope
    relative: str
    fields: Mapping[str, Any]
    body: str
    warnings: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """What callers know it by."""
        return f"{self.scope.value}/{self.relative}"

    @property
    def title(self) -> str:
        """Its title, or its file name."""
        return self.text("title") or self.relative.rsplit("/", 1)[-1].removesuffix(_SUFFIX)

    def text(self, key: str) -> str | None:
        """Return an entry of the front matter when it is text."""
        value = self.fields.get(key)
        return value if isinstance(value, str) and value else None

    def moment(self, *keys: str) -> datetime | None:
        """Return the first of the entries that is a time."""
        for key in keys:
            try:
                return parse_utc(self.text(key) or "")
            except (ValueError, OverflowError):
                continue
        return None

    def date(self, *keys: str) -> str | None:
        """Return the first of the entries that is a time, as text."""
        moment = self.moment(*keys)
        return isoformat(moment) if moment else None


def load_note(services: Services, caller: Caller, place: str) -> LoadedNote:
    """Return the note at `place`: `work/knowledge/…` or, of one's own vault, `knowledge/…`.

    Raises NotFoundError when it is absent or not the caller's to read, UnsafePathError when the
    path leaves its vault or passes through a link.
    """
    for scope, relative in _candidates(caller, place):
        try:
            return _read(services, scope, relative)
        except NotFoundError:
            continue
    raise NotFoundError(place)


def _candidates(caller: Caller, place: str) -> Iterator[tuple[Scope, str]]:
    first, _, rest = place.partition("/")
    for scope in caller.scope.readable:
        if first == scope.value:
            yield scope, rest
            return
    for scope in caller.scope.readable:
        yield scope, place


def _read(services: Services, scope: Scope, relative: str) -> LoadedNote:
    from vault.frontmatter import parse, split
    from vault.paths import vault_root
    from vault.store import read

    if not relative.endswith(_SUFFIX):
        raise NotFoundError(relative)
    data = read(vault_root(services.home, scope), relative).data
    try:
        halves = split(data.decode("utf-8").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        raise BadInputError(relative, "the note is not UTF-8") from error
    fields: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()
    try:
        fields = parse(halves.yaml or "", relative)
    except BadInputError as error:
        # a person's note stays readable when only its head is broken
        warnings = (f"its front matter cannot be read: {error.reason}",)
    return LoadedNote(scope, relative, fields, _for_readers(halves.body), warnings)


def _for_readers(body: str) -> str:
    return _INSIGHT_MARK.sub(r"[\1]", _MESSAGE_MARK.sub("", body))
