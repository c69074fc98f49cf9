"""Which rows of the activity log are conversation, in any language of the account."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence

from connectors.takeout_records import Activity
from connectors.takeout_spool import Row
from connectors.text import clean_text
from context_engine.clock import isoformat
from context_engine.events import Role
from context_engine.ids import marker_id
from context_engine.markers import strip_injected
from context_engine.text import cap_marks

_PRODUCTS = re.compile(r"\b(?:gemini|bard)\b", re.IGNORECASE | re.ASCII)
_PROMPT_START = re.compile(
    r"(?:Prompted|Submitted query|Υποβλήθηκε το ερώτημα"
    r"|送信したメッセージ|Eingegebener Prompt)(?:\s*[::]\s*|\s+|\Z)"
)
_PROMPT_END = re.compile(r"\s*と入力しました[。.]?\Z")
_CANVAS_START = re.compile(
    r"(?:Created Gemini Canvas titled|Δημιουργήθηκε Gemini Canvas με τίτλο)(?:\s+|\Z)"
)
_NO_CONVERSATION = re.compile(
    r"(?:Used|Selected preferred draft|Gave feedback|Liked|Disliked|Deleted|Visited|Viewed)\b"
)
_NOTE = re.compile(
    r"(?:Attached \d+ files?\b|添付|\d+ ?件の|Angehängt|-\s\s?\S|https?://googleusercontent\.com/"
    r"|.{1,200} was used in this chat\b)"
)
_THREAD = re.compile(
    r"https?://gemini\.google\.com/(?:u/\d{1,3}/)?(?:app|gem/[^/?#]{1,100})/(?:c/)?"
    r"([0-9A-Za-z][0-9A-Za-z_-]{5,99})(?:[/?#]|\Z)"
)
THREAD_URL = "https://gemini.google.com/app/"
OTHER_ACTIVITY = "Gemini: no conversation (feedback, drafts, …)"


def is_gemini(product: str) -> bool:
    """Say whether a row's product is Gemini, under whichever name."""
    return bool(_PRODUCTS.search(unicodedata.normalize("NFKC", product)))


def rows_of(activity: Activity, owner: str) -> Iterator[Row]:
    """Yield what was said in a row of Gemini's log; nothing when it is no conversation.

    A row has no id: it is known by its second and its first line, whatever form told it.
    """
    thread = thread_of(activity)
    if canvas := _CANVAS_START.match(activity.title):
        text = "\n\n".join([activity.title[canvas.end() :], *activity.notes, activity.answer])
        if activity.notes or activity.answer:
            key = _key(activity, activity.title)
            yield Row(f"{key}/canvas", thread, activity.at, 2, "assistant", Role.ASSISTANT,
                      clean_text(text))  # fmt: skip
        return
    prompt = _prompt_of(activity)
    if prompt is None:
        return
    key = _key(activity, prompt)
    if words := clean_text(strip_injected(prompt)):
        yield Row(key, thread, activity.at, 0, owner, Role.OWNER, words)
    if answer := clean_text(strip_injected(activity.answer)):
        yield Row(f"{key}/answer", thread, activity.at, 1, "assistant", Role.ASSISTANT, answer)


def thread_of(activity: Activity) -> str | None:
    """Return the name of the thread that a row's links lead to; of two the first."""
    for url in activity.urls:
        if match := _THREAD.match(url):
            return f"app/{match[1]}"
    return None


def _prompt_of(activity: Activity) -> str | None:
    """Return the words typed, perhaps none (an image alone), or None for another activity."""
    continued = _continued(activity.notes) if activity.is_page else ()
    title = "\n".join([activity.title, *continued])
    if start := _PROMPT_START.match(title):
        return title[start.end() :]
    if end := _PROMPT_END.search(title):
        typed = title[: end.start()].strip()
        return typed[1:-1] if typed.startswith("「") and typed.endswith("」") else typed
    if activity.answer and not _NO_CONVERSATION.match(title):
        # a language that is not known here: an answer tells that something was asked
        return title
    return None


def _continued(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that still belong to the prompt, up to what the page notes about it."""
    for line in lines:
        if _NOTE.match(line):
            return
        yield line


def _key(activity: Activity, prompt: str) -> str:
    first = next((line for line in html.unescape(prompt).splitlines() if line.strip()), "")
    words = unicodedata.normalize("NFC", cap_marks("".join(first.split())))
    return f"{isoformat(activity.at)}/{marker_id('prompt', words)}"
