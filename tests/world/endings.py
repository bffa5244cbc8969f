"""How every scenario has to end, unless it says otherwise: nothing unexpected, nothing left to be done.

Checked from outside: the dev phone's records, the outbox, RQ's registries, what the web process answered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from handoff.effects import Effect, EffectKind
from handoff.states import CallState

if TYPE_CHECKING:
    from .world import World


@dataclass
class Expected:
    """What a test says about its own end."""

    errors: int = 0  #: answers with 500 or above
    failed_jobs: int = 0  #: jobs that RQ counts as failed
    rows: set[EffectKind] = field(default_factory=set)  #: kinds that may be left in the outbox
    unsettled: bool = False  #: nothing is checked but the phones, e.g. when Redis was thrown away


def check(world: World) -> None:
    """Raises AssertionError that names everything which is not as it should be."""
    world.phone.nothing_else_happened()
    if world.expected.unsettled:
        return
    wrong = [*_rung_twice(world), *_left_behind(world), *_broken(world)]
    assert not wrong, "this was not to be:\n  " + "\n  ".join(wrong)


def _rung_twice(world: World) -> list[str]:
    """One call record causes at most one call at the provider, whatever went wrong."""
    for kind, name in (("Calls", "Url"), ("Messages", "StatusCallback")):
        accepted = [one["form"][name][0] for one in world.creates(kind) if one["sid"]]
        twice = [url for url, times in Counter(accepted).items() if times > 1]
        if twice:
            return [f"{kind} created more than once: {url}" for url in twice]
    return []


def _left_behind(world: World) -> list[str]:
    store, wrong = world.services.store, []
    for number, call_id in world.redis.hgetall(store.keys.lines).items():
        call = store.read_call(call_id)
        if call is None or call.state is CallState.ENDED:
            wrong.append(f"the line …{number[-4:]} is held by a call that has ended")
    for document in world.redis.hvals(store.keys.effects):
        effect = Effect.model_validate_json(document)
        if effect.kind not in world.expected.rows and not _may_wait(world, effect):
            wrong.append(f"left in the outbox: {effect.id}, due {effect.due - world.now} ms from now")
    return wrong


def _may_wait(world: World, effect: Effect) -> bool:
    """Whether a row may be there when nothing is going on: what is due later, for something that lives."""
    store = world.services.store
    if effect.kind in (EffectKind.RECONCILE_CALL, EffectKind.PLACE_CALL, EffectKind.HANG_UP):
        call = store.read_call(effect.subject)
        going_on = call is not None and call.state is not CallState.ENDED
        return effect.kind is EffectKind.RECONCILE_CALL and going_on
    handoff = store.read(effect.subject)
    if handoff is None:
        return False
    if effect.kind is EffectKind.PURGE:
        return handoff.closed
    lives = (EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.AGENT_GONE)
    return effect.kind in lives and not handoff.closed and effect.due > world.now


def _broken(world: World) -> list[str]:
    errors = [error for web in world.webs for error in web.errors()]
    failed = world.hands[0].failed_jobs() if world.hands else []
    wrong = []
    if len(errors) != world.expected.errors:
        wrong.append(f"answered with 500 or above: {errors or 'nothing, which was not to be'}")
    if len(failed) != world.expected.failed_jobs:
        wrong.append(f"RQ counts as failed: {failed or 'nothing, which was not to be'}")
    return wrong
