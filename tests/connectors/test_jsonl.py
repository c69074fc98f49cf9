"""Lines of a file that somebody else is still writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.jsonl import (
    Cursor,
    Line,
    LineReader,
    is_unchanged,
    load_cursor,
    parse_object,
    salvage,
    still_continues,
)
from connectors.walk import Found, find_files


def read_lines(
    path: Path, cursor: Cursor | None = None, limit: int = 1000
) -> tuple[list[Line], Cursor]:
    with path.open("rb") as handle:
        reader = LineReader(handle, cursor or Cursor(), limit)
        found = list(reader)
        return found, reader.cursor(at_end=True)


def found(path: Path) -> Found:
    (item,) = find_files(path)
    assert isinstance(item, Found)
    return item


def continues(path: Path, cursor: Cursor) -> bool:
    with path.open("rb") as handle:
        return still_continues(handle, cursor)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def test_only_complete_lines_are_consumed(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"b":')
    (line,), cursor = read_lines(file)
    assert line == Line(1, b'{"a":1}\n')
    file.write_bytes(b'{"a":1}\n{"b":2}\n')
    assert continues(file, cursor)
    (line,), cursor = read_lines(file, cursor)
    assert (line.number, line.data, cursor.line) == (2, b'{"b":2}\n', 2)


def test_a_last_line_without_an_end_counts_when_it_is_a_whole_object(file: Path) -> None:
    file.write_bytes(b'{"a":{"b":1}}')
    (line,), cursor = read_lines(file)
    assert line.data == b'{"a":{"b":1}}'
    with file.open("ab") as more:
        more.write(b'\n{"c":3}\n')
    assert [line.data for line in read_lines(file, cursor)[0]] == [b"\n", b'{"c":3}\n']


@pytest.mark.parametrize("tail", [b"42", b'"text"', b"[1]", b"null", b"\0\0\0", b'{"a":1}}'])
def test_a_last_line_that_could_be_half_of_something_waits(file: Path, tail: bytes) -> None:
    file.write_bytes(tail)
    found, cursor = read_lines(file)
    assert (found, cursor.offset) == ([], 0)


def test_a_line_over_the_limit_is_passed_over_with_its_size(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"' + b"x" * 3000 + b'":1}\n{"b":2}\n')
    first, long, last = read_lines(file)[0]
    assert (first.data, last.data, last.number) == (b'{"a":1}\n', b'{"b":2}\n', 3)
    assert (long.data, long.number) == (b"", 2)
    assert long.problem is not None
    assert "longer than" in long.problem


def test_a_line_over_the_limit_that_is_still_being_written_waits(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"' + b"x" * 3000)
    (only,), cursor = read_lines(file)
    assert (only.number, cursor.offset) == (1, 8)


def test_a_cursor_survives_json_and_a_damaged_one_means_the_start(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n')
    cursor = read_lines(file)[1]
    assert load_cursor(cursor.state()) == cursor
    assert load_cursor({}) == Cursor()
    assert load_cursor(cursor.state() | {"offset": "8"}) == Cursor()
    assert load_cursor(cursor.state() | {"offset": -1}) == Cursor()
    assert load_cursor(cursor.state() | {"line": True}) == Cursor()


def test_an_untouched_file_is_recognised_without_opening_it(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n')
    cursor = read_lines(file)[1]
    assert is_unchanged(cursor, found(file))
    with file.open("ab") as more:
        more.write(b"x")
    assert not is_unchanged(cursor, found(file))


def test_growth_continues_and_truncation_or_replacement_does_not(file: Path) -> None:
    file.write_bytes(b'{"a":1}\n{"b":2}\n')
    cursor = read_lines(file)[1]
    with file.open("ab") as more:
        more.write(b'{"c":3}\n')
    assert continues(file, cursor)
    file.write_bytes(b'{"a":1}\n')
    assert not continues(file, cursor), "truncated"
    file.write_bytes(b'{"a":1}\n{"b":9}\n{"c":3}\n')
    assert not continues(file, cursor), "written anew in place"


def test_a_file_put_in_place_of_another_is_compared_to_its_last_byte(file: Path) -> None:
    rows = [b'{"row":%06d}\n' % number for number in range(20_000)]
    file.write_bytes(b"".join(rows))
    cursor = read_lines(file)[1]
    copy = file.with_name("copy")
    copy.write_bytes(b"".join(rows))
    copy.replace(file)
    assert continues(file, cursor), "the same bytes under a new inode"
    rows[5000] = b'{"row":-99999}\n'  # outside the windows that are compared on growth
    copy.write_bytes(b"".join(rows))
    copy.replace(file)
    assert not continues(file, cursor)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}\r\n', {"a": 1}),
        (b'\0\0\0{"a":1}\n', {"a": 1}),
        (b'{"a":"x\x00y"}\n', {"a": "x\0y"}),
        (b'{"a":"\xff"}\n', {"a": "\ufffd"}),
        (b'{"a":NaN}\n', None),
        (b"\r\n", None),
    ],
)
def test_what_a_strict_parser_refuses_is_read_when_its_meaning_is_clear(
    data: bytes, value: dict[str, object] | None
) -> None:
    parsed = parse_object(data)
    if value is not None or not data.strip():
        assert parsed == value
    else:
        assert isinstance(parsed, dict)


def test_a_lone_surrogate_does_not_cost_the_line() -> None:
    parsed = parse_object(b'{"a":"x\\ud83dy"}')
    assert isinstance(parsed, dict)
    assert parsed["a"][0] + parsed["a"][2] == "xy"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "nested too deeply"),
        (b'\xff{"a":' * 10_000, "not JSON"),
        (b"42", "not a JSON object but a number"),
        (b"true", "not a JSON object but a boolean"),
        (b"null", "not a JSON object but null"),
        (b'"x"', "not a JSON object but a string"),
        (b"[1]", "not a JSON object but a list"),
        (b"\0\0\0\n", "only NUL characters"),
        (b'{"a":[' + b"0," * 1_000_001 + b"0]}", "more than 1000000 values"),
        (b'{"a": oops}', "not JSON"),
    ],
)
def test_what_is_no_object_is_refused_with_the_reason(data: bytes, reason: str) -> None:
    parsed = parse_object(data)
    assert isinstance(parsed, str)
    assert reason in parsed


def test_of_two_records_run_together_the_whole_one_is_found() -> None:
    assert salvage(b'{"type":"user","mess{"type":"user","n":{"x":1}}\n') == {
        "type": "user",
        "n": {"x": 1},
    }
    assert salvage(b'{"type":"user","mess\n') is None
    assert salvage(b'noise {"a":1}\n') is None
