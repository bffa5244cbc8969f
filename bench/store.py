"""Store: what the memory can take, on a real Redis that fsyncs every write, without web and workers.

- opens and settlements a second: through handoff.commands, by one thread and by --ways at once (Redis
  fsyncs once for all that came in together); RQ is left out.
- commit: one change of one handoff, one after the other, fsync included, in ms.
- list: a page of 50, with 100 and with 100,000 handoffs, newest first and from the middle, in ms. The
  100,000 are made by the service's own commit script, hundreds in one round trip.
- claims a second: due rows taken from the outbox, 200 at a time, as the clock takes them.
- bytes a closed handoff: how much Redis' used memory grows for each handoff that lived its whole life
  (a call, a text, "I'm on it", done), without the stream of wake-ups, which is bounded. Its purge is due
  in 30 days and counts.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench import figures, lives, places
from bench.figures import Spread
from handoff import attempts, logs
from handoff.calls import Calls
from handoff.claims import Claims
from handoff.commands import Handoffs
from handoff.dev import redis_server
from handoff.limits import Limits
from handoff.models import EventType
from handoff.moments import DAY, now_ms
from handoff.store import Connections, Keyspace, Pacer, Store
from handoff.store.plan import Plan

MEMORY_BAR_KB = 8.0
SECRET_KEY = "made up for one run of the benchmark"  # noqa: S105 - nothing is behind it
FEW = 100


def main() -> int:
    """Measures and reports; a figure decides nothing."""
    given = _arguments()
    logs.configure("json")
    logging.getLogger().setLevel(logging.WARNING)
    with places.data_folder(given.data) as data:
        redis = redis_server.start(data / "redis")
        try:
            connections = Connections(redis.url)
            found = _measure(connections, given)
            connections.close()
        finally:
            redis.stop()
    figures.report({"bench": "store", **found}, _text(found, given), as_json=given.json)
    return 0


def _arguments() -> argparse.Namespace:
    what = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=what)
    parser.add_argument("--many", type=int, default=100_000, help="handoffs for the long list (100000)")
    parser.add_argument("--count", type=int, default=1_000, help="opens, settlements and lives (1000)")
    parser.add_argument("--ways", type=int, default=16, help="threads at once (16)")
    parser.add_argument("--data", type=Path, help="folder for Redis's file (a fresh temporary one)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser.parse_args()


def _measure(connections: Connections, given: argparse.Namespace) -> dict[str, Any]:
    def installation(prefix: str) -> Handoffs:
        store = Store(connections, Keyspace(prefix))
        return Handoffs(store, lambda **_: lives.RULES, _leave_to_the_clock, now_ms)

    found: dict[str, Any] = {"bytes_per_closed_handoff": _memory(installation("lives"), given.count)}
    alone, together = installation("alone"), installation("together")
    found["opens_per_s"], opened = _opens(alone, given.count, 1)
    found["settlements_per_s"] = _settlements(alone, opened, 1)
    found["opens_per_s_together"], opened = _opens(together, given.count, given.ways)
    found["settlements_per_s_together"] = _settlements(together, opened, given.ways)
    found["commit_ms"] = vars(_commits(installation("commits"), 500))
    few, many = installation("few").store, installation("many").store
    lives.open_many(few, FEW, now_ms() - DAY)
    found["list_ms"] = {f"{FEW:,}": _pages(few, FEW)}
    began = time.perf_counter()
    lives.open_many(many, given.many, now_ms() - DAY)
    found["made_in_s"] = round(time.perf_counter() - began, 1)
    found["list_ms"][f"{given.many:,}"] = _pages(many, given.many)
    found["claims_per_s"] = _claims(many, min(given.many, 20_000))
    return found


def _leave_to_the_clock(effect_ids: Collection[str], lease: int = 1, urgent: Collection[str] = ()) -> None:
    """Instead of RQ: nothing is enqueued, as when RQ can't be reached."""


