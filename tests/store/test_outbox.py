"""The outbox: claim.lua and begin.lua alone, leases, several clocks, and rows that survive everybody."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import handoff.store
from handoff.effects import Effect, EffectKind
from handoff.store import Done, Stale, Store
from handoff.store.plan import FIRST_LEASE_MS, Plan
from handoff.store.store import CLOCKS_DIFFER_MS, LONGEST_LEASE_MS
from tests.unit.lives import NOW

from .records import Raw, at_once, dump, opened, row

LUA = Path(handoff.store.__file__).parent / "lua"
RUNS = count()
CLAIM, BEGIN = (LUA / "claim.lua").read_text(), (LUA / "begin.lua").read_text()


def put(store: Store, *effects: Any, now: int = NOW) -> None:
    assert store.commit(Plan(effects=effects), now) == Done()


def claim(store: Store, raw: Raw, now: int, limit: int = 10, lease: int = 100, longest: int = 800) -> Any:
    keys = [store.keys.due, store.keys.leases, store.keys.effects]
    return raw.register_script(CLAIM)(keys=keys, args=[now, limit, lease, longest])


def begin(store: Store, raw: Raw, name: str, now: int, span: int = 60_000, run: str | None = None) -> Any:
    keys = [store.keys.due, store.keys.effects, store.keys.runs]
    run = run or f"run-{next(RUNS)}"
    return raw.register_script(BEGIN)(keys=keys, args=[name, now, span, run, CLOCKS_DIFFER_MS])


def begun(store: Store, name: str, now: int, span: int = 60_000) -> Effect | None:
    """A run of its own on an effect."""
    return store.begin(name, now, span, f"run-{next(RUNS)}")


def due_of(store: Store, raw: Raw, name: str) -> int | None:
    score = raw.zscore(store.keys.due, name)
    return None if score is None else int(score)


def test_the_claim_script_takes_what_is_due_and_moves_it_on_by_the_lease(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 10), row("b", NOW + 20), row("c", NOW + 30))
    flat = claim(store, raw, NOW + 20)
    assert flat[0::3] == ["a", "b"] and flat[1::3] == ["1", "1"]
    assert flat[2::3] == [row("a", NOW + 10).model_dump_json(), row("b", NOW + 20).model_dump_json()]
    assert [due_of(store, raw, name) for name in "abc"] == [NOW + 120, NOW + 120, NOW + 30]
    assert raw.hlen(store.keys.effects) == 3, "a claim removes nothing"


def test_each_claim_of_a_row_doubles_its_lease_up_to_the_longest(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1))
    now, leases = NOW + 1, []
    for number in range(1, 8):
        assert claim(store, raw, now)[1] == str(number)
        due = due_of(store, raw, "a")
        assert due is not None
        leases.append(due - now)
        now = due
    assert leases == [100, 200, 400, 800, 800, 800, 800]


def test_a_row_that_was_claimed_very_often_still_has_the_longest_lease(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1))
    raw.hset(store.keys.leases, "a", 5_000)
    claim(store, raw, NOW + 1)
    assert due_of(store, raw, "a") == NOW + 801


def test_a_claim_takes_no_more_than_its_limit_and_the_longest_due_first(store: Store, raw: Raw) -> None:
    put(store, *(row(f"r{number}", NOW + number) for number in range(1, 6)))
    assert claim(store, raw, NOW + 100, limit=2)[0::3] == ["r1", "r2"]
    assert claim(store, raw, NOW + 100, limit=2)[0::3] == ["r3", "r4"]
    assert claim(store, raw, NOW + 100, limit=2)[0::3] == ["r5"]
    assert claim(store, raw, NOW + 100, limit=2) == []


def test_a_due_time_without_a_row_is_swept_away(store: Store, raw: Raw) -> None:
    raw.zadd(store.keys.due, {"nobody": NOW})
    assert claim(store, raw, NOW) == []
    assert due_of(store, raw, "nobody") is None
    assert raw.hget(store.keys.leases, "nobody") is None


def test_nothing_due_is_nothing_changed(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1_000))
    before = dump(raw, store)
    assert claim(store, raw, NOW) == [] == store.claim_due(NOW)
    assert dump(raw, store) == before


def test_moments_in_milliseconds_stay_exact_through_the_scripts(store: Store, raw: Raw) -> None:
    """Lua's own way of writing large numbers has 14 digits and an exponent."""
    moment = 9_999_999_999_999
    put(store, row("a", moment))
    claim(store, raw, moment)
    assert due_of(store, raw, "a") == moment + 100
    begin(store, raw, "a", moment, 7, "run")
    assert raw.hget(store.keys.runs, "a") == f"{moment + 7}|run"


