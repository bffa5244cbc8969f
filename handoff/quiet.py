"""Quiet hours: spans of a contact's own day in which only what is critical rings. Pure: `now` is an argument.

Times are those of the wall clock in the contact's zone, through every change of daylight saving. What is done
instead of ringing is ladder.py's business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from handoff.models import Record
from handoff.moments import SECOND

_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*-\s*([01]\d|2[0-3]):([0-5]\d)")


class QuietHours(Record):
    """From `begins` to `ends`, minutes after midnight; one that ends before it begins goes over midnight."""

    begins: int
    ends: int


def parse_hours(text: str) -> QuietHours:
    """`22:00-07:00`. Raises ValueError."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise ValueError("must be like 22:00-07:00")
    hours = [int(part) for part in found.groups()]
    span = QuietHours(begins=hours[0] * 60 + hours[1], ends=hours[2] * 60 + hours[3])
    if span.begins == span.ends:
        raise ValueError("begins when it ends; a whole day is 00:00-12:00 and 12:00-00:00")
    return span


def parse_zone(text: str) -> str:
    """A name of the IANA time zone database, such as `Europe/Berlin`. Raises ValueError."""
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("must be a time zone such as Europe/Berlin or America/New_York") from None
    return text


def quiet_until(spans: Sequence[QuietHours], zone: str, now: int) -> int | None:
    """When the quiet that there is at `now` (ms) is over, or None when there is none.

    Spans that touch count as one. An hour that happens twice is quiet both times, if it is quiet.
    """
    until: int | None = None
    for _ in range(len(spans) + 1):
        at = now if until is None else until
        later = max((end for begin, end in _around(spans, zone, at) if begin <= at < end), default=None)
        if later is None:
            return until
        until = later
    return until


def _around(spans: Sequence[QuietHours], zone: str, at: int) -> list[tuple[int, int]]:
    """Begin and end (ms) of every span of yesterday, today and tomorrow, as that place counts days."""
    today = datetime.fromtimestamp(at / 1000, UTC).astimezone(ZoneInfo(zone)).date()
    found = []
    for days in (-1, 0, 1):
        day = today + timedelta(days=days)
        for span in spans:
            last = day if span.ends > span.begins else day + timedelta(days=1)
            found.append((_moment(day, span.begins, zone, 0), _moment(last, span.ends, zone, 1)))
    return found


def _moment(day: date, minutes: int, zone: str, fold: int) -> int:
    """That minute of that day there, in ms. One that a change of the clock leaves out counts as the
    change itself; of one that happens twice `fold` chooses the first (0) or the second (1)."""
    wall = datetime(
        day.year, day.month, day.day, minutes // 60, minutes % 60, fold=fold, tzinfo=ZoneInfo(zone)
    )
    there_and_back = wall.astimezone(UTC).astimezone(ZoneInfo(zone))
    if there_and_back.replace(tzinfo=None) != wall.replace(tzinfo=None):
        wall = wall.replace(
            fold=1
        )  # in the gap: with the offset of after it, the change itself or just before
        return max(int(wall.timestamp()), _change(wall, zone)) * SECOND
    return int(wall.timestamp()) * SECOND


def _change(wall: datetime, zone: str) -> int:
    """When the clock was put forward over this minute, in Unix seconds."""
    low, high = int(wall.timestamp()) - 4 * 3_600, int(wall.timestamp()) + 4 * 3_600
    before = datetime.fromtimestamp(low, UTC).astimezone(ZoneInfo(zone)).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        same = datetime.fromtimestamp(middle, UTC).astimezone(ZoneInfo(zone)).utcoffset() == before
        low, high = (middle, high) if same else (low, middle)
    return high
