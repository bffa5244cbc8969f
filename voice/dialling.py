"""Placing a call: claimed before the provider is asked, and never asked for twice (promise 7).

A handoff is read again before the create and once more after it (promise 6). What came of a call arrives
through webhooks.py, or by one look-up when nothing came: looking_up.py.
"""

from __future__ import annotations

import structlog

from handoff import effects, ids
from handoff.effects import Effect
from handoff.models import Call
from handoff.notices import Seen
from handoff.people import mask
from handoff.states import Disposition
from handoff.store import Plan
from voice import hanging_up, troubles, urls
from voice.gateway import GatewayError, Permanent, Retryable
from voice.reaching import REFUSED_TRIES, REFUSED_WAIT_MS, Services, with_handoff

log = structlog.get_logger(__name__)


def place_call(services: Services, effect: Effect) -> bool:
    """Asks the provider for a call. True when the effect is done, whatever came of it."""
    call = with_handoff(services.store.read_call(effect.subject))
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
        services.calls.end(call.id, error.disposition, detail=error.detail, trouble=trouble)
        return True
    except GatewayError as error:
        log.warning("call_unknown", number=mask(call.number), code=error.code, why=str(error))
        services.calls.lost_reply(call.id, error.detail)
        return True
    log.info("call_placed", call=call.id, number=mask(call.number), provider_id=placed.provider_id)
    services.calls.placed(call.id, placed.provider_id, services.settings.twilio_from)
    if not services.claims.needed(call) and not hanging_up.try_now(services, call.id):
        now = services.handoffs.clock()
        plan = Plan(effects=[effects.hang_up(call.id, now)])
        services.store.commit(plan, now)
        services.handoffs.hand_out(plan)
    return True


def _try_again(services: Services, effect: Effect, call: Call, error: Retryable) -> bool:
    """The provider did not process the create: the same call is due again, a few times."""
    log.warning("call_not_processed", number=mask(call.number), code=error.code, tries=effect.tries)
    if effect.tries >= REFUSED_TRIES:
        services.calls.end(call.id, Disposition.PROVIDER_ERROR, detail=error.detail)
        return True
    services.calls.give_back(call.id)
    now = services.handoffs.clock()
    services.store.postpone(effect, now + REFUSED_WAIT_MS * (effect.tries + 1), now)
    return False


def _detects_machines(services: Services, call: Call) -> bool:
    """Whether the policy of a handoff that it carries asks for it. Never where the phone screens calls: the
    screener is a machine, and would be taken for the end of the attempt before the person hears of it."""
    people = services.handoffs.rules().people
    if (contact := people.contact(call.contact)) is not None and contact.screens_calls:
        return False
    found = [services.store.read(entry.handoff) for entry in call.entries]
    return any(one is not None and people.policy_for(one).detect_machines for one in found)
