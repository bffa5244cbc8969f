"""The page of a handoff that nobody was rung for (`notify: "none"`): it asks who you are first.

The requester has this page's address, so that holding it proves nothing. Until a contact has given their
PIN, or an operator has signed in, the page is the same whatever its address names, and so is its refusal:
not even whether there is a handoff can be told. After that it is the person's page (person_page.py), and
what is decided on it is on record as `link+pin`.
"""

from __future__ import annotations

import hmac
import unicodedata
from urllib.parse import quote

import redis
import structlog
from flask import Blueprint, current_app, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from handoff import links, pins, sessions
from handoff.errors import BadRequest, NotFound, Unavailable
from handoff.ids import HANDOFF, is_id
from handoff.models import Handoff, Proof
from handoff.moments import MINUTE, SECOND
from handoff.policy import Contact
from handoff.web import person, person_page, person_view, rates
from handoff.web.bodies import whole_body
from handoff.web.context import services
from handoff.web.person_acts import VERB, VERBS, act, genuine
from handoff.web.person_page import Visit, rendered
from handoff.web.signin import current_operator

log = structlog.get_logger(__name__)
bp = Blueprint("pin", __name__)

COOKIE, PURPOSE, LASTS_MS = "handoff_pin", "pin", 30 * MINUTE
#: Tries for one handoff in ten minutes, and from one address in a minute.
TRIES, TRIES_WINDOW_S, TRIES_FROM_HERE = 10, 600, 10
REFUSED = "This name and PIN don’t fit, or there is nothing here for you."


@bp.get("/p/<handoff_id>")
def page(handoff_id: str) -> AnyResponse:
    """The person's page for who has shown who they are, else the question; without any effect."""
    if visit := _visit(handoff_id):
        return person_page.page(visit)
    if current_operator() is not None and is_id(handoff_id, HANDOFF):
        return redirect(f"{current_app.config['URL_PREFIX']}/handoffs/{handoff_id}", 303)
    return _ask(handoff_id)


@bp.post("/p/<handoff_id>")
def show_pin(handoff_id: str) -> AnyResponse:
    """Takes a name and a PIN and gives a cookie for this page."""
    whole_body()
    name = request.form.get("name", "")
    if not genuine(_subject(handoff_id), request.form.get("nonce", "")):
        return _ask(handoff_id, 403, "This form is too old. Please try again.", name)
    # Everything is looked at in any case, so that neither words nor time tell what was wrong.
    handoff = services().store.read(handoff_id) if is_id(handoff_id, HANDOFF) else None
    handoff = handoff if handoff is not None and handoff.notify == "none" else None
    named = _named(name)
    if _too_often(handoff, named):
        return _ask(handoff_id, 429, "Too many tries. Please wait, or ask an operator to sign in.", name)
    given = request.form.get("pin", "").strip()
    right = {one.id: pins.matches(given, one.pin) for one in named} or {"": pins.matches(given, None)}
    contact = next((one for one in named if right[one.id]), None)
    if contact is None or handoff is None:
        log.warning("pin_refused")
        return _ask(handoff_id, 403, REFUSED, name)
    log.info("pin_accepted", handoff=handoff.id, contact=contact.id)
    where = f"{current_app.config['URL_PREFIX']}/p/{handoff.id}"
    expires = services().clock() + LASTS_MS
    secret = services().settings.secret_keys[0]
    response = redirect(where, 303)
    response.set_cookie(
        COOKIE,
        sessions.seal(secret, PURPOSE, f"{handoff.id}|{contact.id}|{pins.mark(contact.pin or '')}", expires),
        max_age=LASTS_MS // SECOND,
        path=where,
        httponly=True,
        secure=services().settings.public_url.startswith("https:"),
        samesite="Strict",
    )
    return response


@bp.get(f"/p/<handoff_id>/<{VERB}:_>")
def page_again(handoff_id: str, _: str) -> AnyResponse:
    """A form's address without its form: the page itself."""
    return page(handoff_id)


