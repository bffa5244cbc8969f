"""The clock process: brings due rows of the outbox to whoever does them. Any number may run.

It never takes a row away: each claim moves the row on by a lease, so that whatever is lost on the way
comes back. Timers are decided here at once, since they only change records; the rest goes to the queue.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from queue import Empty, SimpleQueue

import redis
import structlog

from handoff import bootstrap
from handoff.bootstrap import Services
from handoff.effects import TIMERS, Effect, EffectKind
from handoff.errors import NotFound
from handoff.models import Actor, ActorKind
from handoff.moments import SECOND
from handoff.states import CLOSED, CloseReason
from workers.enqueue import RqEnqueue

log = structlog.get_logger(__name__)

#: How often the clock looks, in seconds: the most by which a deadline is late.
TICK_S = 0.1
BEAT_EVERY_MS = 5 * SECOND
WEB_SILENT_MS = 15 * SECOND
AGENT_GONE = Actor(kind=ActorKind.CLOCK, id="agent-gone")


def run() -> None:
    """Ticks until SIGTERM or SIGINT. A Redis that is away is waited for."""
    services = bootstrap.from_environment()
    # No Event: its `set` waits for a lock that the handler may have interrupted the very holder of.
    # https://docs.python.org/3/library/queue.html#queue.SimpleQueue.put
    told = SimpleQueue[None]()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told.put(None))
    log.info("clock_started")
    while not _heard(told, TICK_S):
        try:
            tick(services)
        except redis.RedisError as error:
            log.warning("clock_lost_redis", why=type(error).__name__)


def _heard(told: SimpleQueue[None], wait_s: float) -> bool:
    """Whether we were told to end, within this time."""
    try:
        told.get(timeout=wait_s)
    except Empty:
        return False
    return True


def tick(services: Services) -> int:
    """Does what is due now; returns how many rows that was."""
    now = services.clock()
    _beat(services, now)
    claimed = services.store.claim_due(now)
    for one in claimed:
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(effect=one.effect.id)
        if one.effect.kind not in TIMERS:
            services.enqueue([one.effect.id], one.lease, [one.effect.id] if one.effect.urgent else [])
        elif _decide(services, one.effect):
            services.store.finish(one.effect, now)
    structlog.contextvars.clear_contextvars()
    return len(claimed)


def _decide(services: Services, effect: Effect) -> bool:
    """Whether the row is done with. One row that can't be decided must not keep the others waiting: it is
    said in the log, and comes back with its lease."""
    try:
        return _TIMERS[effect.kind](services, effect)
    except NotFound:
        return True
    except redis.RedisError:
        raise
    except Exception as error:
        log.error("timer_failed", kind=effect.kind, exc_info=error)
        return False


def _beat(services: Services, now: int) -> None:
    """Says that a clock is alive, and asks a worker to say the same through the queue."""
    if 0 <= now - services.store.seen().get("clock", 0) < BEAT_EVERY_MS:
        return
    services.store.beat("clock", now)
    if isinstance(services.enqueue, RqEnqueue):
        services.enqueue.ask_for_beat(now // BEAT_EVERY_MS)


def _deadline(services: Services, effect: Effect) -> bool:
    """A handoff that is still open afterwards (a clock was set back) keeps its deadline's row."""
    return services.handoffs.expire(effect.subject).state in CLOSED


def _lapse(services: Services, effect: Effect) -> bool:
    """As above: only a pause that is over, or is another one by now, is done with."""
    outcome = services.handoffs.lapse(effect.subject, effect.revision)
    return outcome.won or outcome.holder_until != effect.revision or outcome.state in CLOSED


def _next_step(services: Services, effect: Effect) -> bool:
    """As above, for the wait between two steps."""
    if services.handoffs.next_step(effect.subject, effect.revision):
        return True
    handoff = services.store.read(effect.subject)
    return handoff is None or handoff.closed or handoff.next_step_at != effect.revision


def _agent_gone(services: Services, effect: Effect) -> bool:
    """Nobody has waited for it for long enough, although somebody could have: while no web process was seen,
    nobody could."""
    now, web = services.clock(), services.store.seen().get("web")
    if web is not None and now - web > WEB_SILENT_MS:
        services.store.postpone(effect, now + services.handoffs.rules().agent_gone_ms, now, failed=False)
        return False
    services.handoffs.cancel(effect.subject, AGENT_GONE, CloseReason.AGENT_GONE, f"gone-{effect.subject}")
    return True


def _purge(services: Services, effect: Effect) -> bool:
    """Its retention time is over. The purge takes the row along."""
    handoff = services.store.read(effect.subject)
    return handoff is None or services.store.purge(handoff, effect)


def _stop_calls(services: Services, effect: Effect) -> bool:
    """Somebody asked not to be called on a number: what is due there ends."""
    services.claims.stop_calls(effect.subject)
    return True


def _enrol(services: Services, effect: Effect) -> bool:
    """What somebody pressed when they were asked whether they may be called goes on their record."""
    services.enrolments.settle(effect.subject, effect.attempt or "")
    return True


#: Each says whether its row is done with; a row that is not comes back with its lease.
_TIMERS: dict[EffectKind, Callable[[Services, Effect], bool]] = {
    EffectKind.DEADLINE: _deadline,
    EffectKind.LAPSE: _lapse,
    EffectKind.AGENT_GONE: _agent_gone,
    EffectKind.NEXT_STEP: _next_step,
    EffectKind.PURGE: _purge,
    EffectKind.STOP_CALLS: _stop_calls,
    EffectKind.ENROL: _enrol,
}
