"""The review on a terminal: one key a decision, and what it did is said."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from api.cli.review_screen import footer
from api.review import Choice, Desk, accept, find, summary
from context_engine.home import Home
from context_engine.insights import Confidence
from context_engine.scopes import Scope
from support.engine import COMMAND, environment, wait_until
from support.notes import index_all
from support.vaults import START, insight
from vault.insights import save_insight

_SECONDS = 30.0
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A terminal that a program believes in."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def press(self, keys: str, then: str) -> str:
        """Type, and return what is shown from then on, once `then` is part of it."""
        if not keys.endswith("\n"):
            # what is typed before the program asks for a key is thrown away
            wait_until(lambda: not termios.tcgetattr(self._handle)[3] & termios.ICANON, _SECONDS)
        os.write(self._handle, keys.encode())
        return self.until(then)

    def until(self, wanted: str) -> str:
        shown, deadline = b"", time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            if select.select([self._handle], [], [], 0.1)[0]:
                shown += os.read(self._handle, 65_536)
            text = _CODES.sub("", shown.decode("utf-8", "ignore"))
            if wanted in text:
                return text
        raise AssertionError(f"{wanted!r} did not come: {shown!r}")


@contextmanager
def reviewing(home: Home) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 60, 0, 0))
    process = subprocess.Popen(
        [*COMMAND, "review"],
        stdin=theirs, stdout=theirs, stderr=theirs,
        env=environment(home, {"TERM": "xterm"}),
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(ours)
    finally:
        process.terminate()
        process.wait(timeout=20)
        os.close(ours)


def save(home: Home, number: int, **more: Any) -> str:
    words = {"title": f"Decision {number} on Valkey", "evidence": f"quote {number}"}
    when = START + timedelta(minutes=number)
    return save_insight(home, insight(created=when, **words, **more)).insight_id


def test_a_key_says_what_it_did_and_undo_goes_back_to_it(home: Home) -> None:
    first, second = save(home, 2), save(home, 1)
    earlier = save(home, 9)
    accept(Desk(home), [Choice(earlier)])
    with reviewing(home) as terminal:
        terminal.until("q quit")
        assert "accepted: Decision 2" in terminal.press("a", "q quit")
        assert "rejected: Decision 1" in terminal.press("r", "0 left")
    assert find(home, second) is None
    save(home, 3)
    with reviewing(home) as terminal:
        terminal.until("q quit")
        back = terminal.press("u", "q quit")
        assert "undone: reject – Decision 1" in back
        assert "quote 1" in back
        assert "quote 2" in terminal.press("u", "q quit")
        assert "quote 9" in terminal.press("u", "q quit")
        assert "there is no decision to undo" in terminal.press("u", "q quit")
    for one in (first, second, earlier):
        item = find(home, one)
        assert item is not None
        assert item.confidence is Confidence.RAW


def test_merge_offers_similar_insights_by_number(home: Home) -> None:
    kept, gone = save(home, 1), save(home, 2)
    index_all(home, None, Scope.WORK)
    with reviewing(home) as terminal:
        terminal.until("q quit")
        assert f"1  {kept}  Decision 1" in terminal.press("m", "empty: none")
        assert "merged: Decision 2" in terminal.press("1\n", "q quit")
    assert find(home, gone) is None
    assert find(home, kept) is not None


def test_the_keys_are_told_in_words(home: Home) -> None:
    save(home, 1)
    with reviewing(home) as terminal:
        terminal.until("q quit")
        assert "its evidence goes into another insight" in terminal.press("?", "what was decided")


@pytest.mark.parametrize("columns", [12, 20, 40, 79, 100])
def test_the_footer_breaks_between_keys_at_every_width(columns: int) -> None:
    lines = list(footer(columns))
    assert max(map(len, lines)) <= columns
    words = [key for line in lines for key in line.split("   ")]
    assert words[0] == "a accept"
    assert words[-1] == "q quit"
    assert len(words) == 12


def test_what_was_said_long_ago_is_not_called_new(home: Home) -> None:
    save(home, 1)
    assert summary(home, START + timedelta(days=2)).said_this_week == 1
    assert summary(home, START + timedelta(days=30)).said_this_week == 0
