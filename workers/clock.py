"""The clock process: brings due rows of the outbox to whoever does them. Any number may run.

It never takes a row away: each claim moves the row on by a lease, so that whatever is lost on the way
comes back. Timers are decided here at once, since they only change records; the rest goes to the queue.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import redis
import structlog

from handoff import bootstrap
from handoff.bootstrap import Services
from handoff.effects import TIMERS, Effect, EffectKind
from handoff.models import Actor, ActorKind
from handoff.moments import MINUTE, SECOND
from handoff.states import CloseReason
from workers.enqueue import RqEnqueue

log = structlog.get_logger(__name__)

#: How often the clock looks, in seconds: the most by which a deadline is late.
TICK_S = 0.1
BEAT_EVERY_MS = 5 * SECOND
AGENT_GONE = Actor(kind=ActorKind.CLOCK, id="agent-gone")


def run() -> None:
    """Ticks until SIGTERM or SIGINT. A Redis that is away is waited for."""
    services = bootstrap.from_environment()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log.info("clock_started")
    while not stop.wait(TICK_S):
        try:
            tick(services)
        except redis.RedisError as error:
            log.warning("clock_lost_redis", why=type(error).__name__)


def tick(services: Services) -> int:
    """Does what is due now; returns how many rows that was."""
    now = services.clock()
    _beat(services, now)
    claimed = services.store.claim_due(now)
    for one in claimed:
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(effect=one.effect.id, handoff=one.effect.subject)
        if one.effect.kind in TIMERS:
            _TIMERS[one.effect.kind](services, one.effect)
            services.store.finish(one.effect, now)
        else:
            services.enqueue([one.effect.id], one.lease)
    structlog.contextvars.clear_contextvars()
    return len(claimed)


def _beat(services: Services, now: int) -> None:
    """Says that a clock is alive, and asks a worker to say the same through the queue."""
    if now - services.store.seen().get("clock", 0) < BEAT_EVERY_MS:
        return
    services.store.beat("clock", now)
    if isinstance(services.enqueue, RqEnqueue):
        services.enqueue.put("workers.jobs.beat", "", f"beat-{now // BEAT_EVERY_MS}", ttl_s=30)


def _agent_gone(services: Services, effect: Effect) -> None:
    services.handoffs.cancel(effect.subject, AGENT_GONE, CloseReason.AGENT_GONE, f"gone-{effect.subject}")


def _purge(services: Services, effect: Effect) -> None:
    handoff = services.store.read(effect.subject)
    now = services.clock()
    if handoff is not None and not services.store.purge(handoff, effect, now):
        services.store.postpone(effect, now + MINUTE, now)


_TIMERS: dict[EffectKind, Callable[[Services, Effect], object]] = {
    EffectKind.DEADLINE: lambda services, effect: services.handoffs.expire(effect.subject),
    EffectKind.LAPSE: lambda services, effect: services.handoffs.lapse(effect.subject, effect.revision),
    EffectKind.AGENT_GONE: _agent_gone,
    EffectKind.PURGE: _purge,
}
