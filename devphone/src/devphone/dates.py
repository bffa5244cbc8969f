"""Dates on Twilio's wire: RFC 2822 out, list filters in. No clock is read here."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

DAY_S = 86400


def rfc2822(unix_s: float | None) -> str | None:
    """`Tue, 31 Aug 2010 20:36:28 +0000` for a Unix time, None for None."""
    return None if unix_s is None else format_datetime(datetime.fromtimestamp(int(unix_s), UTC))


def filter_bounds(value: str, mark: str) -> tuple[float, float]:
    """First and last Unix second that a list filter lets through, both inclusive.

    `mark` is `<`, `>` or empty; empty means the UTC day that `value` lies in, whatever its time says.
    https://www.twilio.com/docs/voice/api/call-resource#read-multiple-call-resources
    Raises ValueError for anything that is no ISO date.
    """
    moment = datetime.fromisoformat(value)
    # Not `astimezone`: some dates of the years 1 and 9999 have no name in UTC.
    unix_s = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if mark == "<":
        return float("-inf"), unix_s
    if mark == ">":
        return unix_s, float("inf")
    midnight = unix_s // DAY_S * DAY_S
    return midnight, midnight + DAY_S - 1
