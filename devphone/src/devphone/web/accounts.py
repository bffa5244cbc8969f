"""Twilio's REST API for the account itself: fetch and list. And all that is nowhere below `/2010-04-01`.

Who is let in is `account.py`, here as there.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, jsonify, request

from devphone.dates import rfc2822
from devphone.engine.outbox import API_VERSION

from .account import account, admit, driver, leave, not_found, note, refuse
from .calls import snake
from .errors import TwilioError
from .paging import page

accounts = Blueprint("accounts", __name__, url_prefix=f"/{API_VERSION}")
WRONG_METHODS = ("PUT", "PATCH", "OPTIONS")
SUBRESOURCES = (
    *("Addresses", "Applications", "AuthorizedConnectApps", "AvailablePhoneNumbers", "Balance", "Calls"),
    *("Conferences", "ConnectApps", "IncomingPhoneNumbers", "Keys", "Messages", "Notifications"),
    *("OutgoingCallerIds", "Queues", "Recordings", "SigningKeys", "Transcriptions", "Usage"),
)
FRIENDLY_NAME, STATUS = "Simulated account", "active"


@accounts.before_request
def name_account() -> None:
    """A path that names no account is about the only one there is."""
    if request.view_args is not None:
        request.view_args.setdefault("account_sid", driver().settings.account_sid)


accounts.before_request(admit)
accounts.after_request(note)
accounts.teardown_request(leave)
accounts.register_error_handler(TwilioError, refuse)


@accounts.get("/Accounts.json")
def list_accounts() -> Response:
    """The one account, filtered by FriendlyName and Status."""
    args = request.args.to_dict()
    fits = args.get("FriendlyName", FRIENDLY_NAME) == FRIENDLY_NAME and args.get("Status", STATUS) == STATUS
    with driver().turn():
        found = [_Account()] if fits else []
        return jsonify(page(found, _resource, args, "accounts", driver().settings.account_sid, top=True))


@accounts.get("/Accounts/<account_sid>.json")
def fetch_account() -> Response:
    """The account: what programs ask for to see whether their credentials are good."""
    with driver().turn():
        return jsonify(_resource(_Account(), driver().settings.account_sid))


@accounts.route("/", defaults={"_rest": ""}, methods=["GET", "POST", "DELETE"], strict_slashes=False)
@accounts.route("/<path:_rest>", methods=["GET", "POST", "DELETE"])
def elsewhere(_rest: str) -> Response:
    """Everything else of Twilio is not here: 404 with 20404."""
    raise not_found()


@accounts.delete("/Accounts/<account_sid>.json", defaults={"_rest": ""})
@accounts.route("/", defaults={"_rest": ""}, methods=WRONG_METHODS, strict_slashes=False)
@accounts.route("/<path:_rest>", methods=WRONG_METHODS)
@account.route("/<path:_rest>", methods=WRONG_METHODS)
def wrong_method(_rest: str) -> Response:
    """Methods that a resource has not: 405 with 20004; https://www.twilio.com/docs/api/errors/20004."""
    raise TwilioError(20004, "Method not allowed", 405)


@account.delete("/Calls.json")
@account.delete("/Messages.json")
@account.delete("/IncomingPhoneNumbers.json")
@account.delete("/IncomingPhoneNumbers/Local.json")
@accounts.delete("/Accounts.json")
def delete_list(**_path: str) -> Response:
    """The same: a whole list can't be deleted."""
    return wrong_method("")


class _Account:
    order = 1


def _resource(_account: _Account, account_sid: str) -> dict[str, Any]:
    """https://www.twilio.com/docs/iam/api/account"""
    engine, base = driver().engine, f"/{API_VERSION}/Accounts/{account_sid}"
    uris = {snake(name): f"{base}/{name}.json" for name in SUBRESOURCES}
    started = rfc2822(engine.started.date)
    return {
        "auth_token": driver().settings.auth_token,
        "date_created": started,
        "date_updated": started,
        "friendly_name": FRIENDLY_NAME,
        "owner_account_sid": account_sid,
        "sid": account_sid,
        "status": STATUS,
        "subresource_uris": uris | {"short_codes": f"{base}/SMS/ShortCodes.json", "sip": f"{base}/SIP.json"},
        "type": "Trial" if engine.account.trial else "Full",
        "uri": f"{base}.json",
    }
