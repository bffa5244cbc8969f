"""Operators sign in with their API key, and who is signed in: a sealed cookie that names the key's record.

The cookie opens nothing by itself: with every request the record is read anew, so that a revoked key is
signed out at once. What an operator may see and do is console.py's business. Where the list is open (the
demo, HANDOFF_OPEN_CONSOLE) nobody needs to sign in.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

import redis
import structlog
from flask import Blueprint, Response, current_app, g, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from handoff import keys, links, sessions
from handoff.errors import Unavailable
from handoff.models import Actor, ActorKind
from handoff.moments import HOUR, SECOND
from handoff.rights import ApiKey
from handoff.web import context, rates
from handoff.web.bodies import whole_body
from handoff.web.context import services

log = structlog.get_logger(__name__)
bp = Blueprint("signin", __name__)

COOKIE, PURPOSE, LASTS_MS = "handoff_operator", "operator", 12 * HOUR
#: Tries per address and minute.
RATE = 10
#: What forms are bound to where there is no session yet, and where none is needed.
NO_SESSION, OPEN = "sign-in", "open"


@dataclass(frozen=True)
class Operator:
    """Who looks at the operator's pages. `actor` goes on the record with what they decide; `session` is what
    their forms' nonces are bound to."""

    actor: Actor
    session: str
    key: ApiKey | None = None  # None: the list is open, and nobody has signed in

    @property
    def name(self) -> str:
        """As the pages call them."""
        return self.actor.name or self.actor.id


def current_operator() -> Operator | None:
    """Who this request comes from, looked up once per request; None when nobody is signed in."""
    if "operator" not in g:
        g.operator = _signed_in() or _anybody()
    return cast("Operator | None", g.operator)


def nonce_for(operator: Operator | None) -> str:
    """A fresh nonce for a form of theirs."""
    return links.make_nonce(services().settings.secret_keys[0], operator.session if operator else NO_SESSION)


def genuine(operator: Operator | None) -> bool:
    """Whether this POST's form was loaded from us by this very session, as far as browsers can tell
    (https://www.w3.org/TR/fetch-metadata/); older ones say nothing, and the nonce decides."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return False
    session = operator.session if operator else NO_SESSION
    return links.check_nonce(services().settings.secret_keys, session, request.form.get("nonce", ""))


@bp.get("/sign-in")
def form() -> AnyResponse:
    """The form; for who is signed in already, the way on."""
    operator = current_operator()
    if operator is not None and operator.key is not None:
        return redirect(_onward(request.args.get("next", "")), 303)
    return sign_in_page()


@bp.post("/sign-in")
def sign_in() -> AnyResponse:
    """Takes an operator's key and gives a cookie for it."""
    whole_body()
    if not genuine(None):
        return sign_in_page(403, "This form is too old. Please try again.")
    if rates.over_from_here("sign-in", RATE):
        return sign_in_page(429, "Too many tries from your address. Please wait a minute.")
    key = request.form.get("key", "").strip()
    record = keys.recognise(services().store, key, services().clock()) if key else None
    if record is None:
        log.warning("sign_in_refused")
        return sign_in_page(403, "This key is not known here, or it was revoked.")
    if "operator" not in record.scopes:
        log.warning("sign_in_refused", key_id=record.id)
        return sign_in_page(
            403,
            f"This is the key of an agent ({record.agent}). An agent can’t answer its own requests, so it "
            "can’t sign in. You need an operator’s key; “handoff keys create NAME --operator” makes one.",
        )
    log.info("signed_in", key_id=record.id)
    response = redirect(_onward(request.form.get("next", "")), 303)
    expires = services().clock() + LASTS_MS
    sealed = sessions.seal(services().settings.secret_keys[0], PURPOSE, record.id, expires)
    response.set_cookie(COOKIE, sealed, max_age=LASTS_MS // SECOND, httponly=True, **_where())
    return response


@bp.post("/sign-out")
def sign_out() -> AnyResponse:
    """Forgets the cookie."""
    whole_body()
    operator = current_operator()
    if operator is not None and not genuine(operator):
        return page("console_trouble.html", 403, what="This page is too old.", operator=operator)
    response = redirect(_onward("/"), 303)
    response.delete_cookie(COOKIE, httponly=True, **_where())
    return response


@bp.errorhandler(redis.RedisError)
@bp.errorhandler(Unavailable)
def not_now(error: Exception) -> AnyResponse:
    """The form can be sent again."""
    log.error("sign_in_not_available", why=type(error).__name__)
    return page("console_trouble.html", 503, what="We can’t reach our own memory right now.")


def sign_in_page(
    status: int = 200, notice: str = "", *, onward: str | None = None, typed: str = ""
) -> Response:
    """The form to sign in with, and why it is shown. `onward` is where to go afterwards, if not as asked;
    `typed` is what was written and could not be taken."""
    onward = request.values.get("next", "") if onward is None else onward
    return page("signin.html", status, notice=notice, onward=onward if _local(onward) else "", typed=typed)


def page(template: str, status: int = 200, **values: Any) -> Response:
    """One of the operator's pages: never cached, never indexed."""
    operator = values.setdefault("operator", None)
    prefix = current_app.config["URL_PREFIX"]
    html = render_template(template, prefix=prefix, nonce=nonce_for(operator), **values)
    response = make_response(html, status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _signed_in() -> Operator | None:
    sealed = request.cookies.get(COOKIE)
    at = services()
    key_id = sessions.unseal(at.settings.secret_keys, PURPOSE, sealed, at.clock()) if sealed else None
    record = at.store.api_key(key_id) if key_id else None
    if sealed is None or record is None or record.revoked is not None or "operator" not in record.scopes:
        return None
    return Operator(actor=context.actor(record), session=sealed, key=record)


def _anybody() -> Operator | None:
    """Whoever looks, where the list is open; but only at an address of ours, so that a page from elsewhere
    whose name was made to lead here (DNS rebinding) reads and does nothing."""
    settings = services().settings
    host = urlsplit(f"//{request.host}").hostname
    if not settings.open_console or host is None:
        return None
    if host != urlsplit(settings.public_url).hostname and not _loopback(host):
        return None
    return Operator(actor=Actor(kind=ActorKind.OPERATOR, id="console", name="demo operator"), session=OPEN)


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _local(path: str) -> bool:
    """Whether this is a path of ours and nothing else: browsers take `//` and `\\` for another host, and
    drop tabs and line ends before they look (https://url.spec.whatwg.org/#concept-basic-url-parser)."""
    return bool(re.fullmatch(r"/(?![/\\])[!-\[\]-~]*", path)) and len(path) <= 500


def _onward(path: str) -> str:
    # What is asked for never carries the prefix, which may be a path that we have ourselves.
    prefix: str = current_app.config["URL_PREFIX"]
    return prefix + (path if _local(path) else "/")


def _where() -> dict[str, Any]:
    """Where the cookie goes: to us alone, and over https when that is how we are reached."""
    return {
        "path": current_app.config["URL_PREFIX"] or "/",
        "secure": services().settings.public_url.startswith("https:"),
        "samesite": "Lax",
    }
