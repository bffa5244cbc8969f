"""The page for a six-digit code: what a link opens, for somebody to whom no text went out.

The code was said by the voice, or stands in a text without a link. It opens the person's own page once; what
is done there is person.py's business. GET changes nothing, and every wrong code gets the same words.

What guessing brings: there are 1,000,000 codes. Here only those count that the voice said, which are live for
a quarter of an hour at most; those that are texted to somebody who can't see a page live longer and open
nothing here. With 20 of them live and TRIES_AN_HOUR in vain for the whole installation, whoever guesses
without a pause has a chance of 20 * 60 / 1,000,000, or one in 800, to hit one in an hour, and the log is full
of it. Right codes don't count, and neither do the tries of an address that has had its own. Whoever uses the
tries up from several addresses keeps others from this page for an hour; links and keys go on working.
"""

from __future__ import annotations

import redis
import structlog
from flask import Blueprint, current_app, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from handoff import code_book, links
from handoff.errors import BadRequest, Unavailable
from handoff.moments import HOUR, SECOND
from handoff.store import Code
from handoff.web import person, rates
from handoff.web.bodies import whole_body
from handoff.web.context import services
from handoff.web.person_acts import genuine
from handoff.web.person_page import rendered

log = structlog.get_logger(__name__)
bp = Blueprint("code_page", __name__)

#: Codes in vain in an hour, from one address and for the whole installation.
TRIES_FROM_HERE, TRIES_AN_HOUR, WINDOW_S = 10, 60, HOUR // SECOND
SUBJECT, COUNTER = "code-form", "codes"
REFUSED = "This code opens nothing. It has six digits, and works once and not for long."


@bp.get("/c")
def page() -> AnyResponse:
    """Asks for the code, without any effect."""
    return _ask()


@bp.post("/c")
def enter() -> AnyResponse:
    """Takes a code and leads to the page of whom it belongs to. The same form again leads there again."""
    whole_body()
    nonce = request.form.get("nonce", "")
    if not genuine(SUBJECT, nonce):
        return _ask(403, "This form is too old. Please enter the code again.")
    at = services()
    here = f"code:{rates.origin()}"
    # In this order: else one address could use up what is there for all.
    if rates.over(here, TRIES_FROM_HERE, WINDOW_S) or rates.over(COUNTER, TRIES_AN_HOUR, WINDOW_S):
        log.warning("codes_tried_too_often")
        return _ask(429, "Too many codes were tried. Please wait, or use the phone or the link in a text.")
    keys = at.settings.secret_keys
    found = code_book.find(at.handoffs, keys, request.form.get("code", ""))
    command = f"form-{nonce.partition('.')[0]}"
    if found is None or not _opens(found[1]) or not code_book.use(at.handoffs, found, command):
        log.warning("code_refused")
        return _ask(403, REFUSED)
    for counter in (here, COUNTER):
        at.store.uncount(counter, WINDOW_S)
    _, code = found
    log.info("code_used", handoff=code.handoff, contact=code.contact)
    link = code_book.link_of(at.handoffs, keys, code)
    return redirect(f"{current_app.config['URL_PREFIX']}/h/{link}", 303)


bp.register_error_handler(redis.RedisError, person.not_now)
bp.register_error_handler(Unavailable, person.not_now)
bp.register_error_handler(413, person.too_large)
bp.register_error_handler(BadRequest, person.broken_off)


def _opens(code: Code) -> bool:
    """Whether a page is of use to whom the code belongs to, and they are still among the people."""
    contact = services().handoffs.contact(code.contact)
    return contact is not None and contact.screen


def _ask(status: int = 200, notice: str = "") -> AnyResponse:
    nonce = links.make_nonce(services().settings.secret_keys[0], SUBJECT)
    return rendered(
        "code.html", status, at=f"{current_app.config['URL_PREFIX']}/c", nonce=nonce, notice=notice
    )
