"""The account's REST API: who is let in, what every answer carries, and how an accepted create goes its way.

The resources themselves are `calls.py` and `messages.py`.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
import time
from datetime import UTC, datetime
from typing import Any

from flask import Blueprint, Response, abort, current_app, g, jsonify, request

from devphone.contract import Contract
from devphone.driver import Driver
from devphone.engine.actions import Warned
from devphone.engine.outbox import API_VERSION
from devphone.fault_catalogue import Kind
from devphone.faults import FaultPlan

from .errors import TwilioError, answer

account = Blueprint("account", __name__, url_prefix=f"/{API_VERSION}/Accounts/<account_sid>")


def driver() -> Driver:
    """The dev phone behind this app."""
    found: Driver = current_app.extensions["devphone"]
    return found


class UnderWay:
    """How many REST requests are being answered now."""

    def __init__(self) -> None:
        """None."""
        self._lock, self._number = threading.Lock(), 0

    def change(self, by: int) -> int:
        """One more or one less; returns how many there are then."""
        with self._lock:
            self._number += by
            return self._number


def under_way() -> UnderWay:
    """The counter of this app."""
    found: UnderWay = current_app.extensions["devphone_under_way"]
    return found


def the_contract() -> Contract | None:
    """What this app's answers are checked against, if anything."""
    found: Contract | None = current_app.extensions["devphone_contract"]
    return found


@account.before_request
def admit() -> Response | None:
    """Note the request, then ask for the account's sid and token: 401 with 20003, or 404 with 20404.

    More requests at once than the account may make are 429 with 20429, and nothing is done.
    """
    g.begun, g.at_once = time.monotonic(), under_way().change(+1)
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
    limit = driver().engine.account.concurrent_requests
    if limit and g.at_once > limit:
        raise too_many()
    return None


@account.after_request
def note(response: Response) -> Response:
    """Complete the log entry and add Twilio's headers."""
    response.headers["X-Dev-Phone"] = "SIMULATED"
    if "entry" not in g:  # refused at the door of the app
        return response
    g.entry["status"] = response.status_code
    # The line's, so that it goes with the dates of the records.
    response.date = datetime.fromtimestamp(driver().clock.now().date, UTC)
    response.headers["Twilio-Request-Id"] = "RQ" + secrets.token_hex(16)
    response.headers["Twilio-Concurrent-Requests"] = str(g.at_once)
    response.headers["Twilio-Request-Duration"] = f"{time.monotonic() - g.begun:.3f}"
    contract = the_contract()
    if contract and not g.get("not_twilios"):
        rule = request.url_rule.rule if request.url_rule else request.path
        answered = (response.status_code, response.mimetype or "", response.get_data())
        problems = contract.problems(rule, request.method, *answered)
        driver().journal.checked(f"{request.method} {request.path} {response.status_code}", problems)
    return response


@account.teardown_request
def leave(_error: BaseException | None) -> None:
    """The request is answered, whichever way."""
    if "at_once" in g:
        under_way().change(-1)


@account.errorhandler(TwilioError)
def refuse(error: TwilioError) -> Response:
    """Every refusal in Twilio's form."""
    return answer(error)


@account.route("/<path:_rest>", methods=["GET", "POST", "DELETE"])
def elsewhere(_rest: str) -> Response:
    """Everything else of Twilio is not here: 404 with 20404."""
    raise not_found()


def accept(
    sid: str, body: dict[str, Any], faults: FaultPlan, known: frozenset[str], not_acted_on: frozenset[str]
) -> Response:
    """Answer an accepted create, and let it go its way once the answer was sent, unless a fault says else."""
    g.entry["sid"] = sid
    note_unknown(sid, known, not_acted_on)
    if faults.has("early_callback"):
        driver().start_and_wait_for_callback(sid)
    if faults.has("delay_201_s"):
        driver().faults.hold(faults.seconds("delay_201_s"))
    if faults.has("lose_201"):
        _cut_connection()
    response = jsonify(body)
    response.status_code = 201
    for status, code in ((503, 20503), (500, 20500)):
        if faults.has(f"{status}_after_accept"):
            response = answer(TwilioError(code, "This error was asked for", status))
    if not faults.has("early_callback"):
        phone = driver()
        response.call_on_close(lambda: phone.start(sid))
    return response


def take_faults(kind: Kind) -> FaultPlan:
    """The faults of this create. Raises TwilioError when one of them is a refusal."""
    faults = driver().faults.take(kind)
    if faults.has("never_answer"):
        driver().faults.hold(None)
        _cut_connection()
        raise TwilioError(20503, "The phone was reset", 503)
    if faults.has("html_429"):
        g.not_twilios = True
        abort(Response("<html><body><h1>429 Too Many Requests</h1></body></html>", 429, mimetype="text/html"))
    if faults.has("throttled"):
        raise too_many()
    if faults.has("status_callback_refused") and request.form.get("StatusCallback"):
        raise TwilioError(21609, "Invalid 'StatusCallback' URL")
    if faults.has("geography_refused"):
        code = 21215 if kind == "calls" else 21408
        raise TwilioError(code, f"No permission for the country of {request.form.get('To', '')}")
    if faults.has("rest_error"):
        code, status, message = (faults.value("rest_error", need) for need in ("code", "status", "message"))
        raise TwilioError(code, message, status)
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


def too_many() -> TwilioError:
    """429 with 20429: https://www.twilio.com/docs/api/errors/20429."""
    return TwilioError(20429, "Too Many Requests", 429)


def not_found() -> TwilioError:
    """404 with 20404."""
    return TwilioError(20404, f"The requested resource {request.path} was not found", 404)


def _same(given: str | None, right: str) -> bool:
    return hmac.compare_digest((given or "").encode(), right.encode())


def _cut_connection() -> None:
    """Close the socket under the answer; werkzeug's own server hands it over in the WSGI environment."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    connection.shutdown(socket.SHUT_RDWR)
