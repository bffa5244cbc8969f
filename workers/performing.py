"""Effects reach the outside here: each kind has one function, chosen by one table.

A run that fails in a way nobody foresaw leaves the row where it is: the clock brings it back when the
run's time is over. What the words say and how Twilio is asked is voice/'s business.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import redis
import structlog

from handoff import ids, resume
from handoff.bootstrap import Services
from handoff.effects import Effect, EffectKind
from handoff.models import EventType
from handoff.moments import SECOND
from voice import cards, dialling, hanging_up, looking_up, texting

log = structlog.get_logger(__name__)

#: How long after a run's last sign of life another worker may take the effect over, and how often a run that
#: takes its time gives one. A worker that was killed holds its effect up for no longer.
RUN_MS = 10 * SECOND
SIGN_EVERY_S = 3.0


def perform_effect(services: Services, effect_id: str) -> None:
    """Runs the effect with this id once, and takes its row away when it is done."""
    structlog.contextvars.clear_contextvars()
    run = ids.random_text(12)
    effect = services.store.begin(effect_id, services.clock(), RUN_MS, run)
    if effect is None:
        return
    structlog.contextvars.bind_contextvars(effect=effect.id)
    if ids.is_id(effect.subject, ids.HANDOFF):
        structlog.contextvars.bind_contextvars(handoff=effect.subject)
    with _signs_of_life(services, effect_id, run):
        done = _DO[effect.kind](services, effect)
    if done:
        services.store.finish(effect, services.clock())


@contextmanager
def _signs_of_life(services: Services, effect_id: str, run: str) -> Iterator[None]:
    """While inside, the effect stays this run's. A late sign does no harm: a second run finds what the first
    has claimed, and never creates a call or a text twice."""
    over = threading.Event()

    def give() -> None:
        while not over.wait(SIGN_EVERY_S):
            with suppress(redis.RedisError):
                services.store.begin(effect_id, services.clock(), RUN_MS, run)

    giver = threading.Thread(target=give, name="signs-of-life", daemon=True)
    giver.start()
    try:
        yield
    finally:
        over.set()
        giver.join()


def _tell_agent(services: Services, effect: Effect) -> bool:
    """POSTs the outcome to the agent's URL; on failure puts itself off, for a day in all."""
    handoff = services.store.read(effect.subject)
    if handoff is None or effect.url is None or effect.body is None:
        return True
    delivery = resume.Delivery(
        url=effect.url,
        webhook_id=effect.id,
        body=effect.body.encode(),
        secrets=[resume.signing_secret(key, handoff.api_key) for key in services.settings.secret_keys],
        bearer=handoff.resume_token,
    )
    now = services.clock()
    result = resume.deliver(
        delivery,
        now=datetime.fromtimestamp(now / 1000, UTC),
        allow_private=services.settings.allow_private_callbacks,
    )
    if isinstance(result, resume.Delivered):
        services.handoffs.note(handoff.id, EventType.RESUME_DELIVERED, tries=effect.tries + 1)
        return True
    wait = resume.backoff(effect.tries + 1) if result.retryable else None
    log.warning("resume_failed", kind=result.kind, detail=result.detail, tries=effect.tries + 1)
    if effect.tries == 0 or wait is None:
        services.handoffs.note(
            handoff.id,
            EventType.RESUME_FAILED,
            why=result.kind,
            detail=result.detail,
            tries=effect.tries + 1,
            given_up=wait is None,
        )
    if wait is None:
        return True
    now = services.clock()  # the try itself may have taken its ten seconds
    services.store.postpone(effect, now + round(wait.total_seconds() * 1000), now)
    return False


_DO: dict[EffectKind, Callable[[Services, Effect], bool]] = {
    EffectKind.PLACE_CALL: dialling.place_call,
    EffectKind.SEND_TEXT: texting.send_text,
    EffectKind.HANG_UP: hanging_up.hang_up,
    EffectKind.RECONCILE_CALL: looking_up.reconcile_call,
    EffectKind.RESUME: _tell_agent,
    EffectKind.SEND_CARD: cards.send,
}
