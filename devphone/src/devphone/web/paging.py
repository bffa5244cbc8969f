"""Lists of Twilio's REST API: filters by number and date, and pages with the envelope its library reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

from devphone.dates import filter_bounds
from devphone.digits import whole
from devphone.engine.outbox import API_VERSION
from devphone.engine.records import Call
from devphone.engine.text_records import Text

from .errors import TwilioError


class HasOrder(Protocol):
    """What a list can show."""

    @property
    def order(self) -> int:
        """Its place among all records of its kind, those that are gone included."""
        ...


Dated = TypeVar("Dated", Call, Text)
Record = TypeVar("Record", bound=HasOrder)

MAX_PAGE_SIZE = 1000


def newest_first(
    records: Sequence[Dated], args: dict[str, str], dates: dict[str, Callable[[Dated], float | None]]
) -> list[Dated]:
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


def page(
    records: Sequence[Record],
    resource: Callable[[Record, str], dict[str, Any]],
    args: dict[str, str],
    key: str,
    account_sid: str,
    *,
    top: bool = False,
) -> dict[str, Any]:
    """One page of `records` (greatest order first) under `key`, with the envelope that twilio-python reads.

    A PageToken is the order of the last record of the page before: new records don't shift pages, and it
    holds when that record is gone or no longer passes the filter. `top`: the list is not below the account.
    Raises TwilioError 20001 for a bad PageSize, Page or PageToken.
    """
    size, number = _whole(args, "PageSize", 50), _whole(args, "Page", 0)
    size = min(max(size, 1), MAX_PAGE_SIZE)
    start = _start(records, args["PageToken"]) if args.get("PageToken") else number * size
    shown = records[start : start + size]
    filters = {name: value for name, value in args.items() if name not in ("Page", "PageSize", "PageToken")}
    path = "".join(word.capitalize() for word in key.split("_"))
    base = f"/{API_VERSION}/{path}.json" if top else f"/{API_VERSION}/Accounts/{account_sid}/{path}.json"

    def link(at: int, after: int = 0) -> str:
        token_part = {"PageToken": f"PA{after}"} if after else {}
        return f"{base}?{urlencode(filters | {'PageSize': str(size), 'Page': str(at)} | token_part)}"

    more = start + size < len(records)
    return {
        key: [resource(record, account_sid) for record in shown],
        "end": max(start, start + len(shown) - 1),
        "first_page_uri": link(0),
        "next_page_uri": link(number + 1, shown[-1].order) if more else None,
        "page": number,
        "page_size": size,
        "previous_page_uri": link(number - 1) if number > 0 else None,
        "start": start,
        "uri": link(number),
    }


def _start(records: Sequence[HasOrder], token: str) -> int:
    """Where the page behind the record that the token names begins."""
    last = whole(token.removeprefix("PA"))
    if last is None:
        raise TwilioError(20001, "PageToken is not one of this list")
    return sum(record.order >= last for record in records)


def _addresses_match(record: Call | Text, args: dict[str, str]) -> bool:
    sender = record.from_ if isinstance(record, Text) else record.request.from_
    to_matches = args.get("To") in (None, "", record.request.to)
    return to_matches and args.get("From") in (None, "", sender)


def _within(date: float | None, low: float, high: float) -> bool:
    """Compared in whole seconds, as the dates in the records are."""
    return date is not None and low <= int(date) <= high


def _whole(args: dict[str, str], name: str, default: int) -> int:
    number = whole(args.get(name, str(default)))
    if number is None:
        raise TwilioError(20001, f"{name} is not a whole number")
    return number
