"""Looking a call up whose callbacks are missing, and drawing the conclusion.

What a look-up is worth, and when it is due, is promise 7; what a status means is dispositions.py's business.
"""

from __future__ import annotations

import structlog

from handoff.calls import RECONCILE_AFTER_MS
from handoff.effects import Effect
from handoff.models import Call
from handoff.moments import MINUTE, SECOND
from handoff.states import CallState, Disposition
from voice import dispositions
from voice.gateway import CallReport, GatewayError, Permanent
from voice.reaching import REFUSED_TRIES, Services, with_handoff

log = structlog.get_logger(__name__)

#: https://www.twilio.com/docs/api/errors/20404
NO_SUCH_CALL = 20404


def reconcile_call(services: Services, effect: Effect) -> bool:
    """Looks a call up when its callbacks are missing, and draws the conclusion.

    Once, as a rule; a call that somebody is still on is looked at again, at growing intervals, since the
    callback that ends it may be lost as well.
    """
    call = with_handoff(services.store.read_call(effect.subject))
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


def _conclude(services: Services, call: Call, report: CallReport) -> bool:
    """Applies what a look-up said; True when the call is over."""
    state = dispositions.call_state(report.status)
    if state is CallState.ENDED:
        services.calls.end(
            call.id,
            lambda fresh: dispositions.end_of(fresh, report.status, report.sip_code, report.answered_by),
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
