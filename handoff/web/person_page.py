"""What the person's page shows of a handoff, for whoever has come to it: by link, or by name and PIN.

Reading it changes nothing. How a visitor is known is person.py's and pin.py's business, what their buttons
do person_acts.py's. The part of the page that changes is also sent alone, to the script that keeps an open
page fresh (static/page.js).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import Response, current_app, make_response, render_template, request

from handoff import links, proofs
from handoff.errors import Invalid
from handoff.models import ActorKind, Handoff, Proof
from handoff.moments import MINUTE, SECOND
from handoff.states import CloseReason, Kind, State
from handoff.web import shown
from handoff.web.context import services
from handoff.web.person_view import may_be_linked
from handoff.web.waits import NewsPoll, asked_for

#: More time is offered in portions of this many minutes, as lifecycle.EXTENSION_MS gives it.
PORTION_MIN = 10
#: Open pages of one handoff that wait for its news in one process; more are told to ask again.
MOST_ONLOOKERS = 40


@dataclass(frozen=True)
class Visit:
    """Somebody at the page of a handoff: where the page is, as whom they came, and what shows it."""

    path: str  # "/h/<link>" or "/p/<handoff id>", without the prefix
    subject: str  # what the nonces of its forms are bound to
    handoff: Handoff
    contact: str
    proof: Proof


@dataclass(frozen=True)
class Ending:
    """How it ended, in words for the person. `tone` is good, bad or nothing."""

    tone: str
    headline: str
    sentence: str
    by: str | None = None  # who it was, where the sentence names nobody
    yours: bool = False


def needs_pin(visit: Visit) -> bool:
    """Whether what would decide it on this page needs the contact's PIN as well."""
    return not proofs.enough(visit.handoff.proof, visit.proof)


def page(
    visit: Visit, *, status: int = 200, notice: str = "", answer: str = "", comment: str = ""
) -> Response:
    """The whole page. `answer` and `comment` are what was typed and could not be taken."""
    return rendered("person.html", status, **_values(visit, notice=notice, answer=answer, comment=comment))


def news(visit: Visit) -> Response:
    """The changing part as JSON once the handoff is not as `seen` says; 204 when it still is after `wait`.

    Raises Invalid for nonsense in either.
    """
    seen, at, app = _seen(), services(), current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy's

    def tell(handoff: Handoff) -> Response:
        if handoff.rev == seen:
            return _private(Response(status=204))
        fresh = Visit(visit.path, visit.subject, handoff, visit.contact, visit.proof)
        with app.app_context():
            html = render_template("person_main.html", **_values(fresh))
            return _private(app.json.response({"rev": handoff.rev, "html": html}))

    wait_s = asked_for()
    if visit.handoff.rev != seen or not wait_s or request.method == "HEAD":
        return tell(visit.handoff)
    if at.waiting.full or at.waiting.count(visit.handoff.id) >= MOST_ONLOOKERS:
        response = tell(visit.handoff)
        response.headers["Retry-After"] = "5"
        return response
    waiter = at.waiting.register(visit.handoff.id, closed_only=False)
    try:
        handoff = at.handoffs.get(visit.handoff.id)
    except BaseException:
        waiter.close()
        raise
    if handoff.rev != seen:
        waiter.close()
        return tell(handoff)
    return NewsPoll(at, waiter, wait_s, seen, tell)


def rendered(template: str, status: int, **values: Any) -> Response:
    """A page that is never cached and never indexed."""
    values.setdefault("prefix", _prefix())
    return _private(make_response(render_template(template, **values), status))


