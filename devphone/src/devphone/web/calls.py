"""Twilio's REST API for calls: create, fetch, list, update, delete, and how a call looks on the wire.

Full key sets, strings for numbers, RFC 2822 dates; from twilio-oai, spec/json/twilio_api_v2010.json and
https://www.twilio.com/docs/voice/api/call-resource
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, jsonify, request

from devphone.dates import rfc2822
from devphone.engine.actions import Warned
from devphone.engine.lines import line_sid
from devphone.engine.outbox import API_VERSION
from devphone.engine.progress import WrongCallState
from devphone.engine.records import Call
from devphone.numbers import formatted

from . import call_parameters
from .account import accept, account, driver, not_found, note_unknown, take_faults
from .errors import TwilioError
from .paging import newest_first, page

CALL_SUBRESOURCES = (
    "Notifications Recordings Payments Events Siprec Streams Transcriptions "
    "UserDefinedMessageSubscriptions UserDefinedMessages"
).split()


@account.post("/Calls.json")
def create_call() -> Response:
    """Place a call."""
    wanted = call_parameters.call_request(request.form, driver().settings.numbers)
    limits = driver().engine.account
    if limits.trial and wanted.to not in limits.verified:
        raise TwilioError(
            21219, f"The number {wanted.to} is unverified. Trial accounts may only call verified numbers."
        )
    faults = take_faults("calls")
    with driver().turn() as now:
        lag_s = faults.seconds("fetch_lag_s") if faults.befalls("fetch_lag_s") else 0.0
        call = driver().engine.create_call(now, wanted, lag_s)
        driver().accepted(call.sid, faults)
        body = call_resource(call, driver().settings.account_sid)
        for code, text in call_parameters.warnings(request.form):
            driver().journal.warned(Warned(code, call.sid, text))
    return accept(call.sid, body, faults, call_parameters.CALL_PARAMETERS, call_parameters.NOT_ACTED_ON)


@account.get("/Calls.json")
def list_calls() -> Response:
    """Calls, newest first, filtered by To, From, Status, StartTime, EndTime, ParentCallSid."""
    args = request.args.to_dict()
    with driver().turn() as now:
        seen = [call.as_read_at(now) for call in driver().engine.calls.values() if not call.deleted]
        # A call still in the queue has no start time; it is found by its creation. Twilio does not say.
        dates: dict[str, Callable[[Call], float | None]] = {
            "StartTime": lambda call: (call.dialled or call.created).date,
            "EndTime": lambda call: call.ended.date if call.ended else None,
        }
        found = newest_first(seen, args, dates)
        if status := args.get("Status"):
            found = [call for call in found if call.status == status]
        if args.get("ParentCallSid"):
            found = []
        return jsonify(page(found, call_resource, args, "calls", driver().settings.account_sid))


@account.get("/Calls/<sid>.json")
def fetch_call(sid: str) -> Response:
    """One call, possibly as it was a while ago."""
    with driver().turn() as now:
        call = _call(sid).as_read_at(now)
        return jsonify(call_resource(call, driver().settings.account_sid))


@account.post("/Calls/<sid>.json")
def update_call(sid: str) -> Response:
    """Cancel, complete or redirect a call."""
    _call(sid)
    change = call_parameters.call_change(request.form)
    note_unknown(sid, call_parameters.CHANGE_PARAMETERS, call_parameters.NOT_ACTED_ON)
    with driver().turn() as now:
        try:
            call = driver().engine.change_call(now, sid, change)
        except WrongCallState as state:
            raise TwilioError(21220, f"Invalid call state: {state}") from state
        return jsonify(call_resource(call, driver().settings.account_sid))


@account.delete("/Calls/<sid>.json")
def delete_call(sid: str) -> Response:
    """Remove the record of an ended call."""
    with driver().turn():
        call = _call(sid)
        if not call.over:
            raise TwilioError(20009, "A call can be deleted when it has ended", 409)
        call.deleted = True
    return Response(status=204)


def call_resource(call: Call, account_sid: str) -> dict[str, Any]:
    """One call. `initiated` is no status of the resource, which then still reads queued."""
    base = f"/{API_VERSION}/Accounts/{account_sid}/Calls/{call.sid}"
    return {
        "sid": call.sid,
        "account_sid": account_sid,
        "answered_by": call.answered_by,
        "api_version": API_VERSION,
        "caller_name": None,
        "date_created": rfc2822(call.created.date),
        "date_updated": rfc2822(call.updated.date),
        "direction": call.direction,
        "duration": str(call.duration_s) if call.over else None,
        "end_time": rfc2822(call.ended.date) if call.ended else None,
        "forwarded_from": None,
        "from": call.request.from_,
        "from_formatted": formatted(call.request.from_),
        "group_sid": None,
        "parent_call_sid": None,
        "phone_number_sid": line_sid(call.request.to if call.direction == "inbound" else call.request.from_),
        "price": None,
        "price_unit": "USD",
        "queue_time": str(round(call.queue_s * 1000)),
        "start_time": rfc2822(call.dialled.date) if call.dialled else None,
        "status": call.status,
        "subresource_uris": {snake(name): f"{base}/{name}.json" for name in CALL_SUBRESOURCES},
        "to": call.request.to,
        "to_formatted": formatted(call.request.to),
        "trunk_sid": None,
        "uri": f"{base}.json",
    }


def _call(sid: str) -> Call:
    call = driver().engine.calls.get(sid)
    if call is None or call.deleted:
        raise not_found()
    return call


def snake(name: str) -> str:
    """`UserDefinedMessages` to `user_defined_messages`."""
    return "".join("_" + char.lower() if char.isupper() else char for char in name).lstrip("_")
