"""What of the text in a Claude Code transcript was said, and by whom.

Claude Code writes its own notices as `user` text, in tags. Text in quotes that a person pasted
is marked too: those are somebody else's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import groupby

from connectors.text import clean_text
from context_engine.markers import strip_injected


class Voice(Enum):
    """Whose words a stretch of `user` text is."""

    PERSON = "person"
    PASTED = "pasted"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive text of one voice."""

    voice: Voice
    text: str


_MACHINE_TAGS = (
    "system-reminder",
    "command-name",
    "command-message",
    "command-contents",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "local-command-output",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
    "ide_selection",
    "ide_opened_file",
    "ide_diagnostics",
    "new-diagnostics",
    "scheduled-task",
    "cross-session-message",
    "github-webhook-activity",
    "mcp-resource-update",
    "mcp-polling-update",
    "persisted-output",
    "tick",
    r"[a-z]{1,20}(?:-[a-z]{1,20}){0,4}-hook",
)
_COMMAND = "command-args"
_MEMORY = "user-memory-input"
_PASTE = "pasted_content"
_TEAMMATE = "teammate-message"

# Attributes may hold `>` in quotes. Every repetition is bounded and unambiguous: linear.
_TAG = re.compile(
    rf"<(/?)({'|'.join((*_MACHINE_TAGS, _COMMAND, _MEMORY, _PASTE, _TEAMMATE))})"
    r'(\s(?:[^<>"]|"[^"]{0,400}"){0,400})?>'
)
_MACHINE_STARTS = (
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
    "[SYSTEM NOTIFICATION",
    "<task-notification",
    "<<autonomous-loop",
    "Unknown slash command:",
    "Unknown skill:",
)
_MACHINE_LINE = re.compile(
    r"^[ \t]*(?:\[Request interrupted by user[^\]\n]{0,80}\]|\[Image: [^\]\n]{0,400}\])[ \t]*$",
    re.MULTILINE,
)
_MACHINE_TEXTS = frozenset({"(no content)", "No response requested.", "Tool loaded."})
_SENTENCE_WORDS = 3
_WORD = re.compile(r"\S")


def assistant_words(text: str) -> list[Stretch]:
    """Return what an assistant said in one text; nothing for a placeholder."""
    words = clean_text(strip_injected(text))
    return [Stretch(Voice.AGENT, words)] if words and words not in _MACHINE_TEXTS else []


def user_words(text: str) -> list[Stretch]:
    """Return what persons and agents said in one `user` text, in order; often nothing.

    Arguments of a slash command count when they read like a sentence: they were typed by the
    person, whereas `/model opus` is a setting.
    """
    text = strip_injected(text)
    if text.lstrip().startswith(_MACHINE_STARTS):
        return []
    stretches = []
    for voice, group in groupby(_stretches(text), lambda stretch: stretch.voice):
        joined = "".join(stretch.text for stretch in group)
        words = clean_text(_MACHINE_LINE.sub("", joined))
        if words and words not in _MACHINE_TEXTS:
            stretches.append(Stretch(voice, words))
    return stretches


def _stretches(text: str) -> Iterator[Stretch]:
    """Cut `text` at its outermost tags. Two linear passes."""
    last_close = {tag.group(2): tag.start() for tag in _TAG.finditer(text) if tag.group(1)}
    open_tag: re.Match[str] | None = None
    depth, position = 0, 0
    for tag in _TAG.finditer(text):
        closing, name = bool(tag.group(1)), tag.group(2)
        if open_tag is None:
            if closing:
                continue
            if name not in last_close or last_close[name] < tag.start():
                if _WORD.search(text, position, tag.start()):
                    continue  # a person who writes about the tag
                return  # a notice that was cut short
            yield Stretch(Voice.PERSON, text[position : tag.start()])
            open_tag, depth = tag, 1
        elif name == open_tag.group(2):
            depth += -1 if closing else 1
            if closing and (depth == 0 or tag.start() == last_close[name]):
                yield from _tagged(open_tag, text[open_tag.end() : tag.start()])
                open_tag, position = None, tag.end()
    yield Stretch(Voice.PERSON, text[position:])


def _tagged(tag: re.Match[str], body: str) -> Iterator[Stretch]:
    name = tag.group(2)
    if name == _PASTE:
        yield Stretch(Voice.PASTED, body)
    elif name == _MEMORY or (name == _COMMAND and _reads_like_a_sentence(body)):
        yield Stretch(Voice.PERSON, body)
    elif name == _TEAMMATE and not _is_status(tag.group(3) or "", body):
        yield Stretch(Voice.AGENT, body)


def _reads_like_a_sentence(arguments: str) -> bool:
    words = arguments.strip()
    if words.startswith(("-", "/", "{")):
        return False
    return not words.isascii() or len(words.split()) >= _SENTENCE_WORDS


def _is_status(attributes: str, body: str) -> bool:
    return 'teammate_id="system"' in attributes or body.lstrip().startswith("{")