def ending(handoff: Handoff, contact: str, now: int) -> Ending | None:
    """How it ended; None while it is open and in time."""
    if not handoff.closed:
        over = now >= handoff.deadline
        return Ending("", "Time ran out.", "Nothing more can be sent from here.") if over else None
    agent = shown.one_line(handoff.agent)
    by = handoff.settlement.by if handoff.settlement else handoff.closed_by
    name = (by.name or by.id) if by else None
    yours = by is not None and by.kind is ActorKind.CONTACT and by.id == contact
    who = "You" if yours else name or "Somebody"
    match handoff.state, handoff.close_reason:
        case State.RESOLVED, CloseReason.PERSON:
            did = "answered" if handoff.kind is Kind.ASK else "did it"
            return Ending("good", "Done.", f"{who} {did}. {agent} goes on.", yours=yours)
        case State.RESOLVED, CloseReason.OBSERVED:
            return Ending("good", "Done.", f"{agent} saw that it is gone, and goes on.")
        case State.RESOLVED, _:
            return Ending("", "It was answered by default.", f"Nobody answered in time. {agent} goes on.")
        case State.DECLINED, CloseReason.PERSON:
            sentence = f"{who} said that it can’t be done. {agent} knows."
            return Ending("bad", "It can’t be done.", sentence, yours=yours)
        case State.DECLINED, _:
            return Ending("bad", "It counts as a no.", f"Nobody answered in time, as {agent} knows.")
        case State.EXPIRED, CloseReason.UNREACHABLE:
            return Ending("", "It ended.", f"Nobody could be reached, and nothing was done. {agent} knows.")
        case State.EXPIRED, _:
            return Ending("", "Time ran out.", f"Nobody was in time, and nothing was done. {agent} knows.")
        case _, CloseReason.OPERATOR:
            return Ending("", "It was withdrawn.", "An operator withdrew it.", name)
        case _, CloseReason.AGENT_GONE:
            return Ending("", "It was withdrawn.", f"{agent} stopped waiting, and nothing was done.")
        case _:
            return Ending("", "It was withdrawn.", f"{agent} withdrew it.")


def contact_name(contact_id: str) -> str | None:
    """What the contact with this id is called, as far as they can still be reached."""
    contact = services().handoffs.contact(contact_id)
    return contact.name if contact else None


def has_pin(contact_id: str) -> bool:
    """Whether the contact with this id has a PIN."""
    contact = services().handoffs.contact(contact_id)
    return contact is not None and contact.pin is not None


def _values(visit: Visit, *, notice: str = "", answer: str = "", comment: str = "") -> dict[str, Any]:
    handoff, now = visit.handoff, services().clock()
    acknowledged, over = handoff.acknowledged, ending(handoff, visit.contact, now)
    mine = handoff.held_by(ActorKind.CONTACT, visit.contact)
    holder = (acknowledged.by.name or acknowledged.by.id) if acknowledged and not mine else None
    free = acknowledged is None
    return {
        "handoff": handoff,
        "at": _prefix() + visit.path,
        "prefix": _prefix(),
        "now": now,
        "nonce": links.make_nonce(services().settings.secret_keys[0], visit.subject),
        "notice": notice,
        "asks": handoff.kind is Kind.ASK,
        "needs_pin": needs_pin(visit),
        "has_pin": has_pin(visit.contact),
        "ending": over,
        "say": _say(handoff, over, mine, holder),
        "odd": shown.suspicious(handoff.reason + handoff.agent + (handoff.label or "")),
        "mine": mine,
        "free": free,
        "holder": holder,
        "held_until": handoff.acknowledged_until or handoff.deadline,
        "shows": may_be_linked(handoff.live_view_url) and (mine or free),
        "more_min": min(PORTION_MIN, (handoff.latest_deadline - handoff.deadline) // MINUTE),
        "extended": handoff.deadline > handoff.created_at + round(handoff.timeout_s * SECOND),
        "answer": answer,
        "comment": comment,
    }


def _say(handoff: Handoff, over: Ending | None, mine: bool, holder: str | None) -> str:
    """How things stand, in one sentence for ears; read out when it becomes another one."""
    if over is not None:
        return over.sentence if handoff.closed else over.headline
    who = "You are on it" if mine else f"{holder} is on it" if holder else "Nobody is on it"
    return f"{who}. Time is until {shown.moment(handoff.deadline)['text']}."


def _seen() -> int:
    text = request.args.get("seen", "-1")
    if not text.removeprefix("-").isdecimal() or len(text) > 12:
        raise Invalid.field("seen", "must be the number of the version that was seen")
    return int(text)


def _prefix() -> str:
    return str(current_app.config["URL_PREFIX"])


def _private(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response