@bp.post(f"/p/<handoff_id>/<{VERB}:verb>")
def button(handoff_id: str, verb: str) -> AnyResponse:
    """One of the page's buttons was pressed."""
    if visit := _visit(handoff_id):
        return act(visit, VERBS[verb])
    whole_body()
    typed = "\n".join(filter(None, (request.form.get(one, "") for one in ("answer", "comment"))))
    notice = "Nothing was sent: please show again that it is you, and send it once more."
    return _ask(handoff_id, 403, notice, typed=typed)


@bp.get("/p/<handoff_id>/news")
def news(handoff_id: str) -> AnyResponse:
    """What the page would show now; see person_page.news."""
    visit = _visit(handoff_id)
    return person_page.news(visit) if visit else _ask(handoff_id, 403)


@bp.get("/p/<handoff_id>/view")
def view(handoff_id: str) -> AnyResponse:
    """The frame with the agent's browser."""
    visit = _visit(handoff_id)
    return person_view.frame(visit.handoff, visit.contact) if visit else _ask(handoff_id, 403)


bp.register_error_handler(redis.RedisError, person.not_now)
bp.register_error_handler(Unavailable, person.not_now)
bp.register_error_handler(413, person.too_large)
bp.register_error_handler(NotFound, person.gone)
bp.register_error_handler(BadRequest, person.broken_off)


def _visit(handoff_id: str) -> Visit | None:
    """Who this browser has shown to be, on this handoff and for as long as the cookie is good."""
    sealed = request.cookies.get(COOKIE, "")
    at = services()
    subject = sessions.unseal(at.settings.secret_keys, PURPOSE, sealed, at.clock()) or ""
    sealed_id, contact, mark = [*subject.split("|"), "", ""][:3]
    if not contact or sealed_id != handoff_id:
        return None
    # Whoever has another PIN now, or none, or is no contact any more, has lost this way in as well.
    known = at.handoffs.contact(contact)
    if known is None or not known.pin or not hmac.compare_digest(mark, pins.mark(known.pin)):
        return None
    handoff = at.store.read(handoff_id)
    if handoff is None or handoff.notify != "none":
        return None
    return Visit(f"/p/{handoff_id}", sealed, handoff, contact, Proof.LINK_PIN)


def _ask(
    handoff_id: str, status: int = 200, notice: str = "", name: str = "", typed: str = ""
) -> AnyResponse:
    nonce = links.make_nonce(services().settings.secret_keys[0], _subject(handoff_id))
    at = f"{current_app.config['URL_PREFIX']}/p/{quote(handoff_id, safe='')}"
    return rendered(
        "pin.html",
        status,
        at=at,
        handoff_id=handoff_id,
        nonce=nonce,
        notice=notice,
        name=name,
        typed=typed,
    )


def _subject(handoff_id: str) -> str:
    return f"pin-form {handoff_id}"


def _named(name: str) -> list[Contact]:
    """The contacts of this name, however they write it; two people may have the same. Of the enrolled ones,
    who may be thousands, the one with this id."""
    wanted = _folded(name)
    people = services().handoffs.rules().people
    given = [one for one in people.contacts if wanted in (_folded(one.name), one.id)]
    enrolled = None if given else people.contact(wanted)
    return [enrolled] if enrolled else given


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def _too_often(handoff: Handoff | None, named: list[Contact]) -> bool:
    """Counts this try in every way, and says whether it was one too many in any.

    Tries at a handoff that does not exist count for their address alone: else anybody could lock a person
    out without knowing a handoff, and a name could be told from a made-up one.
    """
    many = rates.over_from_here("pin", TRIES_FROM_HERE)
    if handoff is None:
        return many
    counts = [rates.over(f"pin:{handoff.id}", TRIES, TRIES_WINDOW_S)]
    for one in named:
        counter = pins.counter(one.id, anybody=True)
        counts.append(rates.over(counter, pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S))
    return many or any(counts)
