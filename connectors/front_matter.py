"""Front matter of Markdown files that others wrote, as far as it is plain."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import yaml

FRONT_LIMIT = 64 * 1024
"""Characters of front matter that are parsed."""

_OPEN = re.compile(r"\A---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_DEPTH = 20


@dataclass(frozen=True, slots=True)
class Front:
    """Top-level entries whose values are plain. `problem` says why there are none."""

    words: dict[str, str] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    problem: str | None = None

    @property
    def is_own_note(self) -> bool:
        """Say whether this engine wrote the file: reading it again would learn it twice."""
        return self.words.get("content_hash", "").startswith("sha256:") and "type" in self.words


def split_front(text: str) -> tuple[Front, str]:
    """Return the front matter of `text` and what follows it. Without any, all of it follows.

    Front matter that does not parse is passed over; its text is not speech.
    """
    opened = _OPEN.match(text)
    closed = _CLOSE.search(text, opened.end()) if opened else None
    if opened is None or closed is None:
        return Front(), text
    return _parse(text[opened.end() : closed.start()]), text[closed.end() :]


def _parse(source: str) -> Front:
    if len(source) > FRONT_LIMIT:
        return Front(problem="larger than 64 KiB")
    try:
        depth = 0
        for event in yaml.parse(source, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEPTH:
                return Front(problem="aliases or too deep")
        node = yaml.compose(source, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        return Front(problem=f"no valid YAML: {str(error).splitlines()[0][:100]}")
    return _plain(node) if isinstance(node, yaml.MappingNode) else Front()


def _plain(node: yaml.MappingNode) -> Front:
    front = Front()
    for key, value in node.value:
        name = str(key.value).casefold() if isinstance(key, yaml.ScalarNode) else None
        if name is None:
            continue
        if isinstance(value, yaml.ScalarNode) and value.value:
            front.words.setdefault(name, str(value.value))
        elif isinstance(value, yaml.SequenceNode):
            items = [str(each.value) for each in value.value if isinstance(each, yaml.ScalarNode)]
            front.lists.setdefault(name, items)
    return front
