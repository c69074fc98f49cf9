"""From the objects of an XML export to pages: who wrote what when, and in which format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from connectors.base import Item, Ledger, ReadOptions
from connectors.confluence_elements import Context
from connectors.confluence_export import Body, Content, Export
from connectors.confluence_pages import (
    DELETED,
    Facts,
    Page,
    Sender,
    facts_digest,
    in_order,
    is_news,
    is_owner,
    iso,
    known,
    without_text,
)
from connectors.confluence_storage import storage_to_markdown
from connectors.confluence_wiki import wiki_to_markdown
from connectors.text import EARLIEST, clean_text
from context_engine.events import Role, UnknownRecord, Utterance

_LEFT_OUT = frozenset({"draft", "historical"})
_STORAGE, _RAW, _WIKI = "2", "1", frozenset({"", "0"})
_SHOWN = 1_000


class PageReader:
    """Reads the pages of one export."""

    def __init__(
        self, export: Export, zone: ZoneInfo, ledger: Ledger, options: ReadOptions
    ) -> None:
        self._export, self._zone, self._ledger, self._options = export, zone, ledger, options
        self._as_of = export.as_of()
        self._context = Context(user=export.person)
        self.sender = Sender(options)

    def page(self, content: Content, place: str) -> Iterator[Item]:
        """Yield what is new about one page."""
        if content.status in _LEFT_OUT:
            return
        created = self._time(content, "creationDate")
        before = known(self._ledger, content.id, created)
        gone = content.status in DELETED
        if gone and before.facts is None:
            return
        facts = self._facts(content, created)
        if not is_news(before.facts, facts):
            return
        page = self._page(content, gone=gone)
        for kind in self._context.unknown:
            yield UnknownRecord(place, kind, kept=True)
        self._context.unknown.clear()
        if gone:
            yield from self.sender.withdraw(page, before, facts)
        elif before.facts is None and without_text(page):
            yield UnknownRecord(place, "page without text")
        else:
            yield from self.sender.send(page, before, facts)

    # -- what it is made from -----------------------------------------------------------------

    def _facts(self, content: Content, created: datetime | None) -> Facts:
        return Facts(
            form="xml",
            digest=self._digest(content),
            version=_number(content.fields.get("version", "")),
            as_of=self._as_of,
            modified=iso(self._time(content, "lastModificationDate")),
            created=iso(created),
        )

    def _digest(self, content: Content) -> str:
        comments = self._export.attached(content.id, "Comment")
        parts = [self._space(content), *self._export.ancestors(content)]
        parts += [*self._export.labels(content.id), *self._attachments(content)]
        for item in (content, *comments):
            body = self._export.body(item.id) or Body("", "")
            parts += [item.id, self._author(item), self._export.selection(item.id)]
            parts += [f"{name}={value}" for name, value in sorted(item.fields.items())]
            parts += [body.type, body.text]
        return facts_digest(str(self._zone), self._options.owner_name, *parts)

    def _page(self, content: Content, *, gone: bool) -> Page:
        fields = content.fields
        return Page(
            id=content.id,
            title=fields.get("title", ""),
            text="" if gone else self._text(content),
            author=self._author(content),
            role=self._role(content),
            space=self._space(content),
            path=self._export.ancestors(content),
            kind="blog post" if content.kind == "BlogPost" else "page",
            status=content.status,
            version=_number(fields.get("version", "")),
            created=self._time(content, "creationDate"),
            modified=self._time(content, "lastModificationDate"),
            labels=self._export.labels(content.id),
            attachments=self._attachments(content),
            comments=() if gone else self._comments(content),
        )

    def _space(self, content: Content) -> str:
        space = content.fields.get("ref:space", "")
        name, key = self._export.name("space", space), self._export.name("space key", space)
        return f"{name} ({key})" if key and key != name else name

    def _attachments(self, content: Content) -> Sequence[str]:
        names = (
            item.fields.get("fileName") or item.fields.get("title") or ""
            for item in self._export.attached(content.id, "Attachment")
        )
        return sorted({clean_text(name)[:200] for name in names} - {""})

    def _comments(self, content: Content) -> Sequence[Utterance]:
        said = (self._comment(item) for item in self._export.attached(content.id, "Comment"))
        return in_order([comment for comment in said if comment.text])

    def _comment(self, item: Content) -> Utterance:
        selection = clean_text(self._export.selection(item.id))[:_SHOWN]
        quote = "".join(f"> {line}\n" for line in selection.split("\n")) if selection else ""
        text = self._text(item)
        return Utterance(
            item.id,
            self._author(item),
            self._role(item),
            self._time(item, "creationDate") or self._time(item, "lastModificationDate"),
            f"{quote}\n{text}".strip() if text else "",
        )

    # -- text, persons, times -----------------------------------------------------------------

    def _text(self, content: Content) -> str:
        body = self._export.body(content.id)
        if body is None or not body.text.strip():
            return ""
        if body.type == _STORAGE or (body.type == _RAW and body.text.lstrip().startswith("<")):
            text = storage_to_markdown(body.text, self._context)
        elif body.type in _WIKI:
            text = wiki_to_markdown(body.text)
        else:
            text = body.text
            if body.type != _RAW:
                self._context.unknown.append(f"bodyType:{body.type[:20]}")
        return clean_text(text)

    def _author(self, content: Content) -> str:
        """Return who changed it last."""
        keys = _persons(content, "lastModifier") or _persons(content, "creator")
        return clean_text(self._export.person(keys))[:200] if keys else "unknown"

    def _role(self, content: Content) -> Role:
        """Owner, only when every version of it is known to be the owner's."""
        versions = self._export.versions(content.id)
        if _number(content.fields.get("version", "")) > len(versions) + 1:
            return Role.OTHER
        keys = {_persons(item, kind) for item in (content, *versions) for kind in _WRITERS}
        names = {self._export.person(key) for key in keys if key}
        ours = names and all(is_owner(name, self._options) for name in names)
        return Role.OWNER if ours else Role.OTHER

    def _time(self, content: Content, name: str) -> datetime | None:
        try:
            moment = datetime.fromisoformat(content.fields.get(name, "").strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=self._zone)
            moment = moment.astimezone(UTC)
        except (ValueError, OverflowError):
            return None
        return moment if moment >= EARLIEST else None


_WRITERS = ("creator", "lastModifier")


def _persons(content: Content, kind: str) -> str:
    """Return the key of the creator or last modifier; before Confluence 5 a name."""
    return content.fields.get(f"ref:{kind}") or content.fields.get(f"{kind}Name", "")


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0  # noqa: PLR2004 - no number here is longer
