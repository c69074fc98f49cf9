"""Line charts as SVG, drawn here: no script draws them, nothing is loaded for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, floor, log10

WIDTH, HEIGHT = 560, 170
LEFT, RIGHT, TOP, BOTTOM = 46, 10, 12, 24
_GAP = 3.0
"""Points further apart than so many steps are not joined: the engine did not run between them."""
_MAX_POINTS = 360


@dataclass(frozen=True)
class Series:
    """(Unix seconds, value) of one line, oldest first."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """One line as SVG path data."""

    name: str
    path: str
    area: str
    dots: tuple[tuple[float, float], ...]
    """Points that stand alone."""
    last: float


@dataclass(frozen=True)
class Tick:
    """A label on an axis, with its place in the picture."""

    place: float
    text: str


@dataclass(frozen=True)
class Chart:
    """What the template draws."""

    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    high: float

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.lines


def chart(series: Sequence[Series], *, now: float, seconds: float) -> Chart:
    """Return the chart of the last `seconds`."""
    drawn = [Series(each.name, thinned(each.points)) for each in series if each.points]
    high = _rounded_up(max((value for each in drawn for _, value in each.points), default=0.0))
    frame = _Frame(now - seconds, now, high)
    return Chart(
        lines=tuple(_line(each, frame) for each in drawn),
        across=_across(frame),
        up=tuple(Tick(frame.y(high * part), _number(high * part)) for part in (0.0, 0.5, 1.0)),
        high=high,
    )


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most 360 points; each stands for its neighbours by the highest of them."""
    step = ceil(len(points) / _MAX_POINTS) or 1
    return [
        max(points[start : start + step], key=lambda point: point[1])
        for start in range(0, len(points), step)
    ]


@dataclass(frozen=True)
class _Frame:
    start: float
    end: float
    high: float

    def x(self, at: float) -> float:
        share = (at - self.start) / (self.end - self.start)
        return round(LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.high * (HEIGHT - TOP - BOTTOM), 1)


def _line(series: Series, frame: _Frame) -> Line:
    runs = _runs(series.points)
    paths = [[(frame.x(at), frame.y(value)) for at, value in run] for run in runs]
    lines = [path for path in paths if len(path) > 1]
    floor_y = frame.y(0.0)
    return Line(
        name=series.name,
        path=" ".join(_path(path) for path in lines),
        area=" ".join(
            f"{_path(path)} L{path[-1][0]} {floor_y} L{path[0][0]} {floor_y} Z" for path in lines
        ),
        dots=tuple(path[0] for path in paths if len(path) == 1),
        last=series.points[-1][1],
    )


def _runs(points: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Return the points in runs without a gap."""
    gaps = sorted(after[0] - before[0] for before, after in pairwise(points))
    usual = gaps[len(gaps) // 2] if gaps else 0.0
    runs: list[list[tuple[float, float]]] = [[points[0]]]
    for before, after in pairwise(points):
        if after[0] - before[0] > _GAP * usual:
            runs.append([])
        runs[-1].append(after)
    return runs


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + " L".join(f"{x} {y}" for x, y in points)


def _across(frame: _Frame) -> tuple[Tick, ...]:
    span = frame.end - frame.start
    shape = "%H:%M" if span <= 2 * 86_400 else "%m-%d"
    places = (frame.start + span * part for part in (0.0, 0.25, 0.5, 0.75, 1.0))
    return tuple(
        Tick(frame.x(at), datetime.fromtimestamp(at, UTC).astimezone().strftime(shape))
        for at in places
    )


def _rounded_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, …: an axis ends on a number one can read."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** floor(log10(value))
    return next(scale * step for step in (1, 2, 5, 10) if value <= scale * step * 1.0001)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004 - digits
