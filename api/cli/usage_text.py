"""What `status` says of the use of the memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from api.cli.common import plural


def usage_text(usage: Mapping[str, Any], handed_over: int) -> str:
    """Return the lines of a usage report; "" while nothing was used."""
    return "".join(f"{line}\n" for line in _lines(usage, handed_over))


def _lines(usage: Mapping[str, Any], handed_over: int) -> Iterator[str]:
    if handed_over:
        yield f"hooks     {plural(handed_over, 'transcript')} handed over, waiting to be collected"
    if usage["searches"]:
        yield (
            f"used      {usage['searches']:,} searches in {usage['days']} days, "
            f"{_percent(usage['zero_result_rate'])} without a result"
        )
    if usage["readings_after_search"]:
        yield (
            f"          {plural(usage['readings_after_search'], 'note')} read after a search, "
            f"{_percent(usage['top3_rate'])} from its top three"
        )
    if usage["recalled"]:
        yield (
            f"recalled  {plural(usage['recalled'], 'note')}, {_percent(usage['obeyed_rate'])} read "
            f"then; {_percent(usage['false_fire_rate'])} of the recalls were for nothing"
        )


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.1f} %"
