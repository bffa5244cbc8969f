"""The account's REST API: who is let in, what every answer carries, and how an accepted create goes its way.

The resources themselves are `calls.py` and `messages.py`.
"""

from __future__ import annotations

import hmac
import math
import secrets
import selectors
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

LOOK_FOR_CLIENT_S = 0.05
"""How often a client that is kept waiting is looked for."""

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
    g.begun, g.at_once, g.generation = time.monotonic(), under_way().change(+1), driver().generation
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
    if contract and not g.get("not_twilios") and g.generation == driver().generation:
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
    phone, tells = driver(), bool(request.form.get("StatusCallback"))
    begins_before = (tells and faults.has("early_callback")) or faults.has("delay_201_s")
    if tells and faults.has("early_callback"):
        if phone.start_and_wait_for_callback(sid):
            faults.befalls("early_callback")
    elif begins_before:
        phone.start(sid)
    if faults.befalls("delay_201_s"):
        _hold(faults.seconds("delay_201_s"))
    response = jsonify(body)
    response.status_code = 201
    if faults.befalls("lose_201"):
        _cut_connection()
    elif faults.befalls("500_after_accept"):
        response = answer(TwilioError(20500, "This error was asked for", 500))
    elif faults.befalls("503_after_accept"):
        response = answer(TwilioError(20503, "This error was asked for", 503))
    if not begins_before:
        response.call_on_close(lambda: phone.start(sid))
    return response


def take_faults(kind: Kind) -> FaultPlan:
    """The faults of a create that nothing else is wrong with.

    Raises TwilioError or aborts when one of them is a refusal; the others are then for the next create.
    """
    faults = driver().faults.take(kind)
    refusal = _refusal(kind, faults)
    if refusal is None:
        return faults
    faults.give_back()
    if isinstance(refusal, TwilioError):
        raise refusal
    g.not_twilios = True
    abort(refusal)


def _refusal(kind: Kind, faults: FaultPlan) -> TwilioError | Response | None:
    """The first of the faults that refuses."""
    if faults.befalls("never_answer"):
        _hold(math.inf)
        _cut_connection()
        return TwilioError(20503, "The phone was reset", 503)
    if faults.befalls("html_429"):
        html = "<html><body><h1>429 Too Many Requests</h1></body></html>"
        return Response(html, 429, mimetype="text/html")
    if faults.befalls("throttled"):
        return too_many()
    if request.form.get("StatusCallback") and faults.befalls("status_callback_refused"):
        return TwilioError(21609, "Invalid 'StatusCallback' URL")
    if faults.befalls("geography_refused"):
        code = 21215 if kind == "calls" else 21408
        return TwilioError(code, f"No permission for the country of {request.form.get('To', '')}")
    if faults.befalls("rest_error"):
        code, status, message = (faults.value("rest_error", need) for need in ("code", "status", "message"))
        return TwilioError(code, message, status)
    return None


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


def _hold(seconds: float) -> None:
    """Keep the client waiting so many seconds of the world, or until it goes away, or until a reset."""
    until = time.monotonic() + seconds
    while (left_s := until - time.monotonic()) > 0 and not _client_is_gone():
        if driver().wait_for_reset(g.generation, min(left_s, LOOK_FOR_CLIENT_S)):
            break


def _client_is_gone() -> bool:
    """Whether the other side has closed the connection. What it may have sent more stays unread."""
    with selectors.DefaultSelector() as selector:
        selector.register(_connection(), selectors.EVENT_READ)
        if not selector.select(0):
            return False
    try:
        return _connection().recv(1, socket.MSG_PEEK) == b""
    except OSError:
        return True


def _cut_connection() -> None:
    """Close the socket under the answer."""
    try:
        _connection().shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the client was faster


def _connection() -> socket.socket:
    """Werkzeug's own server hands it over in the WSGI environment."""
    connection: socket.socket = request.environ["werkzeug.socket"]
    return connection
