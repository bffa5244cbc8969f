"""Twilio's REST API for the account's numbers: fetch, list, update, and how a number looks on the wire.

Numbers are given when the program starts; buying and releasing them is refused. Key set from twilio-oai,
spec/json/twilio_api_v2010.json; https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import Response, jsonify, request

from devphone.dates import rfc2822
from devphone.engine.lines import Line
from devphone.engine.outbox import API_VERSION

from .account import account, driver, not_found, note_unknown
from .errors import TwilioError
from .forms import check_url, method_field
from .paging import page

URLS = {
    "VoiceUrl": "voice_url",
    "VoiceFallbackUrl": "voice_fallback_url",
    "StatusCallback": "status_callback",
    "SmsUrl": "sms_url",
    "SmsFallbackUrl": "sms_fallback_url",
}
METHODS = {
    "VoiceMethod": "voice_method",
    "VoiceFallbackMethod": "voice_fallback_method",
    "StatusCallbackMethod": "status_callback_method",
    "SmsMethod": "sms_method",
    "SmsFallbackMethod": "sms_fallback_method",
}
NOT_ACTED_ON = frozenset({"SmsApplicationSid", "VoiceApplicationSid", "TrunkSid"})
"""They would send calls and texts elsewhere: noted in the debugger, never passed over."""
NUMBER_PARAMETERS = (
    frozenset(
        "AccountSid ApiVersion FriendlyName VoiceCallerIdLookup EmergencyStatus EmergencyAddressSid "
        "VoiceReceiveMode IdentitySid AddressSid BundleSid".split()
    )
    | NOT_ACTED_ON
    | URLS.keys()
    | METHODS.keys()
)
INVALID_URL = 21402
"""https://www.twilio.com/docs/api/errors/21402"""
FIXED = TwilioError(20008, "The numbers of a dev phone are given when it starts (--number)", 403)


@account.get("/IncomingPhoneNumbers.json")
def list_numbers() -> Response:
    """The account's numbers, filtered by PhoneNumber (a part of it) and FriendlyName."""
    return _page(number_resource)


@account.get("/IncomingPhoneNumbers/Local.json")
def list_local_numbers() -> Response:
    """The same: all are local. This list leaves the type out."""
    return _page(_local_resource)


def _page(resource: Callable[[Line, str], dict[str, Any]]) -> Response:
    args = request.args.to_dict()
    part, name = args.get("PhoneNumber", "").replace("*", ""), args.get("FriendlyName")
    with driver().turn():
        lines = driver().engine.lines.values()
        found = [line for line in lines if part in line.number and name in (None, "", line.friendly_name)]
        return jsonify(page(found, resource, args, "incoming_phone_numbers", driver().settings.account_sid))


@account.get("/IncomingPhoneNumbers/<sid>.json")
def fetch_number(sid: str) -> Response:
    """One number."""
    with driver().turn():
        return jsonify(number_resource(_line(sid), driver().settings.account_sid))


@account.post("/IncomingPhoneNumbers/<sid>.json")
def update_number(sid: str) -> Response:
    """Say where calls and texts to the number go; an empty URL takes one back."""
    _line(sid)
    changes = _changes()
    note_unknown(sid, NUMBER_PARAMETERS, NOT_ACTED_ON)
    with driver().turn() as now:
        line = replace(_line(sid), updated=now, **changes)
        driver().engine.lines[line.number] = line
        return jsonify(number_resource(line, driver().settings.account_sid))


@account.post("/IncomingPhoneNumbers.json")
@account.post("/IncomingPhoneNumbers/Local.json")
def buy_number() -> Response:
    """Refused."""
    raise FIXED


@account.delete("/IncomingPhoneNumbers/<sid>.json")
def release_number(sid: str) -> Response:
    """Refused."""
    _line(sid)
    raise FIXED


def number_resource(line: Line, account_sid: str) -> dict[str, Any]:
    """One number."""
    return {
        "sid": line.sid,
        "account_sid": account_sid,
        "address_requirements": "none",
        "address_sid": None,
        "api_version": API_VERSION,
        "beta": False,
        "bundle_sid": None,
        "capabilities": {"voice": True, "sms": True, "mms": True, "fax": False},
        "date_created": rfc2822(line.created.date),
        "date_updated": rfc2822(line.updated.date),
        "emergency_address_sid": None,
        "emergency_address_status": "unregistered",
        "emergency_status": "Inactive",
        "friendly_name": line.friendly_name,
        "identity_sid": None,
        "origin": "twilio",
        "phone_number": line.number,
        "sms_application_sid": "",
        "sms_fallback_method": line.sms_fallback_method,
        "sms_fallback_url": line.sms_fallback_url,
        "sms_method": line.sms_method,
        "sms_url": line.sms_url,
        "status": "in-use",
        "status_callback": line.status_callback,
        "status_callback_method": line.status_callback_method,
        "trunk_sid": None,
        "type": "local",
        "uri": f"/{API_VERSION}/Accounts/{account_sid}/IncomingPhoneNumbers/{line.sid}.json",
        "voice_application_sid": "",
        "voice_caller_id_lookup": False,
        "voice_fallback_method": line.voice_fallback_method,
        "voice_fallback_url": line.voice_fallback_url,
        "voice_method": line.voice_method,
        "voice_receive_mode": "voice",
        "voice_url": line.voice_url,
    }


def _local_resource(line: Line, account_sid: str) -> dict[str, Any]:
    return {name: value for name, value in number_resource(line, account_sid).items() if name != "type"}


def _changes() -> dict[str, Any]:
    """The fields of Line that the form sets. Raises TwilioError."""
    form = request.form
    changes: dict[str, Any] = {}
    for name, field in URLS.items():
        if name in form:
            if form[name]:
                check_url(form[name], INVALID_URL, name)
            changes[field] = form[name]
    for name, field in METHODS.items():
        if name in form:
            changes[field] = method_field(form, name)
    if "FriendlyName" in form:
        changes["friendly_name"] = form["FriendlyName"]
    return changes


def _line(sid: str) -> Line:
    for line in driver().engine.lines.values():
        if line.sid == sid:
            return line
    raise not_found()
