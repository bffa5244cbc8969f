"""A shop that sells one teapot, and only to people: its orders are refused until a person ticked a box.

The wall is real: nothing but a POST of the ticked box, from the page as a browser got it, takes it down.
The checkout page is also the agent's live view. Works without JavaScript.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from flask import Flask, Response, abort, make_response, redirect, render_template, request, url_for
from werkzeug.serving import BaseWSGIServer, make_server
from werkzeug.wrappers import Response as AnyResponse

from handoff.dev import ports

PORT = 8030
_COOKIE = "shop_browser"


@dataclass
class Checkout:
    """One visitor's checkout: the box was ticked, and the number of the order once there is one."""

    verified: bool = False
    order: int | None = None


@dataclass
class Shop:
    """The shop's whole state. `tell` hears what happens in it."""

    tell: Callable[[str], None]
    checkouts: dict[str, Checkout] = field(default_factory=dict)

    @property
    def orders(self) -> int:
        """How many orders were really taken."""
        return sum(checkout.order is not None for checkout in self.checkouts.values())


class Server:
    """The shop, open on a free loopback port from the start on until `close`."""

    def __init__(self, shop: Shop) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._door = ports.listen(PORT)
        port = self._door.getsockname()[1]
        self._server: BaseWSGIServer = make_server(
            ports.LOOPBACK, port, create_app(shop), threaded=True, fd=self._door.fileno()
        )
        self.url = f"http://{ports.LOOPBACK}:{port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Closes the shop."""
        self._server.shutdown()
        self._server.server_close()
        self._door.close()


def create_app(shop: Shop) -> Flask:
    """The shop's pages."""
    app = Flask(__name__)
    key = secrets.token_bytes(16)

    def token(browser: str, visit: str) -> str:
        """Ties the form to the browser that was shown it, so that a bare POST ticks nothing."""
        return hmac.new(key, f"{browser}/{visit}".encode(), "sha256").hexdigest()

    def checkout_of(visit: str) -> Checkout:
        return shop.checkouts.get(visit) or abort(404)

    def page(visit: str, status: int = 200, problem: str = "") -> Response:
        browser = request.cookies.get(_COOKIE) or secrets.token_urlsafe(16)
        shown = render_template(
            "checkout.html",
            visit=visit,
            checkout=checkout_of(visit),
            token=token(browser, visit),
            problem=problem,
        )
        response = make_response(shown, status)
        response.set_cookie(_COOKIE, browser, httponly=True, samesite="Lax")
        return response

    @app.get("/")
    def front() -> str:
        return render_template("front.html")

    @app.post("/checkouts")
    def begin() -> AnyResponse:
        visit = secrets.token_urlsafe(6)
        shop.checkouts[visit] = Checkout()
        return redirect(url_for("checkout", visit=visit), 303)

    @app.get("/checkouts/<visit>")
    def checkout(visit: str) -> Response:
        return page(visit)

    @app.post("/checkouts/<visit>/verification")
    def verify(visit: str) -> AnyResponse:
        found = checkout_of(visit)
        shown = token(request.cookies.get(_COOKIE, ""), visit)
        if not hmac.compare_digest(shown, request.form.get("token", "")) or _is_robot():
            return page(visit, 403, "That did not look like a person.")
        if request.form.get("human") != "yes":
            return page(visit, 422, "The box is not ticked.")
        found.verified = True
        shop.tell("believes that this is a person: the box was ticked")
        return redirect(url_for("checkout", visit=visit), 303)

    @app.post("/checkouts/<visit>/order")
    def order(visit: str) -> Response:
        found = checkout_of(visit)
        if not found.verified:
            return page(visit, 403, "Only people may order here.")
        if found.order is None:
            found.order = 1000 + shop.orders + 1
            shop.tell(f"takes the order: one teapot, number {found.order}")
        return page(visit, 201)

    return app


def _is_robot() -> bool:
    # As walls do: whoever does not even claim to be a browser is none.
    return "Mozilla/" not in request.headers.get("User-Agent", "")
