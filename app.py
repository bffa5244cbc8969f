"""The Flask application. Nothing runs at import; `create_app` wires what bootstrap.py built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

import structlog
from flask import Flask, Response, request
from werkzeug.middleware.proxy_fix import ProxyFix

from handoff import bootstrap
from handoff.bootstrap import Services
from handoff.ids import HANDOFF, is_id
from handoff.web import (
    api,
    api_notices,
    card,
    code_page,
    console,
    console_needs,
    contacts,
    health,
    openapi,
    person,
    pin,
    problems,
    shown,
    signin,
)
from voice import (
    asking,
    cards,
    confirming,
    inbound_calls,
    inbound_texts,
    machines,
    on_the_line,
    screening,
    stopping,
    webhooks,
)

MAX_BODY_BYTES = 1_048_576

#: For everything that is not asked otherwise: nothing is loaded from elsewhere, nothing frames us.
CSP = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


def create_app(services: Services | None = None) -> Flask:
    """The web application; without `services` they are built from the environment.

    Raises config.BadSettings naming every variable that is missing or wrong, or a server that can't do it.
    """
    services = services or bootstrap.for_web()
    app = Flask(__name__, template_folder="handoff/web/templates", static_folder="handoff/web/static")
    prefix = urlsplit(services.settings.public_url).path
    app.config.update(
        MAX_CONTENT_LENGTH=MAX_BODY_BYTES, MAX_FORM_MEMORY_SIZE=MAX_BODY_BYTES, URL_PREFIX=prefix
    )
    app.url_map.strict_slashes = False
    # Or `//` in a path is answered by a redirect that trusts the Host header.
    app.url_map.merge_slashes = False
    app.extensions["handoff"] = services
    pages = (person, code_page, pin, signin, console, console_needs, health, card)
    calls = (on_the_line, confirming, stopping, machines, screening, asking, inbound_calls)
    for module in (api, api_notices, contacts, openapi, *pages, *calls, webhooks, inbound_texts, cards):
        app.register_blueprint(module.bp)
    openapi.register(app)
    shown.register(app)
    problems.install(app)
    app.before_request(_fresh_log_context)
    app.after_request(_guard)
    if services.settings.proxies:
        # Who asks, as the last of our own proxies says; everything else about a request is the public URL's.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=services.settings.proxies, x_proto=0)  # type: ignore[method-assign]  # Flask's documented way
    if prefix:
        app.wsgi_app = _Prefixed(app.wsgi_app, prefix)  # type: ignore[method-assign]  # Flask's documented way
    return app


class _Prefixed:
    """Serves the application under the path of its public URL, whether or not a proxy has cut it off."""

    def __init__(self, inner: Callable[..., Iterable[bytes]], prefix: str):
        self.inner = inner
        self.prefix = prefix

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == self.prefix or path.startswith(self.prefix + "/"):
            environ["PATH_INFO"] = path[len(self.prefix) :] or "/"
            environ["SCRIPT_NAME"] = environ.get("SCRIPT_NAME", "") + self.prefix
        return self.inner(environ, start_response)


def _fresh_log_context() -> None:
    structlog.contextvars.clear_contextvars()
    view = request.view_args or {}
    # Only what is an id: anything else in its place is a stranger's text, and would get into every line.
    if is_id(view.get("handoff_id", ""), HANDOFF):
        structlog.contextvars.bind_contextvars(handoff=view["handoff_id"])


def _guard(response: Response) -> Response:
    """Headers that every answer carries."""
    headers = response.headers
    headers.setdefault("Content-Security-Policy", CSP)
    headers.setdefault("X-Content-Type-Options", "nosniff")
    headers.setdefault("X-Frame-Options", "DENY")
    # With `no-referrer`, browsers send `Origin: null` with our own forms; nothing leaves our origin here.
    headers.setdefault("Referrer-Policy", "same-origin")
    headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
    if request.is_secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    return response
