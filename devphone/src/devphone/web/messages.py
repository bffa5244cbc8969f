"""Twilio's REST API for texts: create, fetch, list, update, delete, and how a text looks on the wire.

Full key sets, strings for numbers, RFC 2822 dates; from twilio-oai, spec/json/twilio_api_v2010.json and
https://www.twilio.com/docs/messaging/api/message-resource
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, jsonify, request

from devphone.dates import rfc2822
from devphone.engine.outbox import API_VERSION
from devphone.engine.text_records import Text

from . import text_parameters
from .account import accept, account, driver, not_found, note_unknown, take_faults
from .errors import TwilioError
from .paging import newest_first, page


@account.post("/Messages.json")
def create_message() -> Response:
    """Send a text."""
    faults = take_faults("messages")
    wanted = text_parameters.text_request(request.form, driver().settings.numbers)
    with driver().turn() as now:
        text = driver().engine.create_text(now, wanted)
        driver().accepted(text.sid, faults)
        body = text_resource(text, driver().settings.account_sid)
    return accept(text.sid, body, faults, text_parameters.TEXT_PARAMETERS, text_parameters.NOT_ACTED_ON)


@account.get("/Messages.json")
def list_messages() -> Response:
    """Texts, newest first, filtered by To, From and DateSent."""
    args = request.args.to_dict()
    dates: dict[str, Callable[[Text], float | None]] = {
        "DateSent": lambda text: (text.sent or text.created).date
    }
    with driver().turn():
        found = newest_first(list(driver().engine.texts.values()), args, dates)
        return jsonify(page(found, text_resource, args, "messages", driver().settings.account_sid))


@account.get("/Messages/<sid>.json")
def fetch_message(sid: str) -> Response:
    """One text."""
    with driver().turn():
        return jsonify(text_resource(_text(sid), driver().settings.account_sid))


@account.post("/Messages/<sid>.json")
def update_message(sid: str) -> Response:
    """Erase the body: `Body` empty. Cancelling is for scheduled texts, which are not here yet."""
    note_unknown(sid, text_parameters.TEXT_CHANGE_PARAMETERS, text_parameters.NOT_ACTED_ON)
    with driver().turn() as now:
        text = _text(sid)
        if request.form.get("Status") == "canceled":
            raise TwilioError(30409, "Only a scheduled message can be canceled")
        if request.form.get("Body", None) != "":
            raise TwilioError(20001, "Body can only be set to an empty text")
        text.body, text.updated = "", now
        return jsonify(text_resource(text, driver().settings.account_sid))


@account.delete("/Messages/<sid>.json")
def delete_message(sid: str) -> Response:
    """Remove the record."""
    with driver().turn():
        _text(sid)
        driver().engine.forget(sid)
    return Response(status=204)


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


def _text(sid: str) -> Text:
    try:
        return driver().engine.texts[sid]
    except KeyError:
        raise not_found() from None
