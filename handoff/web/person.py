"""The person's page behind the link: who asks, what is blocking, the button, and how it ended.

GET and HEAD change nothing, not even "opened": scanners and previews open links (promise 4). Every act is
a POST with the page's own nonce, which is also the command's id, so that a form sent twice acts once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import redis
import structlog
from flask import Blueprint, Response, current_app, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from handoff import links
from handoff.errors import Invalid, Unavailable
from handoff.models import Actor, ActorKind, AskResult, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.policy import Contact
from handoff.states import CloseReason, Kind, State, Trigger
from handoff.store import sha256
from handoff.web.bodies import whole_body
from handoff.web.context import services

log = structlog.get_logger(__name__)
bp = Blueprint("person", __name__)

#: Acts per link and minute: far more than a person makes, far fewer than a script would.
RATE, RATE_WINDOW_S = 30, 60


@bp.get("/h/<path:given>")
def page(given: str) -> AnyResponse:
    """The page; the same for everybody who holds the link, and without any effect."""
    link, handoff, contact = _behind(given)
    if link is None or handoff is None:
        return _render("unknown.html", 404)
    return _page(link, handoff, contact)


@bp.get("/h/<given>/<any(acknowledgement, resolution, refusal):_>")
def page_again(given: str, _: str) -> AnyResponse:
    """A form's address without its form, as browsers ask for when they restore a tab: the page itself."""
    return page(given)


@bp.post("/h/<given>/acknowledgement")
def acknowledge(given: str) -> AnyResponse:
    """I'm on it."""
    return _act(given, Trigger.ACKNOWLEDGE)


@bp.post("/h/<given>/resolution")
def resolve(given: str) -> AnyResponse:
    """Done; or: this is the answer."""
    return _act(given, Trigger.RESOLVE)


@bp.post("/h/<given>/refusal")
def refuse(given: str) -> AnyResponse:
    """I can't, because…"""
    return _act(given, Trigger.DECLINE)


@bp.errorhandler(redis.RedisError)
@bp.errorhandler(Unavailable)
def not_now(error: Exception) -> AnyResponse:
    """Nothing was changed; the form can be sent again."""
    log.error("page_not_available", why=type(error).__name__)
    return _render("trouble.html", 503, what="We can’t reach our own memory right now.")


@bp.errorhandler(413)
def too_large(_: Exception) -> AnyResponse:
    """What was sent is more than any form of ours takes."""
    return _render("trouble.html", 413, what="That was too long to send.")


def _act(given: str, asked: Trigger) -> AnyResponse:
    # Whoever has no link is turned away before anything of the body is read.
    link, handoff, contact = _behind(given)
    if link is None or handoff is None:
        return _render("unknown.html", 404)
    whole_body()
    nonce = request.form.get("nonce", "")
    if not links.check_nonce(services().settings.secret_keys, link, nonce) or _from_elsewhere():
        return _page(link, handoff, contact, status=403, notice="This form is too old. Please try again.")
    if services().store.over_rate(f"link:{handoff.id}:{contact}", RATE, RATE_WINDOW_S):
        notice = "That was a lot at once. Please wait a minute."
        return _page(link, handoff, contact, status=429, notice=notice)
    try:
        outcome = _decide(handoff, contact, asked, nonce)
    except Invalid as error:
        notice = error.errors[0].message if error.errors else error.detail
        return _page(link, handoff, contact, status=422, notice=notice)
    if outcome.won:
        return redirect(f"{current_app.config['URL_PREFIX']}/h/{link}", 303)
    fresh = services().store.read(handoff.id) or handoff
    status = 410 if outcome.close_reason is CloseReason.NOBODY else 409
    return _page(link, fresh, contact, status=status, notice=_lost_notice(outcome))


