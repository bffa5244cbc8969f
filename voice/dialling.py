"""Reaching a phone: the effects that ask the provider for something, each safe to run again.

A call's record is claimed before the provider is asked and never asked for twice (promise 7); a handoff
is read again before the create and once more after it (promise 6). What came of a call arrives through
webhooks.py, or here through one look-up when nothing came.
"""

from __future__ import annotations

from typing import Protocol

import structlog

from handoff import attempts, effects, ids, links, opt_outs
from handoff.calls import RECONCILE_AFTER_MS, Calls
from handoff.claims import Claims
from handoff.commands import Handoffs
from handoff.config import Settings
from handoff.effects import Effect
from handoff.models import ActorKind, Attempt, Call, Channel, Handoff
from handoff.moments import MINUTE, SECOND
from handoff.notices import Seen, Trouble
from handoff.people import mask
from handoff.states import CallState, Disposition
from handoff.store import Hold, Pacer, Plan, Store
from voice import by_code, dispositions, sms, troubles, urls
from voice.gateway import CallReport, Gateway, GatewayError, Permanent, Retryable

log = structlog.get_logger(__name__)

#: How often a create that the provider did not process is tried again, and how long between the tries.
REFUSED_TRIES = 5
REFUSED_WAIT_MS = 5 * SECOND
#: https://www.twilio.com/docs/api/errors/20404
NO_SUCH_CALL = 20404
#: A text is worth nothing after the deadline; Twilio takes 1 to 36,000 s
#: (https://www.twilio.com/docs/messaging/api/message-resource).
LONGEST_VALID_S = 36_000


