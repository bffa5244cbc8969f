"""The account's REST API: who is let in, what every answer carries, and how an accepted create goes its way.

The resources themselves are `calls.py` and `messages.py`.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
from typing import Any

from flask import Blueprint, Response, current_app, g, jsonify, request

from devphone.driver import Driver
from devphone.engine.actions import Warned
from devphone.engine.outbox import API_VERSION
from devphone.faults import CreateFaults

from .errors import TwilioError, answer

account = Blueprint("account", __name__, url_prefix=f"/{API_VERSION}/Accounts/<account_sid>")


def driver() -> Driver:
    """The dev phone behind this app."""
    found: Driver = current_app.extensions["devphone"]
    return found


@account.before_request
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


@account.after_request
def note(response: Response) -> Response:
    """Complete the log entry and add Twilio's headers."""
    g.entry["status"] = response.status_code
    response.headers["Twilio-Request-Id"] = "RQ" + secrets.token_hex(16)
    response.headers["X-Dev-Phone"] = "SIMULATED"
    return response


@account.errorhandler(TwilioError)
def refuse(error: TwilioError) -> Response:
    """Every refusal in Twilio's form."""
    return answer(error)


@account.route("/<path:_rest>", methods=["GET", "POST", "DELETE"])
def elsewhere(_rest: str) -> Response:
    """Everything else of Twilio is not here: 404 with 20404."""
    raise not_found()


def accept(
    sid: str, body: dict[str, Any], faults: CreateFaults, known: frozenset[str], not_acted_on: frozenset[str]
) -> Response:
    """Answer an accepted create, and let it go its way once the answer was sent, unless a fault says else."""
    g.entry["sid"] = sid
    note_unknown(sid, known, not_acted_on)
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


def note_unknown(sid: str, known: frozenset[str], not_acted_on: frozenset[str]) -> None:
    """Unknown parameters are passed over with a warning; https://www.twilio.com/docs/api/errors/20001.

    Those that only the dev phone does not know are noted likewise, unless they say false.
    """
    for name in sorted(set(request.form)):
        if name not in known:
            driver().journal.warned(Warned(20001, sid, f"{request.path}: unknown parameter {name}"))
        elif name in not_acted_on and request.form[name] != "false":
            driver().journal.warned(Warned(20001, sid, f"the dev phone does not act on {name} yet"))


def not_found() -> TwilioError:
    """404 with 20404."""
    return TwilioError(20404, f"The requested resource {request.path} was not found", 404)


def _same(given: str | None, right: str) -> bool:
    return hmac.compare_digest((given or "").encode(), right.encode())


def _cut_connection() -> None:
    """Close the socket under the answer; werkzeug's own server hands it over in the WSGI environment."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