def test_the_begin_script_lets_one_run_at_a_time_go_ahead(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1))
    assert begin(store, raw, "a", NOW + 5) == ["run", row("a", NOW + 1).model_dump_json()]
    assert begin(store, raw, "a", NOW + 6) == ["busy"]
    assert due_of(store, raw, "a") == NOW + 60_005, "no clock hands it out while it runs"
    assert begin(store, raw, "a", NOW + 60_004) == ["busy"]
    assert begin(store, raw, "a", NOW + 60_005)[0] == "run", "its run's time is over: the worker died"


def test_what_is_done_is_gone_for_every_later_run(store: Store, raw: Raw) -> None:
    assert begin(store, raw, "a", NOW) == ["gone"]
    assert dump(raw, store) == {}
    assert begun(store, "a", NOW, 1) is None


def test_of_many_workers_that_begin_at_once_one_runs(store: Store) -> None:
    put(store, row("a", NOW + 1))
    runs = at_once(16, lambda _: begun(store, "a", NOW + 5))
    assert [one for one in runs if one] == [row("a", NOW + 1)]


def test_a_run_whose_reply_was_lost_is_told_again_that_it_may_run(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1))
    assert begin(store, raw, "a", NOW + 5, run="mine")[0] == "run"
    assert begin(store, raw, "a", NOW + 6, run="mine")[0] == "run"
    assert begin(store, raw, "a", NOW + 7, run="another") == ["busy"]


def test_a_job_of_an_earlier_claim_does_not_run_what_was_put_off_meanwhile(store: Store) -> None:
    """Or a day of back-off is over in a moment, when copies had gathered in the queue."""
    put(store, row("a", NOW))
    first = begun(store, "a", NOW)
    assert first is not None
    store.postpone(first, NOW + 30_000, NOW + 10)
    assert begun(store, "a", NOW + 20) is None
    assert begun(store, "a", NOW + 30_000) is not None


def test_machines_whose_clocks_differ_a_little_do_not_take_a_due_row_for_one_put_off(store: Store) -> None:
    put(store, row("a", NOW + 500))
    assert begun(store, "a", NOW) is not None


def test_a_row_of_an_earlier_version_can_be_finished(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW))
    fewer = {"v": 1, "id": "a", "kind": "place_call", "subject": "ca_1", "due": NOW}
    raw.hset(store.keys.effects, "a", json.dumps(fewer))
    first = begun(store, "a", NOW)
    assert first is not None
    store.finish(first, NOW + 1)
    assert dump(raw, store) == {}


def test_a_row_of_a_newer_version_keeps_nobody_waiting(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW), row("b", NOW + 1))
    raw.hset(store.keys.effects, "a", json.dumps({"v": 2, "id": "a", "kind": "unheard_of", "due": NOW}))
    assert [one.effect.id for one in store.claim_due(NOW + 10_000)] == ["b"]
    assert begun(store, "a", NOW) is None
    assert raw.hexists(store.keys.effects, "a"), "it is left for a process that can read it"


def test_being_put_off_without_a_failure_is_no_try(store: Store) -> None:
    put(store, row("a", NOW))
    first = begun(store, "a", NOW)
    assert first is not None
    store.postpone(first, NOW + 5_000, NOW, failed=False)
    (claimed,) = store.claim_due(NOW + 5_000)
    assert claimed.effect.tries == 0


def test_an_effect_that_is_due_now_is_for_its_committer_and_comes_back_to_the_clock(
    store: Store, raw: Raw
) -> None:
    plan = Plan(effects=[row("a", NOW), row("later", NOW + 1), row("timer", NOW, kind=EffectKind.DEADLINE)])
    assert store.commit(plan, NOW) == Done()
    assert plan.dispatched == {"a"}
    assert due_of(store, raw, "a") == NOW + FIRST_LEASE_MS
    assert (due_of(store, raw, "later"), due_of(store, raw, "timer")) == (NOW + 1, NOW)
    (back,) = [one for one in store.claim_due(NOW + FIRST_LEASE_MS) if one.effect.id == "a"]
    assert back.lease == 2, "the first number was the committer's"


