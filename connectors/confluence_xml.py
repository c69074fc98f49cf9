"""`entities.xml` as a stream of objects, however large, cut off or damaged it is.

The file is one flat row of `<object>` elements. It is cut into these by a search for their ends,
and each is parsed by itself: memory is that of one object, and a damaged one costs only itself.
Expat reads them without a DTD, so that there are no entities to expand and nothing to fetch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from typing import Protocol
from xml.parsers import expat

from context_engine.errors import BadInputError
from context_engine.events import BadRecord

OBJECT_LIMIT = 16 * 1024 * 1024
"""Bytes of one object. Confluence itself takes no page above 5 MB unless told to."""
PROLOGUE_LIMIT = 1024 * 1024
DEPTH_LIMIT = 64
_CHUNK = 1024 * 1024
_ROOT, _ROOT_END = b"<hibernate-generic", b"</hibernate-generic"
_START = re.compile(rb"<object[\s>]")
_PROLOGUE_END = re.compile(rb"<object[\s>]|</hibernate-generic")
_CDATA, _CDATA_END = b"<![CDATA[", b"]]>"
_END_OR_CDATA = re.compile(rb"</object>|<!\[CDATA\[")
_KEEP = 32
"""Bytes that may be the beginning of a tag whose rest is still to be read."""
_DTD = re.compile(rb"<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_CONTROL = bytes({*range(32)} - {9, 10, 13})
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
_REFERENCE = re.compile(r"&(?:#(\d{1,7});|#[xX]([0-9a-fA-F]{1,6});|(\w{1,31});|)")
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_XML_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


class Source(Protocol):
    """Bytes that come one after the other."""

    def read(self, size: int = ..., /) -> bytes:
        """Return up to `size` bytes; none at the end."""
        ...


@dataclass(slots=True)
class Entity:
    """One object: its class and id, its texts, and the ids it points to by property.

    `id` is empty for the few classes whose key is made of several columns.
    """

    kind: str
    offset: int
    id: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    many: dict[str, list[str]] = field(default_factory=dict)


class EntityReader:
    """Reads the objects of one file. `complete` says afterwards whether its end was reached."""

    def __init__(self, source: Source, place: str) -> None:
        self._source, self._place = source, place
        self.complete = False

    def __iter__(self) -> Iterator[Entity | BadRecord]:
        """Yield objects, and what could not be read with its place in the file."""
        cutter = _Cutter(self._source)
        try:
            for offset, data in cutter.pieces():
                if data is None:
                    limit = f"an object larger than {OBJECT_LIMIT >> 20} MiB"
                    yield BadRecord(self._at(offset), f"refused: {limit}")
                else:
                    yield from self._objects(offset, data)
            self.complete = True
        except BadInputError as error:
            # named by this reader, or by the archive the file lies in
            yield BadRecord(error.place or self._place, error.reason)

    def _at(self, offset: int) -> str:
        return f"{self._place} at byte {offset:,}"

    def _objects(self, offset: int, data: bytes) -> Iterator[Entity | BadRecord]:
        result = parse_object(data, offset)
        if isinstance(result, Entity):
            yield result
            return
        yield BadRecord(self._at(offset), result)
        # an object that lost its end has swallowed the next one
        inner = [match.start() for match in _START.finditer(data, 1)]
        if inner and isinstance(rest := parse_object(data[inner[-1] :], offset), Entity):
            yield rest


@dataclass(slots=True)
class _Cutter:
    """Cuts the stream at `</object>` outside CDATA; every byte is searched once."""

    source: Source
    buffer: bytearray = field(default_factory=bytearray)
    offset: int = 0
    """Place of the buffer's first byte in the file."""

    def pieces(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield each object's place and bytes; None for one beyond the limit."""
        self._prologue()
        while True:
            start = self._start()
            if start is None:
                return
            self._drop(start)
            yield self.offset, self._object()

    def _fill(self) -> bool:
        data = self.source.read(_CHUNK)
        self.buffer += data
        return bool(data)

    def _drop(self, count: int) -> None:
        del self.buffer[:count]
        self.offset += count

    def _prologue(self) -> None:
        """Read up to the first object. Raises BadInputError when this is no export."""
        while not (found := _PROLOGUE_END.search(self.buffer)):
            if len(self.buffer) > PROLOGUE_LIMIT or not self._fill():
                break
        head = bytes(self.buffer[: found.start() if found else PROLOGUE_LIMIT])
        if _DTD.search(head):
            raise BadInputError("", "refused: it declares a document type (entities, XML bomb)")
        if _ROOT not in head:
            raise BadInputError("", "not an XML export of Confluence in UTF-8")

    def _start(self) -> int | None:
        """Return where the next object begins in the buffer, or None at the file's end."""
        closed = False
        while not (found := _START.search(self.buffer)):
            closed = closed or _ROOT_END in self.buffer
            self._drop(max(0, len(self.buffer) - _KEEP))
            if not self._fill():
                if closed:
                    return None
                raise BadInputError("", "cut off: it ends without its last tag")
        return found.start()

    def _object(self) -> bytes | None:
        """Return the object that begins the buffer, and take it out."""
        position, in_cdata, dropped = 1, False, 0
        while True:
            position, in_cdata, done = self._scan(position, in_cdata=in_cdata)
            if done:
                data = None if dropped else bytes(self.buffer[:position])
                self._drop(position)
                return data
            if dropped + len(self.buffer) > OBJECT_LIMIT:
                dropped += position
                self._drop(position)
                position = 0
            if not self._fill():
                raise BadInputError("", "cut off in the middle of an object")

    def _scan(self, position: int, *, in_cdata: bool) -> tuple[int, bool, bool]:
        """Go on to the object's end: where it got to, whether in CDATA, whether that is the end."""
        buffer = self.buffer
        while True:
            if in_cdata:
                end = buffer.find(_CDATA_END, position)
                if end < 0:
                    return max(position, len(buffer) - len(_CDATA_END) + 1), True, False
                position, in_cdata = end + len(_CDATA_END), False
            found = _END_OR_CDATA.search(buffer, position)
            if found is None:
                return max(position, len(buffer) - len(_CDATA) + 1), False, False
            position, in_cdata = found.end(), found[0] == _CDATA
            if not in_cdata:
                return position, False, True


def parse_object(data: bytes, offset: int = 0) -> Entity | str:
    """Return the object whose XML this is, or why it cannot be read."""
    builder = _Builder(offset)
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text.append
    try:
        parser.Parse(_readable(data), True)
    except expat.ExpatError as error:
        return f"damaged: {expat.ErrorString(error.code)}"
    except _TooDeepError:
        return f"refused: nested deeper than {DEPTH_LIMIT}"
    return builder.entity if builder.entity.kind else "an object without a class"


class _TooDeepError(Exception):
    pass


class _Builder:
    """Expat's handlers for one object."""

    def __init__(self, offset: int) -> None:
        self.entity = Entity("", offset)
        self.text: list[str] = []
        self._depth = 0
        self._name = ""
        self._points = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH_LIMIT:
            raise _TooDeepError
        if self._depth == 1:
            self.entity.kind = attributes.get("class", "")[:200]
        elif self._depth == 2:  # noqa: PLR2004 - object > property
            self._name, self._points = attributes.get("name", "")[:200], False
        elif name == "id":
            self._points = True
        self.text.clear()

    def end(self, name: str) -> None:
        depth, self._depth = self._depth, self._depth - 1
        entity, value = self.entity, "".join(self.text)
        if name == "id" and depth == 2:  # noqa: PLR2004 - object > id
            entity.id = value.strip()
        elif name == "id" and depth == 3:  # noqa: PLR2004 - object > property > id
            entity.refs[self._name] = value.strip()
        elif name == "id" and depth == 4:  # noqa: PLR2004 - object > collection > element > id
            entity.many.setdefault(self._name, []).append(value.strip())
        elif name == "property" and depth == 2 and not self._points:  # noqa: PLR2004 - object > property
            entity.fields[self._name] = mend_cdata(value)
        self.text.clear()


def mend_cdata(text: str) -> str:
    """Return `text` as it was before the export put a space into every end of CDATA."""
    return text.replace("]] >", "]]>")


def _readable(data: bytes) -> str:
    """Return an object's XML without what XML forbids and with entities that HTML knows."""
    text = data.translate(None, _CONTROL).decode("utf-8", "replace")
    return mend_entities(_NO_CHARACTER.sub("\ufffd", text))


def mend_entities(text: str) -> str:
    """Return XML with HTML's named entities as characters, outside CDATA; stray `&` are escaped."""
    if "&" not in text:
        return text
    first, *rest = text.split("<![CDATA[")
    mended = [_REFERENCE.sub(_resolve, first)]
    for part in rest:
        inside, end, outside = part.partition("]]>")
        mended += ["<![CDATA[", inside, end, _REFERENCE.sub(_resolve, outside)]
    return "".join(mended)


def _resolve(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if decimal or hexadecimal:
        code = int(decimal) if decimal else int(hexadecimal, 16)
        return match[0] if _is_character(code) else "\ufffd"
    if name in _XML_ENTITIES:
        return match[0]
    known = html5.get(f"{name};") if name else None
    if known is None:
        return f"&amp;{match[0][1:]}"
    return "".join(_XML_ESCAPES.get(character, character) for character in known)


def _is_character(code: int) -> bool:
    if code in {0x9, 0xA, 0xD} or 0x20 <= code <= 0xD7FF:  # noqa: PLR2004 - XML 1.0, 2.2
        return True
    return 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF  # noqa: PLR2004 - what XML 1.0 allows
