"""Times as Google's activity pages write them: local, in the language and zone of the account."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from connectors.confluence_dates import parse_date

LINE_LENGTH = 70

# The clock, then the zone: "8:10:22 PM EDT", "20:10:22 MEZ", "午後8:10:22 JST", "20:10 GMT+9".
_CLOCK = re.compile(
    r"(?P<before>午前|午後|오전|오후|上午|下午)?\s?"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"\s?(?P<after>[AaPp]\.?\s?[Mm]\.?)?"
    r"\s(?P<zone>[A-Z]{1,5})?(?P<offset>[+\-\u2212]\d{1,2}(?::?\d\d)?)?\Z"
)
_WORD = re.compile(r"[^\W\d_]+")
_JOINTS = frozenset({"de", "年", "月", "日", "년", "월", "일"})
_AFTERNOON = frozenset({"午後", "오후", "下午"})
# Hours east of Greenwich. Where two zones share a name, Google's larger number of users decides.
_ZONES = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEZ": 0, "WEST": 1, "WESZ": 1, "BST": 1,
    "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "OEZ": 2, "EEST": 3, "OESZ": 3,
    "SAST": 2, "IDT": 3, "MSK": 3, "TRT": 3, "GST": 4, "PKT": 5, "IST": 5.5, "ICT": 7, "WIB": 7,
    "SGT": 8, "HKT": 8, "PHT": 8, "AWST": 8, "JST": 9, "KST": 9, "ACST": 9.5, "ACDT": 10.5,
    "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "BRT": -3, "ART": -3,
    "NST": -3.5, "NDT": -2.5, "AST": -4, "ADT": -3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
    "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}  # fmt: skip


def parse_local(line: str) -> datetime | None:
    """Return the UTC time that a whole line is, or None when it is anything else.

    The offset is the one that the line names, even where that zone had summer time.
    """
    line = " ".join(line.split())
    if not 10 <= len(line) <= LINE_LENGTH:  # noqa: PLR2004 - the shortest date has ten characters
        return None
    clock = _CLOCK.search(line)
    offset = _offset(clock) if clock else None
    if clock is None or offset is None:
        return None
    head = line[: clock.start()].rstrip(" ,")
    day = parse_date(head)
    if day is None or len([word for word in _WORD.findall(head) if word not in _JOINTS]) > 1:
        return None  # more than the name of a month
    try:
        local = day.replace(
            hour=_hour(clock), minute=int(clock["minute"]), second=int(clock["second"] or 0)
        )
        return (local - offset).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _hour(clock: re.Match[str]) -> int:
    hour, after = int(clock["hour"]), (clock["after"] or "").lower()
    if not after and not clock["before"]:
        return hour
    is_afternoon = after.startswith("p") or clock["before"] in _AFTERNOON
    return hour % 12 + (12 if is_afternoon else 0)


def _offset(clock: re.Match[str]) -> timedelta | None:
    zone, offset = clock["zone"], clock["offset"]
    if offset is None:
        return timedelta(hours=_ZONES[zone]) if zone in _ZONES else None
    if zone not in {None, "UTC", "GMT"}:
        return None
    digits = offset[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")  # noqa: PLR2004 - hhmm
    span = timedelta(hours=int(hours), minutes=int(minutes))
    return span if offset[0] == "+" else -span
