"""What the buttons of the person's page do: each is a POST with the page's own nonce, which is also the
command's id, so that a form sent twice acts once (promise 2). What the page then shows is person_page.py's.
"""

from __future__ import annotations

from dataclasses import replace

import structlog
from flask import current_app, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from handoff import links, pins
from handoff.errors import Invalid
from handoff.models import Actor, ActorKind, AskResult, Channel, Decision, Proof
from handoff.outcomes import Outcome
from handoff.states import CLOSED, CloseReason, Kind, State, Trigger
from handoff.store import sha256
from handoff.web import person_page, rates
from handoff.web.bodies import whole_body
from handoff.web.context import services
from handoff.web.person_page import Visit, contact_name, page

log = structlog.get_logger(__name__)

#: The last word of a form's address, and what it asks for.
VERBS = {
    "acknowledgement": Trigger.ACKNOWLEDGE,
    "extension": Trigger.EXTEND,
    "resolution": Trigger.RESOLVE,
    "refusal": Trigger.DECLINE,
}
#: The same for a route.
VERB = f"any({', '.join(VERBS)})"


def act(visit: Visit, asked: Trigger) -> AnyResponse:
    """Does it, and leads back to the page; or the page at once, saying why it was not done, with what was
    typed. Raises Unavailable and redis.RedisError when it may not have been done."""
    whole_body()
    answer, comment = _typed("answer"), _typed("comment")
    nonce = request.form.get("nonce", "")

    came_by = visit.proof

    def refused(status: int, notice: str) -> AnyResponse:
        return page(visit, status=status, notice=notice, answer=answer, comment=comment)

    if not genuine(visit.subject, nonce):
        return refused(403, "This form is too old. Please try again.")
    if rates.over(f"link:{visit.handoff.id}:{visit.contact}", rates.ACTS):
        return refused(429, rates.SLOWLY)
    said = comment.strip()[:1_000] or None
    # The page's forms share its nonce; another form, or the same with other words in it, is another command.
    command = f"form-{asked}-{nonce}-{sha256(f'{answer}|{said}')[:16]}"
    if asked in (Trigger.RESOLVE, Trigger.DECLINE) and person_page.needs_pin(visit):
        if wrong := _wrong_pin(visit, command):
            return refused(*wrong)
        visit = replace(visit, proof=Proof.LINK_PIN)
    try:
        outcome = _decide(visit, asked, command, answer, said)
    except Invalid as error:
        return refused(422, error.errors[0].message if error.errors else error.detail)
    if outcome.won:
        return redirect(f"{current_app.config['URL_PREFIX']}{visit.path}", 303)
    fresh = services().store.read(visit.handoff.id) or visit.handoff
    visit = replace(visit, handoff=fresh, proof=came_by)
    return refused(410 if outcome.close_reason is CloseReason.NOBODY else 409, _why_not(outcome))


def genuine(subject: str, nonce: str) -> bool:
    """Whether a form was loaded from us by this very visitor, as far as browsers can tell
    (https://www.w3.org/TR/fetch-metadata/); older ones say nothing, and the nonce decides."""
    here = request.headers.get("Sec-Fetch-Site", "same-origin") in ("same-origin", "none")
    return links.check_nonce(services().settings.secret_keys, subject, nonce) and here


def _typed(field: str) -> str:
    # Browsers count a line end as one character and send two.
    return request.form.get(field, "").replace("\r\n", "\n")


def _wrong_pin(visit: Visit, command: str) -> tuple[int, str] | None:
    """Why the PIN of this form is no proof, as a status and words; None when it is. A form that was carried
    out before is sent again by a browser that lost the reply: it is no further try."""
    _, before = services().store.read_for(visit.handoff.id, command)
    if before is not None:
        return None
    if rates.over(pins.counter(visit.contact), pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S):
        return 429, "Too many tries with your PIN. Please wait an hour, or ask an operator."
    contact = services().handoffs.contact(visit.contact)
    if not pins.matches(request.form.get("pin", "").strip(), contact.pin if contact else None):
        log.warning("pin_refused", contact=visit.contact)
        return 403, "That PIN is not right. Nothing was sent."
    return None


def _decide(visit: Visit, asked: Trigger, command: str, answer: str, comment: str | None) -> Outcome:
    do, handoff = services().handoffs, visit.handoff
    decision = Decision(
        by=Actor(kind=ActorKind.CONTACT, id=visit.contact, name=contact_name(visit.contact)),
        channel=Channel.LINK,
        proof=visit.proof,
        at=services().clock(),
        comment=comment,
    )
    match asked:
        case Trigger.ACKNOWLEDGE:
            return do.acknowledge(handoff.id, decision, command)
        case Trigger.EXTEND:
            return do.extend(handoff.id, decision, command, known=handoff)
        case Trigger.DECLINE:
            return do.decline(handoff.id, decision, command, known=handoff)
        case _:
            result = AskResult(answer=answer) if handoff.kind is Kind.ASK else None
            return do.resolve(handoff.id, decision, command, result=result, known=handoff)


def _why_not(outcome: Outcome) -> str:
    if outcome.state in CLOSED:
        return "That came too late: it was over already. Nothing was changed."
    if outcome.asked is Trigger.EXTEND:
        return "No more time can be had."
    if outcome.state is State.ACKNOWLEDGED:
        return "Somebody else has it already. You can still finish it below."
    return "That is not possible any more. Nothing was changed."
