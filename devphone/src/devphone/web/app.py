"""Puts the three parts on one Flask app and guards its door; serves it on a threaded loopback server."""

from __future__ import annotations

import socket

from flask import Flask, Response, jsonify, render_template, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Response as WsgiResponse

from devphone.contract import Contract
from devphone.driver import Driver
from devphone.settings import BadSettings, is_loopback

from . import (
    calls,
    control_account,
    control_numbers,
    control_phones,
    control_texts,
    incoming_numbers,
    messages,
)
from .account import UnderWay, account
from .accounts import accounts
from .control import control
from .errors import TwilioError, answer

ROOMS = (calls, control_account, control_numbers, control_phones, control_texts, incoming_numbers, messages)
"""They put their routes on the two blueprints when they are imported."""
CODES = {404: 20404, 405: 20004, 500: 20500}
"""What Twilio's errors are called that no view raises; 20001 for the others."""
CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def create_app(driver: Driver, contract: Contract | None = None) -> Flask:
    """The app of one dev phone. With a contract, every REST answer is compared with it."""
    app = Flask(__name__)
    app.extensions["devphone"] = driver
    app.extensions["devphone_under_way"] = UnderWay()
    app.extensions["devphone_contract"] = contract
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False  # or their answers are HTML
    app.url_map.merge_slashes = False  # the same: it redirects
    app.register_blueprint(account)
    app.register_blueprint(accounts)
    app.register_blueprint(control)

    @app.before_request
    def only_this_machine() -> tuple[Response, int] | None:
        """Refuse foreign host names and origins, so that no web page elsewhere can use the phone."""
        host = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        origin = request.headers.get("Origin")
        if not is_loopback(host) or origin not in (None, f"http://{request.host}"):
            return jsonify(error="the dev phone answers only to this machine"), 403
        return None

    @app.errorhandler(HTTPException)
    def fail(error: HTTPException) -> WsgiResponse:
        """Programs get errors in JSON, each API's its own: wrong paths, too much data, and bugs of ours.

        Outside of both it is Twilio's: whoever comes there has left the version out.
        """
        status, why = error.code or 500, error.description or error.name
        if error.response is not None:
            return error.get_response()
        if request.path.startswith("/_devphone"):
            response = jsonify(error=why)
            response.status_code = status
            return response
        return answer(TwilioError(CODES.get(status, 20001), why, status))

    @app.get("/")
    def phone() -> Response:
        """The page with the phone on it."""
        response = Response(render_template("phone.html"))
        response.headers["Content-Security-Policy"] = CSP
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return app


def serve(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """A listening server (port 0 = any free one); call `serve_forever` on it.

    Raises BadSettings when it can't listen there; werkzeug by itself would print and exit.
    """
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    try:
        listening = socket.create_server((name, port), family=family)
    except OSError as error:
        raise BadSettings(f"can't listen on port {port} of {host}: {error.strerror}") from error
    with listening:
        fd = listening.fileno()
        return make_server(name, port, app, threaded=True, request_handler=_Quiet, fd=fd)


class _Quiet(WSGIRequestHandler):
    """Says nothing about each request; the request log of the control API does."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""
