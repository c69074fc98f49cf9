"""One XML export while it is read: objects go in, in any order; pages come out whole.

What the pages need lies in a temporary SQLite database without a name: it has a small cache in
memory, and is gone when it is closed or the process dies.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
import orjson

from connectors.confluence_xml import Entity

PAGES = frozenset({"Page", "BlogPost"})
KEYED = PAGES | {"Comment", "Attachment", "BodyContent"}
"""Classes whose objects are found by their id."""
_KNOWN = frozenset(
    [
        "SpacePermission",
        "SpaceDescription",
        "ConfluenceBandanaRecord",
        "OutgoingLink",
        "Notification",
        "ContentPermission",
        "ContentPermissionSet",
        "BucketPropertySetItem",
        "InternalUserAttribute",
        "InternalGroup",
        "HibernateMembership",
        "User2ContentRelationEntity",
        "LikeEntity",
        "GlobalDescription",
        "DefaultHibernateGroup",
        "DefaultHibernateUser",
        "ConfluenceRememberMeToken",
        "DirectoryMapping",
        "DirectoryImpl",
        "ApplicationImpl",
        "AliasedKey",
        "ReferralLink",
        "TrackbackLink",
        "Content2ContentRelationEntity",
        "ImageDetails",
        "PageTemplate",
    ]
)
"""Classes that hold settings, permissions and bookkeeping: left out knowingly."""
_CACHE_KIB = 16 * 1024
_SCHEMA = """
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-%d; PRAGMA temp_store=FILE;
CREATE TABLE content(id TEXT PRIMARY KEY, kind TEXT, page TEXT, original TEXT, data BLOB);
CREATE TABLE body(id TEXT PRIMARY KEY, owner TEXT, type TEXT, data BLOB);
CREATE TABLE held(body TEXT, owner TEXT, PRIMARY KEY(body, owner)) WITHOUT ROWID;
CREATE TABLE name(kind TEXT, key TEXT, value TEXT, PRIMARY KEY(kind, key)) WITHOUT ROWID;
CREATE TABLE said(id TEXT, owner TEXT, name TEXT, value TEXT);
CREATE TABLE labelled(content TEXT, label TEXT, PRIMARY KEY(content, label)) WITHOUT ROWID;
BEGIN;
"""
_INDEXES = """
CREATE INDEX content_page ON content(page, kind);
CREATE INDEX content_original ON content(original) WHERE original<>'';
CREATE INDEX body_owner ON body(owner); CREATE INDEX held_owner ON held(owner);
CREATE INDEX said_owner ON said(owner); CREATE INDEX said_id ON said(id);
"""
_SELECTION = "inline-original-selection"
_DEPTH = 60
"""Parents that are followed: a tree deeper than this, or a circle, ends there."""


@dataclass(frozen=True, slots=True)
class Content:
    """A page, blog post, comment or attachment as the export describes it."""

    id: str
    kind: str
    page: str
    fields: Mapping[str, str]

    @property
    def status(self) -> str:
        """`current` where nothing is said."""
        return self.fields.get("contentStatus", "").strip().lower() or "current"


@dataclass(frozen=True, slots=True)
class Body:
    """A text and its format: 0 wiki markup, 1 raw, 2 storage; empty before Confluence 4."""

    type: str
    text: str


@dataclass
class Export:
    """The objects of one `entities.xml`."""

    counted: dict[str, int] = field(default_factory=dict)
    """How many objects of classes that nothing is known of."""

    def __post_init__(self) -> None:
        self._db = apsw.Connection("")
        # a pragma answers with a row: all statements run only when all rows are taken
        self._db.execute(_SCHEMA % _CACHE_KIB).fetchall()

    def close(self) -> None:
        """Give up what was collected."""
        self._db.close()

    def finish(self) -> None:
        """Say that all objects are in."""
        self._db.execute(f"COMMIT; {_INDEXES}").fetchall()

    # -- objects in -------------------------------------------------------------------------------

    def add(self, entity: Entity) -> None:
        """Take in one object."""
        kind = entity.kind
        if kind in PAGES or kind in {"Comment", "Attachment"}:
            self._add_content(entity)
        elif kind == "BodyContent":
            self._add_body(entity)
        elif kind == "ContentProperty":
            self._add_said(entity)
        elif kind == "Labelling":
            self._add_labelling(entity)
        elif not self._add_name(entity) and kind not in _KNOWN:
            self.counted[kind] = self.counted.get(kind, 0) + 1

    def _add_content(self, entity: Entity) -> None:
        refs, fields = entity.refs, entity.fields
        page = refs.get("containerContent") or refs.get("owner") or refs.get("content") or ""
        original = refs.get("originalVersion") or fields.get("originalVersionId", "").strip()
        pointers = ("space", "parent", "creator", "lastModifier")
        kept = {f"ref:{name}": refs[name] for name in pointers if name in refs}
        kept |= {name: fields[name] for name in _FIELDS if fields.get(name)}
        self._db.execute(
            "INSERT OR REPLACE INTO content VALUES (?,?,?,?,?)",
            (entity.id, entity.kind, page, original, orjson.dumps(kept)),
        )
        for body in entity.many.get("bodyContents", ()):
            self._db.execute("INSERT OR IGNORE INTO held VALUES (?,?)", (body, entity.id))
        for said in entity.many.get("contentProperties", ()) if entity.kind == "Comment" else ():
            self._db.execute("INSERT INTO said VALUES (?,?,'','')", (said, entity.id))

    def _add_body(self, entity: Entity) -> None:
        data = zlib.compress(entity.fields.get("body", "").encode("utf-8", "replace"), 1)
        kind = entity.fields.get("bodyType", "").strip()
        owner = entity.refs.get("content", "")
        self._db.execute(
            "INSERT OR REPLACE INTO body VALUES (?,?,?,?)", (entity.id, owner, kind, data)
        )

    def _add_said(self, entity: Entity) -> None:
        name = entity.fields.get("name", "")
        if name == _SELECTION:
            value, owner = entity.fields.get("stringValue", ""), entity.refs.get("content", "")
            row = (entity.id, owner, name, value[:2_000])
            self._db.execute("INSERT INTO said VALUES (?,?,?,?)", row)

    def _add_labelling(self, entity: Entity) -> None:
        content = entity.refs.get("content") or entity.fields.get("labelableId", "").strip()
        row = (content, entity.refs.get("label", ""))
        self._db.execute("INSERT OR IGNORE INTO labelled VALUES (?,?)", row)

    def _add_name(self, entity: Entity) -> bool:
        rule = _NAMES.get(entity.kind)
        if rule is None:
            return False
        kind, key_field, names = rule
        key = entity.fields.get(key_field, "") if key_field else entity.id
        value = next((text for name in names if (text := entity.fields.get(name, "").strip())), "")
        if key and value:
            self._db.execute("INSERT OR REPLACE INTO name VALUES (?,?,?)", (kind, key, value))
        if entity.kind == "Space" and (space_key := entity.fields.get("key")):
            self._db.execute(
                "INSERT OR REPLACE INTO name VALUES ('space key',?,?)", (entity.id, space_key)
            )
        return True

    # -- pages out --------------------------------------------------------------------------------

    def pages(self) -> Iterator[Content]:
        """Yield pages and posts that are no old versions, by id."""
        rows = self._db.execute(
            "SELECT id, kind, page, data FROM content WHERE kind IN ('Page','BlogPost')"
            " AND original='' ORDER BY length(id), id"
        )
        yield from (_content(*row) for row in rows)

    def content(self, content_id: str) -> Content | None:
        """Return what has this id."""
        row = self._db.execute(
            "SELECT id, kind, page, data FROM content WHERE id=?", (content_id,)
        ).fetchone()
        return _content(*row) if row else None

    def versions(self, content_id: str) -> list[Content]:
        """Return the old versions of something."""
        rows = self._db.execute(
            "SELECT id, kind, page, data FROM content WHERE original=? AND original<>''",
            (content_id,),
        )
        return [_content(*row) for row in rows]

    def attached(self, page_id: str, kind: str) -> list[Content]:
        """Return what belongs to a page (`Comment`, `Attachment`) and is current, by id."""
        # the plus keeps SQLite from its index of old versions, where most rows are alike
        rows = self._db.execute(
            "SELECT id, kind, page, data FROM content WHERE page=? AND kind=? AND +original=''"
            " ORDER BY length(id), id",
            (page_id, kind),
        )
        return [item for row in rows if (item := _content(*row)).status == "current"]

    def has_comments(self) -> bool:
        """Say whether comments were exported at all."""
        return bool(
            self._db.execute("SELECT 1 FROM content WHERE kind='Comment' LIMIT 1").fetchone()
        )

    def as_of(self) -> str:
        """Return the latest change in the export, as it is written there."""
        row = self._db.execute(
            "SELECT max(json_extract(data, '$.lastModificationDate')) FROM content"
        ).fetchone()
        return str(row[0] or "")[:40] if row else ""

    def body(self, content_id: str) -> Body | None:
        """Return the text of a page or comment; storage format goes before others."""
        row = self._db.execute(
            "SELECT type, data FROM body WHERE owner=?1"
            " OR id IN (SELECT body FROM held WHERE owner=?1)"
            " ORDER BY type='2' DESC, id LIMIT 1",
            (content_id,),
        ).fetchone()
        return Body(row[0], zlib.decompress(row[1]).decode()) if row else None

    def selection(self, comment_id: str) -> str:
        """Return the words of the page that an inline comment is about."""
        row = self._db.execute(
            "SELECT value FROM said WHERE name<>'' AND (owner=?1"
            " OR id IN (SELECT id FROM said WHERE owner=?1)) LIMIT 1",
            (comment_id,),
        ).fetchone()
        return row[0] if row else ""

    def labels(self, content_id: str) -> Sequence[str]:
        """Return the labels of a page, by name."""
        rows = self._db.execute("SELECT label FROM labelled WHERE content=?", (content_id,))
        return sorted({name for (label,) in rows if (name := self.name("label", label))})

    def name(self, kind: str, key: str) -> str:
        """Return the name of a space, label or person; empty when it is not known."""
        row = self._db.execute(
            "SELECT value FROM name WHERE kind=? AND key=?", (kind, key)
        ).fetchone()
        return row[0] if row else ""

    def person(self, key: str) -> str:
        """Return how a person is called, from a key, an account id or a user name."""
        user = self.name("user", key) or key
        return self.name("person", user) or user

    def ancestors(self, page: Content) -> list[str]:
        """Return the titles above a page, the topmost first."""
        titles: list[str] = []
        above = page.fields.get("ref:parent", "")
        seen = {page.id}
        while above and above not in seen and len(titles) < _DEPTH:
            seen.add(above)
            parent = self.content(above)
            if parent is None:
                break
            titles.append(parent.fields.get("title", ""))
            above = parent.fields.get("ref:parent", "")
        return titles[::-1]


_FIELDS = (
    "title", "version", "creatorName", "lastModifierName", "creationDate", "lastModificationDate",
    "contentStatus", "fileName", "contentType",
)  # fmt: skip
_NAMES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "Space": ("space", "", ("name", "key")),
    "Label": ("label", "", ("name",)),
    "ConfluenceUserImpl": ("user", "", ("name", "lowerName")),
    "InternalUser": ("person", "name", ("displayName", "lastName")),
    "PersonalInformation": ("person", "username", ("fullName",)),
}
"""Class → kind of name, the field that is its key (empty: the object's id), where the name is."""


def _content(content_id: str, kind: str, page: str, data: bytes) -> Content:
    fields: dict[str, Any] = orjson.loads(data)
    return Content(content_id, kind, page, fields)
