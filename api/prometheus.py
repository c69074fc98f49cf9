"""Prometheus' text format 0.0.4: one small renderer.

See https://prometheus.io/docs/instrumenting/exposition_formats/.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from context_engine.metrics import BUCKETS, Family, Labels, Totals

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PREFIX = "context_engine_"

_BOUNDS = [f"{bound:g}" for bound in BUCKETS] + ["+Inf"]
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def render(
    families: Mapping[str, Family],
    totals: Totals,
    gauges: Iterable[tuple[str, Labels, float]],
) -> str:
    """Return all samples, each family under its HELP and TYPE."""
    values = dict(totals) | {(name, labels): value for name, labels, value in gauges}
    by_name: dict[str, dict[Labels, float]] = defaultdict(dict)
    for (name, labels), value in sorted(values.items()):
        by_name[name][labels] = value
    lines: list[str] = []
    for name, family in families.items():
        samples = _histogram if family.kind == "histogram" else _plain
        lines += [
            f"# HELP {PREFIX}{name} {family.about}",
            f"# TYPE {PREFIX}{name} {family.kind}",
            *samples(name, by_name),
        ]
    return "\n".join(lines) + "\n"


def _plain(name: str, by_name: Mapping[str, Mapping[Labels, float]]) -> Iterator[str]:
    for labels, value in by_name.get(name, {}).items():
        yield _line(name, labels, value)


def _histogram(name: str, by_name: Mapping[str, Mapping[Labels, float]]) -> Iterator[str]:
    sums = by_name.get(f"{name}_sum", {})
    buckets = by_name.get(f"{name}_bucket", {})
    for labels, total in sums.items():
        count = 0.0
        for bound in _BOUNDS:
            place = tuple(sorted((*labels, ("le", bound))))
            count += buckets.get(place, 0.0)
            yield _line(f"{name}_bucket", (*labels, ("le", bound)), count)
        yield _line(f"{name}_sum", labels, total)
        yield _line(f"{name}_count", labels, count)


def _line(name: str, labels: Labels, value: float) -> str:
    inner = ",".join(f'{key}="{text.translate(_ESCAPED)}"' for key, text in labels)
    number = str(int(value)) if value == int(value) else repr(value)
    return f"{PREFIX}{name}{{{inner}}} {number}" if inner else f"{PREFIX}{name} {number}"
