"""How calls, texts and pages of them look on Twilio's wire.

Full key sets, strings for numbers, RFC 2822 dates; from twilio-oai, spec/json/twilio_api_v2010.json.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from devphone.dates import rfc2822
from devphone.engine.outbox import API_VERSION
from devphone.engine.records import Call, Text
from devphone.numbers import formatted

from .errors import TwilioError

Record = TypeVar("Record", Call, Text)

CALL_SUBRESOURCES = (
    "Notifications Recordings Payments Events Siprec Streams Transcriptions "
    "UserDefinedMessageSubscriptions UserDefinedMessages"
).split()
MAX_PAGE_SIZE = 1000


def call_resource(call: Call, account_sid: str) -> dict[str, Any]:
    """One call. `initiated` is no status of the resource, which then still reads queued."""
    base = f"/{API_VERSION}/Accounts/{account_sid}/Calls/{call.sid}"
    return {
        "sid": call.sid,
        "account_sid": account_sid,
        "answered_by": None,
        "api_version": API_VERSION,
        "caller_name": None,
        "date_created": rfc2822(call.created.date),
        "date_updated": rfc2822(call.updated.date),
        "direction": "outbound-api",
        "duration": str(call.duration_s) if call.over else None,
        "end_time": rfc2822(call.ended.date) if call.ended else None,
        "forwarded_from": None,
        "from": call.request.from_,
        "from_formatted": formatted(call.request.from_),
        "group_sid": None,
        "parent_call_sid": None,
        "phone_number_sid": "PN" + hashlib.sha256(call.request.from_.encode()).hexdigest()[:32],
        "price": None,
        "price_unit": "USD",
        "queue_time": "0",
        "start_time": rfc2822(call.dialled.date) if call.dialled else None,
        "status": call.status,
        "subresource_uris": {_snake(name): f"{base}/{name}.json" for name in CALL_SUBRESOURCES},
        "to": call.request.to,
        "to_formatted": formatted(call.request.to),
        "trunk_sid": None,
        "uri": f"{base}.json",
    }


def text_resource(text: Text, account_sid: str) -> dict[str, Any]:
    """One message. Segments read 0 while a messaging service has not chosen the sender."""
    base = f"/{API_VERSION}/Accounts/{account_sid}/Messages/{text.sid}"
    unchosen = text.status == "accepted"
    return {
        "sid": text.sid,
        "account_sid": account_sid,
        "api_version": API_VERSION,
        "body": text.body,
        "date_created": rfc2822(text.created.date),
        "date_sent": rfc2822(text.sent.date) if text.sent else None,
        "date_updated": rfc2822(text.updated.date),
        "direction": "outbound-api",
        "error_code": text.error_code,
        "error_message": None if text.error_code is None else f"Error {text.error_code}",
        "from": None if unchosen else text.from_,
        "messaging_service_sid": text.request.service_sid or None,
        "num_media": str(len(text.request.media)),
        "num_segments": "0" if unchosen else str(text.segments),
        "price": None,
        "price_unit": "USD",
        "status": text.status,
        "subresource_uris": {"media": f"{base}/Media.json"},
        "to": text.request.to,
        "uri": f"{base}.json",
    }


def page(
    records: Sequence[Record],
    resource: Callable[[Record, str], dict[str, Any]],
    args: dict[str, str],
    key: str,
    account_sid: str,
) -> dict[str, Any]:
    """One page of `records` (newest first) with the envelope that twilio-python pages through.

    A PageToken names the last record of the page before, so that new records don't shift pages.
    Raises TwilioError 20001 for a bad PageSize or Page.
    """
    size, number = _whole(args, "PageSize", 50), _whole(args, "Page", 0)
    size = min(max(size, 1), MAX_PAGE_SIZE)
    token = args.get("PageToken", "")
    sids = [record.sid for record in records]
    start = sids.index(token[2:]) + 1 if token[2:] in sids else number * size
    shown = records[start : start + size]
    filters = {name: value for name, value in args.items() if name not in ("Page", "PageSize", "PageToken")}
    base = f"/{API_VERSION}/Accounts/{account_sid}/{key.capitalize()}.json"

    def link(at: int, after: str = "") -> str:
        token_part = {"PageToken": "PA" + after} if after else {}
        return f"{base}?{urlencode(filters | {'PageSize': str(size), 'Page': str(at)} | token_part)}"

    more = start + size < len(records)
    return {
        key: [resource(record, account_sid) for record in shown],
        "end": max(start, start + len(shown) - 1),
        "first_page_uri": link(0),
        "next_page_uri": link(number + 1, shown[-1].sid) if more else None,
        "page": number,
        "page_size": size,
        "previous_page_uri": link(number - 1) if number > 0 else None,
        "start": start,
        "uri": link(number),
    }


def _snake(name: str) -> str:
    """`UserDefinedMessages` to `user_defined_messages`."""
    return "".join("_" + char.lower() if char.isupper() else char for char in name).lstrip("_")


def _whole(args: dict[str, str], name: str, default: int) -> int:
    value = args.get(name, str(default))
    if not (value.isascii() and value.isdigit()):
        raise TwilioError(20001, f"{name} is not a whole number")
    return int(value)
