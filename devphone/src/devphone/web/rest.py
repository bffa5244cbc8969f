"""Twilio's REST API, as far as the dev phone has it: Calls and Messages.

https://www.twilio.com/docs/voice/api/call-resource and https://www.twilio.com/docs/messaging/api/message-resource
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, current_app, g, jsonify, request

from devphone.driver import Driver
from devphone.engine.actions import Warned
from devphone.engine.outbox import API_VERSION
from devphone.engine.progress import WrongCallState
from devphone.engine.records import Call, Text
from devphone.faults import CreateFaults

from . import parameters
from .errors import TwilioError, answer
from .filters import newest_first
from .resources import call_resource, page, text_resource

rest = Blueprint("rest", __name__, url_prefix=f"/{API_VERSION}/Accounts/<account_sid>")


def driver() -> Driver:
    """The dev phone behind this app."""
    found: Driver = current_app.extensions["devphone"]
    return found


@rest.before_request
def admit() -> Response | None:
    """Note the request, then ask for the account's sid and token: 401 with 20003, or 404 with 20404."""
    g.entry = {
        "at_ms": time.time() * 1000,
        "method": request.method,
        "path": request.path,
        "query": request.args.to_dict(flat=False),
        "form": request.form.to_dict(flat=False),
        "status": None,
        "sid": None,
    }
    driver().journal.requested(g.entry)
    settings, given = driver().settings, request.authorization
    right = given is not None and given.type == "basic" and _same(given.username, settings.account_sid)
    if not right or given is None or not _same(given.password, settings.auth_token):
        refusal = answer(TwilioError(20003, "Authenticate", 401))
        refusal.headers["WWW-Authenticate"] = 'Basic realm="Twilio API"'
        return refusal
    if (request.view_args or {}).pop("account_sid") != settings.account_sid:
        raise not_found()
    return None


@rest.after_request
def note(response: Response) -> Response:
    """Complete the log entry and add Twilio's headers."""
    g.entry["status"] = response.status_code
    response.headers["Twilio-Request-Id"] = "RQ" + secrets.token_hex(16)
    response.headers["X-Dev-Phone"] = "SIMULATED"
    return response


@rest.errorhandler(TwilioError)
def refuse(error: TwilioError) -> Response:
    """Every refusal in Twilio's form."""
    return answer(error)


@rest.post("/Calls.json")
def create_call() -> Response:
    """Place a call."""
    faults = take_faults("calls")
    wanted = parameters.call_request(request.form, driver().settings.numbers)
    with driver().turn() as now:
        call = driver().engine.create_call(now, wanted, faults.fetch_lag_s)
        driver().accepted(call.sid, faults)
        body = call_resource(call, driver().settings.account_sid)
    return accept(call.sid, body, faults, parameters.CALL_PARAMETERS)


@rest.get("/Calls.json")
def list_calls() -> Response:
    """Calls, newest first, filtered by To, From, Status, StartTime, EndTime, ParentCallSid."""
    args = request.args.to_dict()
    with driver().turn() as now:
        seen = [call.as_read_at(now) for call in driver().engine.calls.values()]
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


@rest.get("/Calls/<sid>.json")
def fetch_call(sid: str) -> Response:
    """One call, possibly as it was a while ago."""
    with driver().turn() as now:
        call = _call(sid).as_read_at(now)
        return jsonify(call_resource(call, driver().settings.account_sid))


@rest.post("/Calls/<sid>.json")
def update_call(sid: str) -> Response:
    """Cancel, complete or redirect a call."""
    _call(sid)
    change = parameters.call_change(request.form)
    note_unknown(sid, parameters.CHANGE_PARAMETERS)
    with driver().turn() as now:
        try:
            call = driver().engine.change_call(now, sid, change)
        except WrongCallState as state:
            raise TwilioError(21220, f"Invalid call state: {state}") from state
        return jsonify(call_resource(call, driver().settings.account_sid))


@rest.delete("/Calls/<sid>.json")
def delete_call(sid: str) -> Response:
    """Remove the record of an ended call."""
    with driver().turn():
        if not _call(sid).over:
            raise TwilioError(20009, "A call can be deleted when it has ended", 409)
        driver().engine.forget(sid)
    return Response(status=204)


