"""The agent's browser in a frame of our own: a document that holds nothing but the vendor's page.

Its policy allows the one origin that the live view has, so that the person's page itself needs to allow
none but ours. Who may see it is decided by the callers; a frame that refuses to be one can't be noticed from
here, which is why "Open full size" is always beside it.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import Response, current_app, make_response, render_template

from handoff.models import ActorKind, Handoff
from handoff.web.context import services

_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\.?", re.ASCII
)


def frame(handoff: Handoff, contact: str) -> Response:
    """The frame's document for this contact: the live view while they have it, else a line that says why
    not."""
    origin = origin_of(handoff.live_view_url, services().settings.public_url)
    over = handoff.closed or services().clock() >= handoff.deadline
    what = ""
    if over:
        what = "It is over. There is nothing to see here any more."
    elif handoff.live_view_url is None:
        what = "The agent shows no browser."
    elif not handoff.held_by(ActorKind.CONTACT, contact):
        what = "First say on the page that you’re on it; then the browser is shown."
    elif origin is None:
        what = "This browser can’t be shown inside the page. Please open it full size."
    prefix = current_app.config["URL_PREFIX"]
    url = None if what else handoff.live_view_url
    response = make_response(render_template("person_view.html", prefix=prefix, url=url, what=what))
    frames = "'none'" if what else origin
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'self'; frame-src {frames}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    )
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def origin_of(url: str | None, public_url: str) -> str | None:
    """The origin of a live view as a policy can name it: scheme, host and port, and nothing else of the URL.

    None for what can't be framed: another scheme than https (http only where we are http ourselves, else a
    browser blocks it as mixed content), our own pages, and hosts that a policy has no form for, such as IPv6
    addresses (https://www.w3.org/TR/CSP3/#grammardef-host-source).
    """
    ours = _parts(public_url)
    theirs = _parts(url or "")
    if ours is None or theirs is None or theirs == ours:
        return None
    scheme, host, port = theirs
    if scheme != "https" and (scheme, ours[0]) != ("http", "http"):
        return None
    return f"{scheme}://{host}:{port}"


def may_be_linked(url: str | None) -> bool:
    """Whether a page may have this as the target of a link: a web address, and no script."""
    try:
        return url is not None and urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False


def _parts(url: str) -> tuple[str, str, int] | None:
    """Scheme, host in ASCII and port of a URL, or None when one of them is nothing we can name."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError:  # a port that is no number, brackets that do not match, a name that IDNA refuses
        return None
    if not _HOST.fullmatch(host):
        return None
    default = {"http": 80, "https": 443}.get(parts.scheme)
    if default is None or port == 0:
        return None
    return parts.scheme, host, default if port is None else port
