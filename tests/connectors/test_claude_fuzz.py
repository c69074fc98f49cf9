"""Whatever a file holds: reading ends, raises nothing, and where runs cut it is invisible."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_engine.events import Role
from context_engine.markers import wrap_injected
from support.transcripts import (
    SLUG,
    MemoryLedger,
    Reading,
    assistant,
    lines,
    read,
    record,
    tool_result,
    tool_use,
    user,
)

EXAMPLES = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])

words = st.sampled_from(
    [
        "We decided to use Valkey because of its license.",
        "キューはValkeyに決めた。理由はライセンス。",
        "あ" * 400,
        "line\n" * 50,
        "<system-reminder>machine</system-reminder>",
        "typed <system-reminder>machine</system-reminder> on",
        '<pasted_content id="1">other</pasted_content id="1"> why?',
        "<command-name>/fix</command-name><command-args>please look at this</command-args>",
        wrap_injected("remembered", "recall"),
        "half \ud83d",
        "",
    ]
)
numbers = st.integers(min_value=0, max_value=40)
flags = st.dictionaries(
    st.sampled_from(["isMeta", "isSidechain", "isCompactSummary"]), st.booleans(), max_size=2
)


@st.composite
def spoken(draw: st.DrawFn) -> dict[str, Any]:
    number, text = draw(numbers), draw(words)
    fields: dict[str, Any] = draw(flags)
    if draw(st.booleans()):
        fields["parentUuid"] = draw(st.sampled_from([None, user(draw(numbers), "")["uuid"]]))
    if draw(st.booleans()):
        return user(number, text, **fields)
    shared = {"id": f"msg_{number % 3}"} if draw(st.booleans()) else None
    return assistant(number, text, message=shared, **fields)


silent = st.one_of(
    numbers.map(lambda n: user(n, [tool_result("noise")])),
    numbers.map(lambda n: assistant(n, [tool_use("Edit", file_path=f"/home/aki/work/shop/{n}")])),
    numbers.map(lambda n: record("attachment", n, attachment={"type": "hook_success"})),
    st.sampled_from(
        [
            {"type": "ai-title", "aiTitle": "A title"},
            {"type": "summary", "summary": "Summary"},
            {"type": "brand-new"},
            {"type": "queue-operation", "operation": "remove", "content": "typed meanwhile"},
        ]
    ),
)
broken = st.sampled_from([b"{oops\n", b"42\n", b"\n", b"\0\0\n", b'"x"\r\n', b'{"type":"user"}\n'])
line = st.one_of(spoken().map(lambda r: lines([r])), silent.map(lambda r: lines([r])), broken)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4)
    ),
    max_leaves=20,
)


def read_bytes(data: bytes, folder: str, ledger: MemoryLedger | None = None) -> Reading:
    path = Path(folder) / SLUG / "s.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return read(path, ledger=ledger)


@EXAMPLES
@given(st.lists(line, max_size=14), st.data())
def test_reading_in_two_runs_gives_what_reading_in_one_gives(
    chunks: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(chunks)
    cut = data.draw(st.integers(min_value=0, max_value=len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        once = read_bytes(whole, folder, MemoryLedger())
    with tempfile.TemporaryDirectory() as folder:
        ledger = MemoryLedger()
        first = read_bytes(whole[:cut], folder, ledger).by_document
        second = read_bytes(whole, folder, ledger).by_document
    joined = {name: first.get(name, []) + second.get(name, []) for name in first | second}
    assert joined == once.by_document


@EXAMPLES
@given(st.lists(st.binary(max_size=200), max_size=10))
def test_random_bytes_are_read_to_their_end(chunks: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reading = read_bytes(b"\n".join(chunks), folder)
    assert len(reading.bad) + len(reading.unknown) <= sum(c.count(b"\n") + 1 for c in chunks)
    assert reading.documents == []


@EXAMPLES
@given(st.lists(json_values, max_size=8))
def test_random_json_is_read_to_its_end(values: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        reading = read_bytes(lines(values), folder)
    assert len(reading.bad) + len(reading.unknown) <= len(values)


@EXAMPLES
@given(spoken() | silent, st.data())
def test_records_with_any_field_turned_into_anything_are_read_to_their_end(
    value: dict[str, Any], data: st.DataObject
) -> None:
    changed = json.loads(json.dumps(value))
    places: list[tuple[Any, Any]] = [(changed, key) for key in changed]
    for holder, key in list(places):
        inner = holder[key]
        if isinstance(inner, dict):
            places += [(inner, each) for each in inner]
            content = inner.get("content")
            if isinstance(content, list):
                places += [(block, each) for block in content for each in block]
    for _ in range(data.draw(st.integers(min_value=1, max_value=3))):
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(json_values)
    with tempfile.TemporaryDirectory() as folder:
        reading = read_bytes(lines([user(90, "before"), changed, user(91, "after")]), folder)
    assert {"before", "after"} <= set(reading.texts)
    assert sum(map(len, reading.texts)) <= len(json.dumps(changed)) + 20


@EXAMPLES
@given(st.lists(spoken(), max_size=12))
def test_reading_again_yields_nothing(records: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = MemoryLedger()
        read_bytes(lines(records), folder, ledger)
        again = read_bytes(lines(records), folder, ledger)
        assert again.documents == []
        ledger.states.clear()
        assert read_bytes(lines(records), folder, ledger).documents == []


@EXAMPLES
@given(st.lists(spoken(), max_size=12))
def test_no_text_of_the_machine_and_nothing_injected_ever_passes(
    records: list[dict[str, Any]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        said = read_bytes(lines(records), folder).said
    everything = "\n".join(item.text for item in said)
    typed = "\n".join(item.text for item in said if item.role is not Role.ASSISTANT)
    assert "remembered" not in everything
    assert "context-engine" not in everything
    assert "machine" not in typed
    assert "/fix" not in typed