def _decide(handoff: Handoff, contact: str, asked: Trigger, nonce: str) -> Outcome:
    # Browsers count a line end as one character and send two.
    do, answer = services().handoffs, request.form.get("answer", "").replace("\r\n", "\n")
    comment = request.form.get("comment", "").strip()[:1_000] or None
    decision = Decision(
        by=Actor(kind=ActorKind.CONTACT, id=contact, name=_name(contact)),
        channel=Channel.LINK,
        proof=Proof.LINK,
        at=services().clock(),
        comment=comment,
    )
    # The page's forms share its nonce; another form, or the same with other words in it, is another command.
    command = f"form-{asked}-{nonce}-{sha256(f'{answer}|{comment}')[:16]}"
    if asked is Trigger.ACKNOWLEDGE:
        return do.acknowledge(handoff.id, decision, command)
    if asked is Trigger.DECLINE:
        return do.decline(handoff.id, decision, command, known=handoff)
    result = AskResult(answer=answer) if handoff.kind is Kind.ASK else None
    return do.resolve(handoff.id, decision, command, result=result, known=handoff)


def _behind(given: str) -> tuple[str | None, Handoff | None, str]:
    """The link as sent, the handoff behind it and whose link it is."""
    link = links.tidy(given)
    found = services().store.link(link) if link else None
    handoff = services().store.read(found.handoff) if found else None
    if handoff is not None:
        structlog.contextvars.bind_contextvars(handoff=handoff.id)
    return link, handoff, found.contact if found else ""


def _from_elsewhere() -> bool:
    """Whether the browser itself says that another site sent this form
    (https://www.w3.org/TR/fetch-metadata/); older browsers say nothing, and the nonce decides."""
    return request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")


def _page(link: str, handoff: Handoff, contact: str, *, status: int = 200, notice: str = "") -> Response:
    mine = handoff.acknowledged is not None and handoff.acknowledged.by.id == contact
    over = not handoff.closed and services().clock() >= handoff.deadline
    return _render(
        "person.html",
        status,
        handoff=handoff,
        link=link,
        nonce=links.make_nonce(services().settings.secret_keys[0], link),
        notice=notice,
        mine=mine,
        holder=handoff.acknowledged.by.name if handoff.acknowledged and not mine else None,
        deadline=_moment(handoff.deadline),
        ended=_ending(handoff, contact) if handoff.closed else ("Time ran out." if over else None),
        closed_at=_moment(handoff.closed_at) if handoff.closed_at else None,
        answer=request.form.get("answer", ""),
        comment=request.form.get("comment", ""),
        asks=handoff.kind is Kind.ASK,
    )


def _render(template: str, status: int, **values: Any) -> Response:
    html = render_template(template, prefix=current_app.config["URL_PREFIX"], **values)
    response = make_response(html, status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _ending(handoff: Handoff, contact: str) -> str:
    """What happened, in one sentence for the person."""
    decision = handoff.settlement
    who = "An operator"
    if decision is not None:
        you = decision.by.kind is ActorKind.CONTACT and decision.by.id == contact
        who = "You" if you else decision.by.name or "Somebody"
    match handoff.state, handoff.close_reason:
        case State.RESOLVED, CloseReason.PERSON:
            return f"{who} {'answered' if handoff.kind is Kind.ASK else 'did it'}. {handoff.agent} goes on."
        case State.RESOLVED, _:
            return f"{handoff.agent} saw that it is gone, and goes on."
        case State.DECLINED, _:
            return f"{who} said that it can't be done. {handoff.agent} knows."
        case State.EXPIRED, CloseReason.UNREACHABLE:
            return "Nobody could be reached, and it ended."
        case State.EXPIRED, _:
            return "Time ran out, and nothing was done."
        case _, CloseReason.OPERATOR:
            return "An operator withdrew it."
        case _:
            return f"{handoff.agent} withdrew it."


def _lost_notice(outcome: Outcome) -> str:
    if outcome.state is State.ACKNOWLEDGED:
        return "Somebody else has it already. You can still finish it below."
    return "That came too late: it was over already. Nothing was changed."


def _name(contact_id: str) -> str | None:
    steps = services().handoffs.rules().policy.steps
    people: list[Contact] = [one for step in steps for one in step.contacts]
    return next((one.name for one in people if one.id == contact_id), None)


def _moment(moment: int) -> dict[str, str]:
    at = datetime.fromtimestamp(moment / 1000, UTC)
    return {"iso": at.isoformat(timespec="seconds"), "text": at.strftime("%d %B, %H:%M UTC").lstrip("0")}
