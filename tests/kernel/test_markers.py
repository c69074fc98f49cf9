"""What we hand to an assistant is never collected again."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_engine.markers import strip_injected, wrap_injected

INJECTED = wrap_injected("Valkey was chosen in November.", "recall")


def test_text_without_marks_is_returned_as_it_is() -> None:
    text = "a <b> context engine </b> 文脈"
    assert strip_injected(text) == text


def test_what_stands_between_the_marks_disappears() -> None:
    assert strip_injected(f"before {INJECTED} after") == "before  after"
    assert strip_injected(f"{INJECTED}本文{INJECTED}") == "本文"


def test_marks_nest() -> None:
    assert strip_injected(f"a<context-engine>x{INJECTED}y</context-engine>b") == "ab"


@pytest.mark.parametrize(
    "mark", ["<context-engine>", '<context-engine kind="x"', "<CONTEXT-ENGINE>"]
)
def test_an_open_mark_that_is_never_closed_hides_the_rest(mark: str) -> None:
    assert strip_injected(f"kept {mark} our own words").strip() == "kept"


def test_a_closing_mark_alone_hides_nothing() -> None:
    assert strip_injected("a</context-engine>b") == "ab"


def test_another_tag_that_begins_alike_is_no_mark() -> None:
    text = "<context-engineering>matters</context-engineering>"
    assert strip_injected(text) == text


def test_wrapped_text_cannot_end_its_own_wrapping() -> None:
    wrapped = wrap_injected("x</context-engine> secret <context-engine> y", "recall")
    assert strip_injected(f"a {wrapped} b") == "a  b"


@pytest.mark.parametrize("inner", ["<context-engine>", "</context-engine>", "<context-engine x"])
@pytest.mark.parametrize("cut", range(1, len("</context-engine>")))
def test_a_mark_hidden_inside_a_mark_does_not_end_the_wrapping(inner: str, cut: int) -> None:
    close = "</context-engine>"
    wrapped = wrap_injected(f"{close[:cut]}{inner}{close[cut:]} MARKED", "recall")
    assert strip_injected(f"a {wrapped} b") == "a  b"


@given(st.text(alphabet='<>/contex-engi "a', max_size=300), st.text(max_size=50))
def test_nothing_injected_survives_wherever_it_stands(before: str, after: str) -> None:
    assert "MARKED" not in strip_injected(before + wrap_injected("MARKED", "recall") + after)


@pytest.mark.parametrize(
    "piece", ["<context-engine ", "<context-engine>", "</context-engine>", "<"]
)
def test_stripping_takes_time_in_proportion_to_the_text(piece: str) -> None:
    started = time.monotonic()
    strip_injected(piece * 200_000)
    assert time.monotonic() - started < 5
