"""Puts the three parts on one Flask app and guards its door; serves it on a threaded loopback server."""

from __future__ import annotations

from flask import Flask, Response, jsonify, render_template, request
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from devphone.contract import Contract
from devphone.driver import Driver
from devphone.settings import is_loopback

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
from .control import control

ROOMS = (calls, control_account, control_numbers, control_phones, control_texts, incoming_numbers, messages)
"""They put their routes on the two blueprints when they are imported."""
CSP = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def create_app(driver: Driver, contract: Contract | None = None) -> Flask:
    """The app of one dev phone. With a contract, every REST answer is compared with it."""
    app = Flask(__name__)
    app.extensions["devphone"] = driver
    app.extensions["devphone_under_way"] = UnderWay()
    app.extensions["devphone_contract"] = contract
    app.register_blueprint(account)
    app.register_blueprint(control)

    @app.before_request
    def only_this_machine() -> tuple[Response, int] | None:
        """Refuse foreign host names and origins, so that no web page elsewhere can use the phone."""
        host = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        origin = request.headers.get("Origin")
        if not is_loopback(host) or origin not in (None, f"http://{request.host}"):
            return jsonify(error="the dev phone answers only to this machine"), 403
        return None

    @app.get("/")
    def phone() -> Response:
        """The page with the phone on it."""
        response = Response(render_template("phone.html"))
        response.headers["Content-Security-Policy"] = CSP
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    return app


def serve(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """A listening server (port 0 = any free one); call `serve_forever` on it."""
    return make_server(host, port, app, threaded=True, request_handler=_Quiet)


class _Quiet(WSGIRequestHandler):
    """Says nothing about each request; the request log of the control API does."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""