def test_a_row_whose_committer_died_is_handed_out_again_and_again_until_it_is_done(store: Store) -> None:
    put(store, row("a", NOW))
    now, leases = NOW, []
    for _ in range(10):
        now += LONGEST_LEASE_MS
        leases += [one.lease for one in store.claim_due(now)]
    assert leases == list(range(2, 12))
    store.finish(row("a", NOW), now)
    assert store.claim_due(now + LONGEST_LEASE_MS) == []


def test_two_clocks_take_every_row_once_and_lose_none(store: Store) -> None:
    names = {f"r{number:03d}" for number in range(300)}
    put(store, *(row(name, NOW + 1) for name in sorted(names)))

    def clock(_: int) -> list[str]:
        taken: list[str] = []
        while claimed := store.claim_due(NOW + 1, limit=7):
            taken += [one.effect.id for one in claimed]
        return taken

    taken = [name for one in at_once(4, clock) for name in one]
    assert sorted(taken) == sorted(names)
    again = [one.effect.id for one in store.claim_due(NOW + 1 + FIRST_LEASE_MS, limit=1_000)]
    assert sorted(again) == sorted(names), "until they are done, they come back"


def test_finishing_takes_the_whole_row_away(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW))
    begun(store, "a", NOW, 1_000)
    store.finish(row("a", NOW), NOW)
    assert dump(raw, store) == {}


def test_finishing_leaves_a_row_alone_that_was_written_anew_meanwhile(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW))
    first = begun(store, "a", NOW, 1_000)
    assert first is not None
    newer = row("a", NOW + 5_000, revision=2)
    put(store, newer)
    before = dump(raw, store)
    store.finish(first, NOW + 1)
    assert dump(raw, store) == before
    assert [one.effect for one in store.claim_due(NOW + 5_000)] == [newer]


def test_a_row_written_anew_may_run_although_an_old_run_is_not_over(store: Store) -> None:
    put(store, row("a", NOW))
    assert begun(store, "a", NOW)
    put(store, row("a", NOW + 1, revision=2))
    assert begun(store, "a", NOW + 2) == row("a", NOW + 1, revision=2)


def test_postponing_counts_a_try_and_frees_the_run(store: Store) -> None:
    put(store, row("a", NOW))
    first = begun(store, "a", NOW, 60_000)
    assert first is not None
    store.postpone(first, NOW + 5_000, NOW + 10)
    assert store.claim_due(NOW + 4_999) == []
    (claimed,) = store.claim_due(NOW + 5_000)
    assert (claimed.effect.tries, claimed.effect.due, claimed.lease) == (1, NOW + 5_000, 1)
    assert begun(store, "a", NOW + 5_001) == claimed.effect


def test_postponing_does_not_overwrite_a_row_that_was_written_anew(store: Store) -> None:
    put(store, row("a", NOW))
    first = begun(store, "a", NOW, 60_000)
    assert first is not None
    newer = row("a", NOW + 1, revision=2)
    put(store, newer)
    store.postpone(first, NOW + 5_000, NOW + 10)
    assert [one.effect for one in store.claim_due(NOW + 1)] == [newer]


def test_an_effect_finished_by_somebody_else_stops_the_whole_commit(store: Store, raw: Raw) -> None:
    handoff = opened(store)
    before = dump(raw, store)
    plan = Plan(finish=row("a", NOW), effects=[row("b", NOW)])
    assert store.commit(plan, NOW) == Stale()
    assert plan.dispatched == set(), "nothing was written, so nothing is handed out"
    assert dump(raw, store) == before and store.read(handoff.id) == handoff


def test_dropping_a_row_that_is_not_there_is_no_fault(store: Store, raw: Raw) -> None:
    put(store, row("a", NOW + 1))
    assert store.commit(Plan(drop=["a", "nobody"]), NOW) == Done()
    assert dump(raw, store) == {}


def test_a_row_dropped_and_written_in_one_commit_is_there(store: Store) -> None:
    put(store, row("a", NOW + 1))
    assert store.commit(Plan(drop=["a"], effects=[row("a", NOW + 2)]), NOW) == Done()
    assert [one.effect for one in store.claim_due(NOW + 2)] == [row("a", NOW + 2)]


def test_an_agent_that_waits_puts_its_row_off_and_never_brings_one_back(store: Store, raw: Raw) -> None:
    store.keep_waiting("gone", NOW + 90_000)
    assert dump(raw, store) == {}
    put(store, row("agent", NOW + 90_000))
    store.keep_waiting("agent", NOW + 140_000)
    store.keep_waiting("agent", NOW + 100_000)
    assert due_of(store, raw, "agent") == NOW + 140_000, "a shorter wait does not shorten a longer one"