@rest.post("/Messages.json")
def create_message() -> Response:
    """Send a text."""
    faults = take_faults("messages")
    wanted = parameters.text_request(request.form, driver().settings.numbers)
    with driver().turn() as now:
        text = driver().engine.create_text(now, wanted)
        driver().accepted(text.sid, faults)
        body = text_resource(text, driver().settings.account_sid)
    return accept(text.sid, body, faults, parameters.TEXT_PARAMETERS)


@rest.get("/Messages.json")
def list_messages() -> Response:
    """Texts, newest first, filtered by To, From and DateSent."""
    args = request.args.to_dict()
    dates: dict[str, Callable[[Text], float | None]] = {
        "DateSent": lambda text: (text.sent or text.created).date
    }
    with driver().turn():
        found = newest_first(list(driver().engine.texts.values()), args, dates)
        return jsonify(page(found, text_resource, args, "messages", driver().settings.account_sid))


@rest.get("/Messages/<sid>.json")
def fetch_message(sid: str) -> Response:
    """One text."""
    with driver().turn():
        return jsonify(text_resource(_text(sid), driver().settings.account_sid))


@rest.post("/Messages/<sid>.json")
def update_message(sid: str) -> Response:
    """Erase the body: `Body` empty. Cancelling is for scheduled texts, which are not here yet."""
    note_unknown(sid, parameters.TEXT_CHANGE_PARAMETERS)
    with driver().turn() as now:
        text = _text(sid)
        if request.form.get("Status") == "canceled":
            raise TwilioError(30409, "Only a scheduled message can be canceled")
        if request.form.get("Body", None) != "":
            raise TwilioError(20001, "Body can only be set to an empty text")
        text.body, text.updated = "", now
        return jsonify(text_resource(text, driver().settings.account_sid))


@rest.delete("/Messages/<sid>.json")
def delete_message(sid: str) -> Response:
    """Remove the record."""
    with driver().turn():
        _text(sid)
        driver().engine.forget(sid)
    return Response(status=204)


@rest.route("/<path:_rest>", methods=["GET", "POST", "DELETE"])
def elsewhere(_rest: str) -> Response:
    """Everything else of Twilio is not here: 404 with 20404."""
    raise not_found()


def accept(sid: str, body: dict[str, Any], faults: CreateFaults, known: frozenset[str]) -> Response:
    """Answer an accepted create, and let it go its way once the answer was sent, unless a fault says else."""
    g.entry["sid"] = sid
    note_unknown(sid, known)
    if faults.early_callback:
        driver().start_and_wait_for_callback(sid)
    if faults.delay_201_s:
        threading.Event().wait(faults.delay_201_s)
    if faults.lose_201:
        _cut_connection()
    response = jsonify(body)
    response.status_code = 201
    if faults.status_after_accept:
        code = 20500 if faults.status_after_accept == 500 else 20503
        response = answer(TwilioError(code, "This error was asked for", faults.status_after_accept))
    if not faults.early_callback:
        phone = driver()
        response.call_on_close(lambda: phone.start(sid))
    return response


def take_faults(kind: Any) -> CreateFaults:
    """The faults of this create. Raises TwilioError when one of them is a refusal."""
    faults = driver().faults.take(kind)
    if faults.rest_error:
        raise TwilioError(faults.rest_error.code, faults.rest_error.message, faults.rest_error.status)
    return faults


def note_unknown(sid: str, known: frozenset[str]) -> None:
    """Unknown parameters are passed over with a warning; https://www.twilio.com/docs/api/errors/20001.

    Those that only the dev phone does not know are noted likewise, unless they say false.
    """
    for name in sorted(set(request.form)):
        if name not in known:
            driver().journal.warned(Warned(20001, sid, f"{request.path}: unknown parameter {name}"))
        elif name in parameters.NOT_ACTED_ON and request.form[name] != "false":
            driver().journal.warned(Warned(20001, sid, f"the dev phone does not act on {name} yet"))


def not_found() -> TwilioError:
    """404 with 20404."""
    return TwilioError(20404, f"The requested resource {request.path} was not found", 404)


def _call(sid: str) -> Call:
    try:
        return driver().engine.calls[sid]
    except KeyError:
        raise not_found() from None


def _text(sid: str) -> Text:
    try:
        return driver().engine.texts[sid]
    except KeyError:
        raise not_found() from None


def _same(given: str | None, right: str) -> bool:
    return hmac.compare_digest((given or "").encode(), right.encode())


def _cut_connection() -> None:
    """Close the socket under the answer; werkzeug's own server hands it over in the WSGI environment."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
