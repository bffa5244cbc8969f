"""Sending a text: the person's own link, or a code for who can't see a page. Never asked for twice.

Who gets one, and when, is ladder.py's business, what it says sms.py's; how far it came webhooks.py is told.
"""

from __future__ import annotations

import structlog

from handoff import attempts, ids, links, opt_outs
from handoff.effects import Effect
from handoff.models import Attempt, Channel, Handoff
from handoff.moments import SECOND
from handoff.notices import Seen, Trouble
from handoff.people import mask
from handoff.states import Disposition
from handoff.store import Hold
from voice import by_code, sms, troubles, urls
from voice.gateway import GatewayError, Permanent, Retryable
from voice.reaching import REFUSED_TRIES, REFUSED_WAIT_MS, Services

log = structlog.get_logger(__name__)

#: A text is worth nothing after the deadline; Twilio takes 1 to 36,000 s
#: (https://www.twilio.com/docs/messaging/api/message-resource).
LONGEST_VALID_S = 36_000


def send_text(services: Services, effect: Effect) -> bool:
    """Sends the text of an attempt, with the person's own link. True when the effect is done."""
    handoff = services.store.read(effect.subject)
    attempt = handoff.attempt(effect.attempt or "") if handoff else None
    if handoff is None or attempt is None or attempt.ended_at is not None:
        return True
    now = services.handoffs.clock()
    contact = services.handoffs.contact(attempt.contact, handoff=handoff)
    number = contact.number if contact else None
    if handoff.closed or now >= handoff.deadline or number is None:
        _end_text(services, handoff, attempt, Disposition.WITHDRAWN)
        return True
    sender = services.settings.text_sender
    stopped = services.handoffs.opt_outs.of(Channel.TEXT, number, sender)
    if stopped is not None and not stopped.tried_again:
        _end_text(services, handoff, attempt, Disposition.OPTED_OUT, detail="they texted STOP")
        return True
    if attempt.asked_at is None and (
        hold := services.pacer.hold_text(attempt.id, number, handoff.urgency, now)
    ):
        return _hold_text(services, effect, handoff, attempt, hold)
    run = ids.random_text(12)
    services.handoffs.change(
        handoff.id, lambda fresh, at: attempts.text_asked(fresh, attempt.id, run, at, number=number)
    )
    asked = services.handoffs.get(handoff.id).attempt(attempt.id)
    if asked is None or asked.asked_run != run:
        # An earlier run asked the provider and never came back: whether the text went out is unknown, and
        # it is not sent twice. A callback may still say.
        _end_text(services, handoff, attempt, Disposition.UNKNOWN)
        return True
    body = _words(services, handoff, attempt)
    try:
        placed = services.gateway.send_text(
            number,
            body,
            status_url=services.settings.public_url + urls.text_status(handoff.id, attempt.id),
            valid_s=max(1, min(LONGEST_VALID_S, (handoff.deadline - now) // SECOND)),
        )
    except Retryable as error:
        services.pacer.was_not_sent(attempt.id, number)
        return _text_again(services, effect, handoff, attempt, error)
    except GatewayError as error:
        what = error.disposition if isinstance(error, Permanent) else Disposition.UNKNOWN
        trouble = troubles.of_refusal(error, Seen.TEXT, sender) if isinstance(error, Permanent) else None
        log.warning("text_failed", number=mask(number), code=error.code, why=str(error), disposition=what)
        _end_text(services, handoff, attempt, what, detail=error.detail, trouble=trouble)
        return True
    log.info("text_accepted", number=mask(number), provider_id=placed.provider_id)
    services.handoffs.change(
        handoff.id,
        lambda fresh, at: attempts.text_accepted(
            fresh, attempt.id, placed.provider_id, at, proven=opt_outs.taken(number, sender, stopped)
        ),
    )
    return True


def _words(services: Services, handoff: Handoff, attempt: Attempt) -> str:
    """The person's own link and what it is about; for who can't see a page, a code to call with."""
    if not by_code.sees_pages(services, attempt.contact):
        return by_code.text_without_link(services, handoff, attempt)
    link = links.make(services.settings.secret_keys[0], handoff.id, attempt.contact)
    services.store.put_link(link, handoff.id, attempt.contact)
    return sms.text_for(handoff, services.settings.public_url + urls.page(link))


def _hold_text(services: Services, effect: Effect, handoff: Handoff, attempt: Attempt, hold: Hold) -> bool:
    """This number was texted as often as it may be: the text is due again when it may, or when it is too
    late for it, whichever comes first. Closing the handoff withdraws it."""
    services.handoffs.change(
        handoff.id, lambda fresh, at: attempts.hold(fresh, attempt.id, hold.why, hold.until, at)
    )
    now = services.handoffs.clock()
    services.store.postpone(effect, max(min(hold.until, handoff.deadline), now + 1), now, failed=False)
    return True


def _text_again(
    services: Services, effect: Effect, handoff: Handoff, attempt: Attempt, error: Retryable
) -> bool:
    log.warning("text_not_processed", code=error.code, tries=effect.tries)
    if effect.tries >= REFUSED_TRIES:
        _end_text(services, handoff, attempt, Disposition.PROVIDER_ERROR, detail=error.detail)
        return True
    services.handoffs.change(handoff.id, lambda fresh, at: attempts.text_not_processed(fresh, attempt.id, at))
    now = services.handoffs.clock()
    services.store.postpone(effect, now + REFUSED_WAIT_MS * (effect.tries + 1), now)
    return False


def _end_text(
    services: Services,
    handoff: Handoff,
    attempt: Attempt,
    disposition: Disposition,
    detail: str | None = None,
    trouble: Trouble | None = None,
) -> None:
    rules = services.handoffs.rules()
    services.handoffs.change(
        handoff.id,
        lambda fresh, at: attempts.end_attempt(
            fresh, attempt.id, disposition, rules, at, detail=detail, trouble=trouble
        ),
    )