class Services(Protocol):
    """What the effects need of the services that bootstrap.py wires."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def handoffs(self) -> Handoffs: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def claims(self) -> Claims: ...
    @property
    def pacer(self) -> Pacer: ...
    @property
    def gateway(self) -> Gateway: ...


def place_call(services: Services, effect: Effect) -> bool:
    """Asks the provider for a call. True when the effect is done, whatever came of it."""
    call = _with_handoff(services.store.read_call(effect.subject))
    claimed = services.claims.claim(effect.subject, effect, ids.random_text(12))
    if claimed is None:
        return True  # done, or put off under a new row
    call = claimed
    base = services.settings.public_url
    try:
        placed = services.gateway.place_call(
            call.number,
            voice_url=base + urls.voice(call.id),
            status_url=base + urls.call_status(call.id),
            ring_s=call.ring_s,
            time_limit_s=services.settings.longest_call_s,
            machine_url=base + urls.machine(call.id) if _detects_machines(services, call) else None,
        )
    except Retryable as error:
        return _try_again(services, effect, call, error)
    except Permanent as error:
        log.warning("call_refused", number=mask(call.number), code=error.code, why=str(error))
        trouble = troubles.of_refusal(error, Seen.CALL, services.settings.twilio_from)
        services.calls.end(call.id, error.disposition, detail=_detail(error), trouble=trouble)
        return True
    except GatewayError as error:
        log.warning("call_unknown", number=mask(call.number), code=error.code, why=str(error))
        services.calls.lost_reply(call.id, _detail(error))
        return True
    log.info("call_placed", call=call.id, number=mask(call.number), provider_id=placed.provider_id)
    services.calls.placed(call.id, placed.provider_id, services.settings.twilio_from)
    if not services.claims.needed(call) and not _hang_up(services, call.id):
        now = services.handoffs.clock()
        plan = Plan(effects=[effects.hang_up(call.id, now)])
        services.store.commit(plan, now)
        services.handoffs.hand_out(plan)
    return True


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
        _end_text(services, handoff, attempt, what, detail=_detail(error), trouble=trouble)
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


def hang_up(services: Services, effect: Effect) -> bool:
    """Ends a call that nothing needs any more; a person who is on the line is told why first."""
    done = _hang_up(services, effect.subject, even_ended=effect.even_ended)
    if not done:
        now = services.handoffs.clock()
        services.store.postpone(effect, now + 2 * SECOND, now, failed=False)
    return done


def reconcile_call(services: Services, effect: Effect) -> bool:
    """Looks a call up when its callbacks are missing, and draws the conclusion.

    Once, as a rule; a call that somebody is still on is looked at again, at growing intervals, since the
    callback that ends it may be lost as well.
    """
    call = _with_handoff(services.store.read_call(effect.subject))
    if call is None or call.state is CallState.ENDED:
        return True
    now = services.handoffs.clock()
    try:
        report = (
            services.gateway.look_up(call.provider_id)
            if call.provider_id
            else services.gateway.find_call(
                call.number, since_ms=call.placing_at or call.created_at, now_ms=now
            )
        )
    except GatewayError as error:
        log.warning("look_up_failed", code=error.code, why=str(error), tries=effect.tries)
        if error.code == NO_SUCH_CALL:
            services.calls.end(call.id, Disposition.UNKNOWN, detail="the provider knows of no such call")
            return True
        if effect.tries >= REFUSED_TRIES:
            services.calls.end(call.id, Disposition.UNKNOWN, detail="the provider could not be asked")
            return True
        now = services.handoffs.clock()
        services.store.postpone(effect, now + 10 * SECOND, now)
        return False
    if report is None:
        services.calls.end(call.id, Disposition.UNKNOWN, detail="the provider knows of no such call")
        return True
    if _conclude(services, call, report):
        return True
    begun = call.placing_at or call.created_at
    over = begun + services.settings.longest_call_s * SECOND + 2 * MINUTE
    now = services.handoffs.clock()
    if now >= over:
        if call.inbound and not _cut(services, report.provider_id):
            services.store.postpone(effect, now + 10 * SECOND, now)
            return False
        services.calls.end(call.id, Disposition.UNKNOWN, provider_id=report.provider_id)
        return True
    services.store.postpone(effect, min(now + max(now - begun, RECONCILE_AFTER_MS), over), now, failed=False)
    return False


def ended_as(call: Call, status: str, sip_code: int | None, answered_by: str | None) -> Disposition:
    """What a call that ended with this status told us, given what we saw of it."""
    return dispositions.ended_as(
        status,
        was_answered=call.answered_at is not None,
        heard_all=call.heard_all,
        screened=call.screened,
        sip_code=sip_code,
        answered_by=answered_by,
    )


def _conclude(services: Services, call: Call, report: CallReport) -> bool:
    """Applies what a look-up said; True when the call is over."""
    state = dispositions.call_state(report.status)
    if state is CallState.ENDED:
        services.calls.end(
            call.id,
            lambda fresh: ended_as(fresh, report.status, report.sip_code, report.answered_by),
            provider_id=report.provider_id,
            detail="found by a look-up",
        )
        return True
    services.calls.placed(call.id, report.provider_id)
    if state is CallState.ANSWERED:
        services.calls.answered(call.id, report.provider_id)
    return False


def _cut(services: Services, provider_id: str) -> bool:
    """Ends a call to us that lasts longer than any of ours may: the provider was told no limit for it."""
    try:
        services.gateway.hang_up(provider_id)
    except GatewayError as error:
        log.warning("hang_up_failed", code=error.code, why=str(error))
        return isinstance(error, Permanent)
    return True


def _hang_up(services: Services, call_id: str, *, even_ended: bool = False) -> bool:
    """False when it has to be tried again."""
    call = _with_handoff(services.store.read_call(call_id))
    if call is None or (call.state is CallState.ENDED and not even_ended):
        return True
    if call.state is CallState.DUE:
        return services.calls.withdraw(call_id)
    if call.provider_id is None:
        return False  # its create is on the way or unknown; a callback or the look-up will name it
    try:
        if call.machine is not None and not call.keyed:
            _leave(services, call, call.provider_id)
        elif call.machine is not None and _somebody_needed(services, call):
            return True  # a person after all, who pressed a key after the verdict, and may go on listening
        elif call.state is CallState.ANSWERED:
            if _is_theirs(services, call):
                return True  # they said "I'm on it" by link, and may go on listening
            services.gateway.redirect(call.provider_id, services.settings.public_url + urls.settled(call.id))
        else:
            services.gateway.hang_up(call.provider_id)
            # Ended here and now: a call that was still in the provider's queue gets no callback.
            services.calls.end(call.id, Disposition.WITHDRAWN)
    except Permanent as error:
        log.warning("hang_up_refused", code=error.code, why=str(error))
        return True
    except GatewayError as error:
        # Ending a call twice is ending it once, so that even an unknown result may be tried again.
        log.warning("hang_up_failed", code=error.code, why=str(error))
        return False
    return True


def _leave(services: Services, call: Call, provider_id: str) -> None:
    """Takes leave of a machine: with a short message while somebody is still needed, else without a word. The
    line stays taken until the provider says that the call is over."""
    if call.machine == dispositions.FAX or not _somebody_needed(services, call):
        services.gateway.hang_up(provider_id)
    else:
        services.gateway.redirect(provider_id, services.settings.public_url + urls.message(call.id))


def _somebody_needed(services: Services, call: Call) -> bool:
    found = [services.store.read(entry.handoff) for entry in call.entries]
    return any(one is not None and not one.closed and one.acknowledged is None for one in found)


def _detects_machines(services: Services, call: Call) -> bool:
    """Whether the policy of a handoff that it carries asks for it."""
    people = services.handoffs.rules().people
    found = [services.store.read(entry.handoff) for entry in call.entries]
    return any(one is not None and people.policy_for(one).detect_machines for one in found)


def _is_theirs(services: Services, call: Call) -> bool:
    """Whether the person on this call is the one who has acknowledged the handoff."""
    handoff = services.store.read(call.entries[-1].handoff) if call.entries else None
    return bool(handoff and not handoff.closed and handoff.held_by(ActorKind.CONTACT, call.contact))


def _try_again(services: Services, effect: Effect, call: Call, error: Retryable) -> bool:
    """The provider did not process the create: the same call is due again, a few times."""
    log.warning("call_not_processed", number=mask(call.number), code=error.code, tries=effect.tries)
    if effect.tries >= REFUSED_TRIES:
        services.calls.end(call.id, Disposition.PROVIDER_ERROR, detail=_detail(error))
        return True
    services.calls.give_back(call.id)
    now = services.handoffs.clock()
    services.store.postpone(effect, now + REFUSED_WAIT_MS * (effect.tries + 1), now)
    return False


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
        _end_text(services, handoff, attempt, Disposition.PROVIDER_ERROR, detail=_detail(error))
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


def _with_handoff(call: Call | None) -> Call | None:
    """Every log line from here on names the handoff that the call is for."""
    if call is not None and call.entries:
        structlog.contextvars.bind_contextvars(handoff=call.entries[0].handoff, call=call.id)
    return call


def _detail(error: GatewayError) -> str:
    return f"Twilio error {error.code}" if error.code else str(error)
