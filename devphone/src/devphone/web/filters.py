"""List filters of Twilio's REST API: To, From, and dates with `<`, `>` or exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devphone.dates import filter_bounds
from devphone.engine.records import Call, Text

from .errors import TwilioError
from .resources import Record


def newest_first(
    records: Sequence[Record], args: dict[str, str], dates: dict[str, Callable[[Record], float | None]]
) -> list[Record]:
    """The records that pass every filter, newest first. Raises TwilioError 20001 for a date it can't read.

    `StartTime>=x` arrives as a parameter called `StartTime>`; see `dates.filter_bounds`.
    """
    found = [record for record in reversed(records) if _addresses_match(record, args)]
    for name, date_of in dates.items():
        for mark in ("", "<", ">"):
            if value := args.get(name + mark):
                try:
                    low, high = filter_bounds(value, mark)
                except ValueError as error:
                    raise TwilioError(20001, f"{name}{mark} is not a date: {value}") from error
                found = [record for record in found if _within(date_of(record), low, high)]
    return found


def _addresses_match(record: Call | Text, args: dict[str, str]) -> bool:
    sender = record.from_ if isinstance(record, Text) else record.request.from_
    to_matches = args.get("To") in (None, "", record.request.to)
    return to_matches and args.get("From") in (None, "", sender)


def _within(date: float | None, low: float, high: float) -> bool:
    """Compared in whole seconds, as the dates in the records are."""
    return date is not None and low <= int(date) <= high