def _memory(handoffs: Handoffs, count: int) -> int:
    client: Any = handoffs.store.connections.commands

    def used() -> int:
        wakes = int(client.memory_usage(handoffs.store.keys.wakes, samples=0) or 0)
        return int(client.info("memory")["used_memory"]) - wakes

    store = handoffs.store
    pacer = Pacer(store.connections, store.keys, Limits())
    calls = Calls(handoffs, pacer)
    claims = Claims(calls, pacer)
    for _ in range(50):  # so that the first tables and scripts are there
        lives.whole_life(handoffs, calls, claims, SECRET_KEY)
    before = used()
    for _ in range(count):
        if not lives.whole_life(handoffs, calls, claims, SECRET_KEY).closed:
            raise RuntimeError("a life did not end")
    return (used() - before) // count


def _opens(handoffs: Handoffs, count: int, ways: int) -> tuple[float, list[str]]:
    def opened(number: int) -> str:
        return handoffs.open(lives.wanted(number), lives.KEY, f"key-{number}").handoff.id

    return _rate(opened, range(count), ways)


def _settlements(handoffs: Handoffs, opened: list[str], ways: int) -> float:
    def settled(handoff_id: str) -> str:
        return str(handoffs.resolve(handoff_id, lives.decision(handoffs), f"form-{handoff_id}").won)

    rate, won = _rate(settled, opened, ways)
    if won.count("True") != len(opened):
        raise RuntimeError("a settlement did not win")
    return rate


def _rate(do: Callable[[Any], str], work: Any, ways: int) -> tuple[float, list[str]]:
    with ThreadPoolExecutor(ways) as pool:
        began = time.perf_counter()
        done = list(pool.map(do, work))
        return round(len(done) / (time.perf_counter() - began), 1), done


def _commits(handoffs: Handoffs, count: int) -> Spread:
    handoff = handoffs.open(lives.wanted(), lives.KEY, "commits").handoff
    times = []
    for _ in range(count):
        change = attempts.note(handoff, EventType.CALL_RINGING, now_ms())
        plan = Plan(changes=[change])
        began = time.perf_counter()
        handoffs.store.commit(plan, now_ms())
        times.append(time.perf_counter() - began)
        handoff = change.handoff
    return Spread.of(times)


def _pages(store: Store, count: int, *, turns: int = 200) -> dict[str, float]:
    first, cursor = store.page(agent=lives.KEY.agent, state=None, before=None, limit=50)
    if len(first) != min(50, count) or cursor is None:
        raise RuntimeError("the list is not as long as it should be")
    middle_ms = int(cursor.partition(":")[0]) - max(0, count // 2 - 50)
    middle = f"{middle_ms:013d}:{cursor.partition(':')[2]}"

    def p50(**query: Any) -> float:
        times = []
        for _ in range(turns):
            began = time.perf_counter()
            store.page(limit=50, **query)
            times.append(time.perf_counter() - began)
        return Spread.of(times).p50

    return {
        "newest": p50(agent=None, state=None, before=None),
        "of one agent in one state": p50(agent=lives.KEY.agent, state=first[0].state, before=None),
        "from the middle": p50(agent=lives.KEY.agent, state=None, before=middle),
    }


def _claims(store: Store, count: int) -> float:
    later = now_ms() + 2 * DAY
    taken = 0
    began = time.perf_counter()
    while taken < count and (claimed := store.claim_due(later, 200)):
        taken += len(claimed)
    return round(taken / (time.perf_counter() - began), 1)


def _text(found: dict[str, Any], given: argparse.Namespace) -> str:
    commit = found["commit_ms"]
    rows: list[list[object]] = [
        ["opens, one thread", found["opens_per_s"], "a second", ""],
        [f"opens, {given.ways} threads", found["opens_per_s_together"], "a second", ""],
        ["settlements, one thread", found["settlements_per_s"], "a second", ""],
        [f"settlements, {given.ways} threads", found["settlements_per_s_together"], "a second", ""],
        ["commit, p50", commit["p50"], "ms", ""],
        ["commit, p99", commit["p99"], "ms", ""],
        ["claims of due rows", found["claims_per_s"], "a second", ""],
        ["Redis per closed handoff", found["bytes_per_closed_handoff"] / 1000, "kB", f"<= {MEMORY_BAR_KB:g}"],
    ]
    for size, pages in found["list_ms"].items():
        rows += [[f"page of 50 {which}, {size} handoffs", p50, "ms", ""] for which, p50 in pages.items()]
    return figures.table(["", "measured", "", "bar"], rows)


if __name__ == "__main__":
    sys.exit(main())
