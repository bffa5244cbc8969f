"""Ending a call that nothing needs any more. Who is on the line is told why first, a machine in few words.

Which call that is, is decided where a handoff changes: handoff/changes.py and attempts.py.
"""

from __future__ import annotations

import structlog

from handoff.effects import Effect
from handoff.models import ActorKind, Call
from handoff.moments import SECOND
from handoff.states import CallState, Disposition
from voice import dispositions, urls
from voice.gateway import GatewayError, Permanent
from voice.reaching import Services, with_handoff

log = structlog.get_logger(__name__)


def hang_up(services: Services, effect: Effect) -> bool:
    """Ends a call that nothing needs any more; a person who is on the line is told why first."""
    done = try_now(services, effect.subject, even_ended=effect.even_ended)
    if not done:
        now = services.handoffs.clock()
        services.store.postpone(effect, now + 2 * SECOND, now, failed=False)
    return done


def try_now(services: Services, call_id: str, *, even_ended: bool = False) -> bool:
    """False when it has to be tried again."""
    call = with_handoff(services.store.read_call(call_id))
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


def _is_theirs(services: Services, call: Call) -> bool:
    """Whether the person on this call is the one who has acknowledged the handoff."""
    handoff = services.store.read(call.entries[-1].handoff) if call.entries else None
    return bool(handoff and not handoff.closed and handoff.held_by(ActorKind.CONTACT, call.contact))
