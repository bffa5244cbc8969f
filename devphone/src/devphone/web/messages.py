"""Twilio's REST API for texts: create, fetch, list, update, delete, and how a text looks on the wire.

Full key sets, strings for numbers, RFC 2822 dates; from twilio-oai, spec/json/twilio_api_v2010.json and
https://www.twilio.com/docs/messaging/api/message-resource
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, jsonify, request

from devphone.dates import rfc2822
from devphone.engine.actions import Warned
from devphone.engine.outbox import API_VERSION
from devphone.engine.text_records import UNFINISHED, Text
from devphone.engine.texts import WrongTextState

from . import text_parameters
from .account import accept, account, driver, not_found, note_unknown, take_faults
from .errors import TwilioError
from .paging import newest_first, page

REFUSALS = {
    21608: "The number is unverified. Trial accounts cannot send messages to unverified numbers",
    21610: "Attempt to send to unsubscribed recipient",
}


@account.post("/Messages.json")
def create_message() -> Response:
    """Send a text."""
    with driver().turn() as now:
        wanted = text_parameters.text_request(request.form, driver().settings.numbers, now.date)
        if code := driver().engine.refuses_text(wanted):
            raise TwilioError(code, REFUSALS[code])
    faults = take_faults("messages")
    with driver().turn() as now:
        text = driver().engine.create_text(now, wanted)
        driver().accepted(text.sid, faults)
        body = text_resource(text, driver().settings.account_sid)
    for code, why in text_parameters.not_obeyed(request.form):
        driver().journal.warned(Warned(code, text.sid, why))
    return accept(text.sid, body, faults, text_parameters.TEXT_PARAMETERS, text_parameters.NOT_ACTED_ON)


@account.get("/Messages.json")
def list_messages() -> Response:
    """Texts, newest first, filtered by To, From and DateSent."""
    args = request.args.to_dict()
    dates: dict[str, Callable[[Text], float | None]] = {
        "DateSent": lambda text: (text.sent or text.created).date
    }
    with driver().turn():
        texts = [text for text in driver().engine.texts.values() if not text.deleted]
        found = newest_first(texts, args, dates)
        return jsonify(page(found, text_resource, args, "messages", driver().settings.account_sid))


@account.get("/Messages/<sid>.json")
def fetch_message(sid: str) -> Response:
    """One text."""
    with driver().turn():
        return jsonify(text_resource(_text(sid), driver().settings.account_sid))


@account.post("/Messages/<sid>.json")
def update_message(sid: str) -> Response:
    """Erase the body (`Body` empty), or call a scheduled text off (`Status=canceled`)."""
    note_unknown(sid, text_parameters.TEXT_CHANGE_PARAMETERS, text_parameters.NOT_ACTED_ON)
    with driver().turn() as now:
        text = _text(sid)
        if text_parameters.changes_status(request.form):
            try:
                driver().engine.cancel_text(now, sid)
            except WrongTextState as state:
                raise TwilioError(30409, f"This message cannot be canceled: {state}") from state
        else:
            driver().engine.erase_text(now, sid)
        return jsonify(text_resource(text, driver().settings.account_sid))


@account.delete("/Messages/<sid>.json")
def delete_message(sid: str) -> Response:
    """Remove the record of a text that has left Twilio; https://www.twilio.com/docs/api/errors/20009."""
    with driver().turn():
        text = _text(sid)
        if text.status in UNFINISHED:
            raise TwilioError(20009, "A message can be deleted when it was sent", 409)
        text.deleted = True
    return Response(status=204)


def text_resource(text: Text, account_sid: str) -> dict[str, Any]:
    """One message. Segments read 0 while a messaging service has not queued it.

    https://www.twilio.com/docs/messaging/api/message-resource#message-properties
    """
    base = f"/{API_VERSION}/Accounts/{account_sid}/Messages/{text.sid}"
    uncounted = text.status in ("accepted", "scheduled") or not text.from_
    return {
        "sid": text.sid,
        "account_sid": account_sid,
        "api_version": API_VERSION,
        "body": "" if text.erased else text.body,
        "date_created": rfc2822(text.created.date),
        "date_sent": rfc2822(text.sent.date) if text.sent else None,
        "date_updated": rfc2822(text.updated.date),
        "direction": text.direction,
        "error_code": text.error_code,
        "error_message": text.error_message,
        "from": text.from_ or None,
        "messaging_service_sid": text.request.service_sid or None,
        "num_media": str(len(text.request.media)),
        "num_segments": "0" if uncounted else str(text.segments),
        "price": None,
        "price_unit": "USD",
        "status": text.status,
        "subresource_uris": {"media": f"{base}/Media.json"},
        "to": text.request.to,
        "uri": f"{base}.json",
    }


def _text(sid: str) -> Text:
    text = driver().engine.texts.get(sid)
    if text is None or text.deleted:
        raise not_found()
    return text
