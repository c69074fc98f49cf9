"""Tables in Markdown: pipes where the cells are text, one list item a row where they hold more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lxml.etree import _Element as Element

COLUMNS = 200
SPREAD = 20_000
"""Fields that spanning cells of one table may fill with copies of themselves."""
_GROUPS = frozenset({"thead", "tbody", "tfoot"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell, its content rendered. has_blocks: code, quotes or tables stand in it."""

    head: bool
    columns: int
    rows: int
    blocks: Sequence[str]
    has_blocks: bool = False


_EMPTY = Cell(head=False, columns=1, rows=1, blocks=())


def rows_of(table: Element) -> Iterator[list[Element]]:
    """Yield the cells of each row of `table`, without those of tables inside it."""
    for child in table:
        if child.tag in _GROUPS:
            yield from rows_of(child)
        elif child.tag == "tr":
            yield [cell for cell in child if cell.tag in {"td", "th"}]
        elif child.tag in {"td", "th"}:
            yield [child]


def render_table(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the blocks of a table; a cell that spans stands in each field that it covers."""
    grid = [row for row in _grid(rows) if any(cell.blocks for cell in row)]
    if not grid:
        return []
    width = max(len(row) for row in grid)
    if any(cell.has_blocks for row in grid for cell in row) or width > COLUMNS:
        return _records(grid)
    if width == 1 and len(grid) == 1:
        return list(grid[0][0].blocks)
    lines = [_line(row, width) for row in grid]
    if not _is_header(grid[0]):
        lines.insert(0, "|" + "  |" * width)
    lines.insert(1, "|" + " --- |" * width)
    return ["\n".join(lines)]


def _grid(rows: Sequence[Sequence[Cell]]) -> Iterator[list[Cell]]:
    hanging: dict[int, tuple[int, Cell]] = {}
    spread = SPREAD
    for row in rows:
        line: list[Cell] = []
        spread -= _hang(line, hanging)
        for cell in row:
            for number in range(min(cell.columns, COLUMNS) if spread > 0 else 1):
                # columns are filled once, rows repeat: each row is read by itself
                shown = cell if number == 0 else _EMPTY
                if cell.rows > 1 and spread > 0:
                    hanging[len(line)] = (cell.rows, shown)
                line.append(shown)
                spread -= 1
            spread -= _hang(line, hanging)
        left = {at: (rows - 1, cell) for at, (rows, cell) in hanging.items() if rows > 1}
        hanging = left if spread > 0 else {}
        yield line


def _hang(line: list[Cell], hanging: dict[int, tuple[int, Cell]]) -> int:
    """Fill in the cells that hang down from rows above; returns how many."""
    before = len(line)
    while len(line) in hanging and hanging[len(line)][0] > 0:
        line.append(hanging[len(line)][1])
    return len(line) - before


def _is_header(row: Sequence[Cell]) -> bool:
    return all(cell.head for cell in row if cell.blocks)


def _line(row: Sequence[Cell], width: int) -> str:
    texts = [*map(_text, row), *([""] * (width - len(row)))]
    return "|" + "".join(f" {text} |" for text in texts)


def _text(cell: Cell) -> str:
    parts: list[str] = []
    for line in (line.strip(" #") for block in cell.blocks for line in block.split("\n")):
        if line.startswith("- ") and not line.startswith("- ["):
            parts.append(f" • {line[2:]}")
        elif line:
            parts.append(f" / {line}")
    text = "".join(parts).removeprefix(" / ").strip()
    return text.replace("|", "\\|")


def _records(grid: Sequence[Sequence[Cell]]) -> list[str]:
    titles: list[str] = []
    if len(grid) > 1 and _is_header(grid[0]) and not any(cell.has_blocks for cell in grid[0]):
        titles, grid = [_text(cell) for cell in grid[0]], grid[1:]
    return ["\n".join(_record(row, titles) for row in grid)]


def _record(row: Sequence[Cell], titles: Sequence[str]) -> str:
    parts: list[str] = []
    for number, cell in enumerate(row):
        title = titles[number] if number < len(titles) else ""
        if cell.blocks and not cell.has_blocks:
            parts.append(f"**{title}:** {_text(cell)}" if title else _text(cell))
        elif cell.blocks:
            parts += [f"**{title}:**"] if title else []
            parts += cell.blocks
    lines = "\n\n".join(parts).split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
