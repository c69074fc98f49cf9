"""Who and what the ids of a Slack workspace stand for, and which person owns the vault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.owners import UNSET, name_key
from connectors.text import clean_text, shorten

METADATA = ("users.json", "channels.json", "groups.json", "dms.json", "mpims.json")
"""Files at the root of an export that say what ids mean."""

NAME_LENGTH = 80
_CHANNEL_ID = re.compile(r"[CDG][A-Z0-9]{6,20}\Z")
_GROUP_DM = re.compile(r"mpdm-(.+)-\d+\Z")


@dataclass(frozen=True, slots=True)
class Person:
    """A user as `users.json` has it. `handles` are the user's alone, `names` may be shared."""

    user_id: str
    name: str
    handles: tuple[str, ...]
    names: tuple[str, ...]
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Channel:
    """A conversation. `label` is how a title names it: `#general`, `DM with Kim`."""

    channel_id: str
    label: str


@dataclass
class Directory:
    """The people and channels of one export."""

    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    """Channel id by folder name: the name now, names before, the id itself."""
    domain: str | None = None

    def take(self, file: str, records: Iterable[Any]) -> None:
        """Take in the records of one metadata file."""
        for record in records:
            if isinstance(record, dict) and isinstance(record.get("id"), str):
                if file == "users.json":
                    self._person(_person(record), record.get("profile"))
                else:
                    self._channel(record)

    def _person(self, person: Person, profile: Any) -> None:
        self.people[person.user_id] = person
        bot_id = profile.get("bot_id") if isinstance(profile, dict) else None
        if isinstance(bot_id, str) and bot_id:
            bot = Person(bot_id, person.name, (), (), is_bot=True)
            self.people.setdefault(bot_id, bot)

    def _channel(self, record: dict[str, Any]) -> None:
        channel_id = record["id"]
        self.channels[channel_id] = record
        former = record.get("previous_names")
        names = [channel_id, record.get("name_normalized"), record.get("name")]
        for name in former if isinstance(former, list) else []:
            self.folders.setdefault(name_key(str(name)), channel_id)
        for name in names:
            if isinstance(name, str) and name:
                self.folders[name_key(name)] = channel_id

    def person_name(self, user_id: str) -> str | None:
        """Return how a person is shown, or None for one who is not listed."""
        person = self.people.get(user_id)
        if person is None:
            return "Slackbot" if user_id == "USLACKBOT" else None
        return person.name

    def channel_name(self, channel_id: str) -> str | None:
        """Return a channel's name without `#`, or None."""
        name = self.channels.get(channel_id, {}).get("name")
        return one_line(name) if isinstance(name, str) and name else None

    def owner_ids(self, owner_name: str) -> frozenset[str]:
        """Return the id of the one person who is called `owner_name`, else nothing.

        Id, e-mail and user name decide before display and real names. A name that two persons share
        decides nothing. Without a list of users only an id can be the owner's.
        """
        wanted = name_key(owner_name)
        if not wanted or wanted == UNSET:
            return frozenset()
        people = [person for person in self.people.values() if not person.is_bot]
        for named in (
            [p.user_id for p in people if wanted in p.handles],
            [p.user_id for p in people if wanted in p.names],
        ):
            if named:
                return frozenset(named) if len(named) == 1 else frozenset()
        return frozenset({owner_name}) if owner_name not in self.people else frozenset()

    def channel(self, folder: str, owners: frozenset[str]) -> Channel:
        """Return the channel whose messages lie in `folder` (or are those of this id)."""
        channel_id = self.folders.get(name_key(folder))
        if channel_id is None:
            known = _CHANNEL_ID.match(folder)
            label = f"DM {folder}" if folder.startswith("D") and known else f"#{one_line(folder)}"
            return Channel(folder if known else f"name:{name_key(folder)}", label)
        return Channel(channel_id, self._label(self.channels[channel_id], owners))

    def _label(self, record: Mapping[str, Any], owners: frozenset[str]) -> str:
        name, members = record.get("name"), record.get("members")
        if isinstance(name, str) and name:
            group = _GROUP_DM.match(name)
            if group is None:
                return f"#{one_line(name)}"
            return one_line("Group DM: " + ", ".join(group[1].split("--")))
        others = self._names(members if isinstance(members, list) else [], owners)
        return one_line("DM with " + ", ".join(others)) if others else f"DM {record['id']}"

    def _names(self, members: list[Any], owners: frozenset[str]) -> list[str]:
        ids = [str(member) for member in members if member not in owners]
        return [self.person_name(user_id) or user_id for user_id in ids[:8]]


def one_line(text: str) -> str:
    """Return `text` as a short line without control characters."""
    return shorten(clean_text(text), NAME_LENGTH)


def name_in(record: Mapping[str, Any]) -> str | None:
    """Return how the user or user profile `record` wants to be called."""
    profile = record.get("profile")
    inner = profile if isinstance(profile, dict) else {}
    for key in ("display_name", "real_name", "name"):
        for holder in (inner, record):
            value = holder.get(key)
            if isinstance(value, str) and (name := one_line(value)):
                return name
    return None


def _person(record: dict[str, Any]) -> Person:
    user_id: str = record["id"]
    profile = record.get("profile")
    inner = profile if isinstance(profile, dict) else {}
    return Person(
        user_id=user_id,
        name=name_in(record) or user_id,
        handles=_keys(user_id, record.get("name"), inner.get("email")),
        names=_keys(
            record.get("real_name"),
            *(inner.get(key) for key in ("real_name", "display_name")),
            *(inner.get(f"{key}_normalized") for key in ("real_name", "display_name")),
        ),
        is_bot=bool(record.get("is_bot")) or user_id == "USLACKBOT",
    )


def _keys(*values: Any) -> tuple[str, ...]:
    return tuple(name_key(value) for value in _texts(values) if name_key(value))


def _texts(values: Iterable[Any]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))
