"""Records for the store's tests, made by the domain, and a look at what a prefix really holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from handoff import lifecycle
from handoff.changes import Change
from handoff.effects import Effect, EffectKind
from handoff.messages import OpenRequest
from handoff.models import Handoff
from handoff.outcomes import Outcome, won
from handoff.states import Kind, Trigger
from handoff.store import Done, Store
from handoff.store.plan import Plan
from tests.unit.lives import NOW, RULES, word

Found = TypeVar("Found")
#: A plain client that decodes; redis-py's types can't say so.
Raw = Any


def opening(agent: str = "checkout-bot", api_key: str = "ak_1", now: int = NOW, **fields: Any) -> Change:
    """A new handoff, not kept yet."""
    request = OpenRequest.model_validate({"kind": Kind.CLEAR, "reason": "A checkbox", **fields})
    return lifecycle.open_handoff(request, agent=agent, api_key=api_key, rules=RULES, now=now)


def keep(store: Store, change: Change | None, now: int = NOW) -> Handoff:
    """Commits a change that nothing may stand against."""
    assert change is not None
    assert store.commit(Plan(changes=[change]), now) == Done()
    return change.handoff


def opened(store: Store, **fields: Any) -> Handoff:
    """A new handoff, kept."""
    return keep(store, opening(**fields))


def resolved(handoff: Handoff, now: int = NOW + 1, who: str = "ada") -> Change:
    change = lifecycle.resolve(handoff, word(who, now), RULES, now).change
    assert change is not None
    return change


def declined(handoff: Handoff, now: int = NOW + 1, who: str = "ben") -> Change:
    change = lifecycle.decline(handoff, word(who, now), RULES, now).change
    assert change is not None
    return change


def outcome_of(change: Change) -> Outcome:
    return won(Trigger.RESOLVE, change.handoff)


def row(name: str = "resume-x", due: int = NOW + 1_000, **fields: Any) -> Effect:
    """An effect of no handoff in particular."""
    return Effect(id=name, kind=fields.pop("kind", EffectKind.RESUME), subject="ho_x", due=due, **fields)


def dump(raw: Raw, store: Store) -> dict[str, Any]:
    """Everything under the store's prefix, as it is; two dumps are equal when nothing at all changed."""
    found: dict[str, Any] = {}
    for key in sorted(raw.scan_iter("{" + store.keys.prefix + "}:*", count=1_000)):
        found[key] = _READ[raw.type(key)](raw, key)
    return found


_READ: dict[Any, Callable[[Any, str], Any]] = {
    "string": lambda raw, key: raw.get(key),
    "hash": lambda raw, key: raw.hgetall(key),
    "set": lambda raw, key: raw.smembers(key),
    "zset": lambda raw, key: raw.zrange(key, 0, -1, withscores=True),
    "list": lambda raw, key: raw.lrange(key, 0, -1),
    "stream": lambda raw, key: raw.xrange(key),
}


def at_once(count: int, work: Callable[[int], Found]) -> list[Found]:
    """Runs `work(0)` to `work(count - 1)` in as many threads, all let go together."""
    gate = threading.Barrier(count)
    found: dict[int, Found] = {}
    broken: list[BaseException] = []

    def run(number: int) -> None:
        try:
            gate.wait(10)
            found[number] = work(number)
        except BaseException as error:  # raised below, where the test sees it
            broken.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if broken:
        raise broken[0]
    return [found[number] for number in range(count)]
