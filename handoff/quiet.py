"""Quiet hours: spans of a contact's own day in which only what is critical rings. Pure: `now` is an argument.

Times are those of the wall clock in the contact's zone, through every change of daylight saving. What is done
instead of ringing is ladder.py's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from handoff.models import Record
from handoff.moments import MINUTE, SECOND

_DAY = 24 * 60  # minutes, as the wall counts them
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)\s*-\s*([01]\d|2[0-3]):([0-5]\d)")


class QuietHours(Record):
    """From `begins` to `ends`, minutes after midnight; one that ends before it begins goes over midnight."""

    begins: int
    ends: int

    def __str__(self) -> str:
        """As it is written: `22:00-07:00`."""
        return "-".join(f"{at // 60:02}:{at % 60:02}" for at in (self.begins, self.ends))


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

    Spans that touch count as one. In the night in which an hour comes twice, a span that lies within that
    hour is quiet both times, each time for its own length; one that only begins in it begins the first
    time, one that only ends in it ends the second time.
    """
    until = now
    for begin, end in sorted(_around(spans, zone, now)):
        if begin > until:
            break
        until = max(until, end)
    return until if until > now else None


def _around(spans: Sequence[QuietHours], zone: str, at: int) -> Iterator[tuple[int, int]]:
    """Begin and end (ms) of every span of yesterday, today and tomorrow, as that place counts days."""
    place = ZoneInfo(zone)
    today = datetime.combine(datetime.fromtimestamp(at / SECOND, place).date(), time())
    for days in (-1, 0, 1):
        midnight = today + timedelta(days=days)
        for span in spans:
            yield from _moments(midnight, span, place)


def _moments(midnight: datetime, span: QuietHours, place: ZoneInfo) -> Iterator[tuple[int, int]]:
    """When this span of this day is, in ms: once, or twice when an hour that comes twice holds all of it."""
    length = (span.ends - span.begins) % _DAY
    begins = midnight + timedelta(minutes=span.begins)
    ends = begins + timedelta(minutes=length)
    ends_in_it = _twice(ends - timedelta(minutes=1), place)
    if ends_in_it and _twice(begins, place):
        for fold in (0, 1):
            begin = _moment(begins, place, fold)
            yield begin, begin + length * MINUTE
    else:
        yield _moment(begins, place, 0), _moment(ends, place, int(ends_in_it))


def _twice(wall: datetime, place: ZoneInfo) -> bool:
    """Whether the clock on the wall there shows this twice, since it is put back."""
    return _offset(wall, place, 0) > _offset(wall, place, 1)


def _moment(wall: datetime, place: ZoneInfo, fold: int) -> int:
    """When the wall there shows this, in ms; of twice the first (`fold` 0) or the second time. What a clock
    that is put forward leaves out counts as the change itself."""
    if _offset(wall, place, 0) < _offset(wall, place, 1):
        return _change(_seconds(wall, place, 1), place) * SECOND
    return _seconds(wall, place, fold) * SECOND


def _seconds(wall: datetime, place: ZoneInfo, fold: int) -> int:
    return int(wall.replace(tzinfo=place, fold=fold).timestamp())


def _offset(wall: datetime, place: ZoneInfo, fold: int) -> timedelta:
    found = wall.replace(tzinfo=place, fold=fold).utcoffset()
    assert found is not None
    return found


def _change(around: int, place: ZoneInfo) -> int:
    """When the clock is put forward next to this moment; Unix seconds, both."""
    low, high = around - 4 * 3_600, around + 4 * 3_600
    before = datetime.fromtimestamp(low, place).utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        same = datetime.fromtimestamp(middle, place).utcoffset() == before
        low, high = (middle, high) if same else (low, middle)
    return high
