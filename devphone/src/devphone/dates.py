"""Dates on Twilio's wire: RFC 2822 out, list filters in. No clock is read here."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime


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
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    if mark == "<":
        return float("-inf"), moment.timestamp()
    if mark == ">":
        return moment.timestamp(), float("inf")
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    return midnight, midnight + 86399
