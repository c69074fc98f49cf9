"""A JSON file of any size and any brokenness is cut into records in bounded memory."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.json_stream import elements
from support.sources import json_values

EXAMPLES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Dripping(io.BytesIO):
    """Gives a few bytes at a time, so that every place is once the edge of a chunk."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1, /) -> bytes:
        del size
        return super().read(self._step)


def cut(data: bytes, limit: int = 1 << 20, step: int = 1 << 16) -> list[Any]:
    """Return each record parsed, or the problem with it."""
    return [each.parse() for each in elements(Dripping(data, step), limit)]


@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b" \n", []),
        (b"[]", []),
        (b'\xef\xbb\xbf[{"a":1},\n {"b":[{}]}]\n', [{"a": 1}, {"b": [{}]}]),
        (b'{"a":1}', [{"a": 1}]),
        (b'{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}]),
        (rb'[{"a":"]}\"{"},{"a":"\\"}]', [{"a": ']}"{'}, {"a": "\\"}]),
        (rb'[{"a":"\\\\\\\""},{"b":1}]', [{"a": '\\\\\\"'}, {"b": 1}]),
    ],
)
def test_records_are_found_wherever_chunks_end(data: bytes, expected: list[Any], step: int) -> None:
    if step < 3 and data.startswith(b"\xef"):
        step = 3  # no file system gives half a byte order mark
    assert cut(data, step=step) == expected


@pytest.mark.parametrize(
    ("data", "good", "problem"),
    [
        (b'[{"a":1},{"b', [{"a": 1}], "ends in the middle of this record"),
        (b'[{"a":1},', [{"a": 1}], "ends before its array does"),
        (b'[{"a":1}},{"b":2}]', [{"a": 1}, {"b": 2}], "closes nothing"),
        (b'[{"a" 1},{"b":2}]', [{"b": 2}], "not JSON"),
        (b'[1,"x",{"b":2}]', [{"b": 2}], "not a JSON object"),
        (b'[[1],{"b":2}]', [{"b": 2}], "a list"),
        (b'[{"a":1}] trailing', [{"a": 1}], "left unread"),
        (b"<html>", [], "not JSON"),
        (b"PK\x03\x04\x00", [], "not JSON"),
        (b'[{"b":2},{"a":"' + b"x" * 3_000_000 + b'"},{"c":3}]', [{"b": 2}, {"c": 3}], "larger"),
        (b"[" + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b',{"b":2}]', [{"b": 2}], "too deeply"),
    ],
)
def test_a_broken_record_costs_itself(data: bytes, good: list[Any], problem: str) -> None:
    found = cut(data)
    assert [each for each in found if isinstance(each, dict)] == good
    assert any(problem in each for each in found if isinstance(each, str))


def test_a_file_of_brackets_is_given_up() -> None:
    found = cut(b"[" + b"}" * 1_000_000)
    assert len(found) < 200
    assert "too broken" in found[-1]


@EXAMPLES
@given(st.lists(st.dictionaries(st.text(), json_values, max_size=3), max_size=6), st.data())
def test_what_is_valid_comes_out_as_it_went_in(records: list[Any], data: st.DataObject) -> None:
    text = json.dumps(records, ensure_ascii=data.draw(st.booleans()), indent=data.draw(
        st.sampled_from([None, 2]))).encode("utf-8", "surrogatepass")  # fmt: skip
    pieces = [each.data for each in elements(Dripping(text, data.draw(st.integers(1, 50))))]
    assert json.dumps([json.loads(piece) for piece in pieces]) == json.dumps(records)


@EXAMPLES
@given(st.binary(max_size=300), st.integers(1, 50))
def test_random_bytes_are_read_to_their_end(data: bytes, step: int) -> None:
    assert len(cut(b"[" + data, step=step)) <= len(data) + 2


@EXAMPLES
@given(st.text('[]{}",\\: 1a', max_size=60), st.integers(1, 9))
def test_where_chunks_end_changes_nothing(text: str, step: int) -> None:
    data = ("[" + text).encode()
    whole, dripped = cut(data), cut(data, step=step)
    # only text between records is told once or twice, as its pieces come
    assert [each for each in whole if isinstance(each, dict)] == [
        each for each in dripped if isinstance(each, dict)
    ]


_MEASURE = """
import io, json, sys
from connectors.json_stream import elements
from support.memory import peak_memory
class Endless(io.RawIOBase):
    left = int(sys.argv[1])
    first = sys.argv[2].encode()
    def read(self, size=-1):
        if self.first:
            first, self.first = self.first, b""
            return first
        self.left -= size
        return sys.argv[3].encode() * (size // len(sys.argv[3])) if self.left > 0 else b""
before = peak_memory()
problems = [each.problem for each in elements(Endless())]
print(json.dumps([problems[-1], peak_memory() - before]))
"""


@pytest.mark.parametrize(
    ("first", "rest"), [('[{"a":"', "x"), ("[", "["), ('[{"a":"', "\\"), ("[", " "), ("[[", ",")]
)
def test_a_gigabyte_without_an_end_takes_a_bounded_memory(first: str, rest: str) -> None:
    output = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(100 << 20), first, rest],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    ).stdout
    problem, grown = orjson.loads(output)
    assert "the file ends" in problem
    assert grown < 120_000_000
