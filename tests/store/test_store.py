"""Commits of whole changes: one winner of every race, all or nothing, and everything readable again."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from handoff import lifecycle
from handoff.models import AskResult, Call
from handoff.moments import SECOND
from handoff.outcomes import won
from handoff.states import CallState, Kind, State, Trigger
from handoff.store import Again, Connections, Done, Keyspace, Stale, Store
from handoff.store.plan import Plan
from tests.unit.lives import NOW, RULES, word
from tests.world.waits import until

from .records import Raw, at_once, declined, dump, keep, opened, opening, outcome_of, resolved


def test_what_was_opened_is_read_back_with_its_events_calls_and_state(store: Store, raw: Raw) -> None:
    change = opening(metadata={"order": 1009}, label="Order 1009")
    keep(store, change)
    handoff = change.handoff
    assert store.read(handoff.id) == handoff
    assert store.events(handoff.id) == list(change.events)
    assert [store.read_call(call.id) for call in change.calls] == list(change.calls)
    assert raw.hget(store.keys.handoff(handoff.id), "state") == "escalating"


def test_what_is_not_there_is_none_or_empty(store: Store) -> None:
    assert store.read("ho_nobody") is None and store.read_call("ca_nobody") is None
    assert store.events("ho_nobody") == [] and store.link("nobody") is None
    assert store.read_for("ho_nobody", "c") == (None, None)
    assert store.page(agent=None, state=None, before=None, limit=10) == ([], None)


def test_documents_survive_in_any_script_and_any_size(store: Store) -> None:
    reason = "验证码 — ‘ünïcödé’ \u2028 🔒 \x00 @1 =" + "x" * 1_900
    handoff = opened(store, reason=reason, metadata={"deep": {"list": [reason, None, 1.5, True, 2**53 + 1]}})
    assert store.read(handoff.id) == handoff
    answer = "ü" * 10_000
    asked = opened(store, kind=Kind.ASK)
    closed = keep(
        store,
        lifecycle.resolve(asked, word(), RULES, NOW, result=AskResult(answer=answer)).change,
    )
    assert store.read(closed.id) == closed
    assert store.events(closed.id)[-1].data["result"]["answer"] == answer


def test_events_go_on_after_the_last_one_that_was_seen(store: Store) -> None:
    handoff = keep(store, resolved(opened(store)))
    assert [event.seq for event in store.events(handoff.id)] == [1, 2, 3]
    assert [event.seq for event in store.events(handoff.id, after=2)] == [3]
    assert store.events(handoff.id, after=3) == [] == store.events(handoff.id, after=999)


def test_a_change_of_an_old_version_changes_nothing(store: Store, raw: Raw) -> None:
    handoff = opened(store)
    keep(store, resolved(handoff))
    before = dump(raw, store)
    plan = Plan(changes=[declined(handoff)])
    assert store.commit(plan, NOW) == Stale()
    assert dump(raw, store) == before and plan.dispatched == set()


def test_a_yes_that_was_decided_before_a_no_was_kept_leaves_no_trace(store: Store, raw: Raw) -> None:
    """Approve is held after its check, decline is committed, approve goes on: no callback, no wake-up."""
    handoff = opened(store, resume_url="https://agent.example/r")
    held = resolved(handoff)
    keep(store, declined(handoff))
    wakes = raw.xlen(store.keys.wakes)
    assert store.commit(Plan(changes=[held]), NOW) == Stale()
    assert raw.xlen(store.keys.wakes) == wakes
    assert not [name for name in raw.hkeys(store.keys.effects) if name.startswith("resume-")]
    assert [event.type for event in store.events(handoff.id)][-1] == "declined"


def test_of_fifty_answers_at_once_one_is_kept_and_every_loser_changed_nothing(store: Store, raw: Raw) -> None:
    handoff = opened(store, resume_url="https://a.example/", outcome_url="https://a.example/")
    wakes = raw.xlen(store.keys.wakes)

    def settle(number: int) -> Done | Again | Stale:
        change = resolved(handoff) if number % 2 else declined(handoff)
        return store.commit(Plan(changes=[change]), NOW + 1)

    answers = at_once(50, settle)
    assert Counter(type(answer) for answer in answers) == {Done: 1, Stale: 49}
    winner = answers.index(Done())
    after = store.read(handoff.id)
    assert after is not None and after.state is (State.RESOLVED if winner % 2 else State.DECLINED)
    assert after.rev == handoff.rev + 1
    assert len(store.events(handoff.id)) == handoff.seq + 1
    assert raw.xlen(store.keys.wakes) == wakes + 1
    assert len([name for name in raw.hkeys(store.keys.effects) if name.startswith("resume-")]) == 1


def test_a_command_whose_reply_was_lost_is_told_that_it_won(store: Store) -> None:
    handoff = opened(store)
    change = resolved(handoff)
    plan = Plan(changes=[change], command=(handoff.id, "press-1", outcome_of(change)))
    assert store.commit(plan, NOW) == Done()
    assert store.commit(plan, NOW) == Again(outcome_of(change))
    assert store.read_for(handoff.id, "press-1") == (change.handoff, outcome_of(change))
    assert store.read_for(handoff.id, "press-2") == (change.handoff, None)


def test_of_one_command_sent_twenty_times_at_once_all_get_the_same_outcome(store: Store) -> None:
    handoff = opened(store)
    change = resolved(handoff)
    outcome = outcome_of(change)
    answers = at_once(
        20, lambda _: store.commit(Plan(changes=[change], command=(handoff.id, "c", outcome)), NOW)
    )
    assert Counter(type(answer) for answer in answers) == {Done: 1, Again: 19}
    assert {answer.outcome for answer in answers if isinstance(answer, Again)} == {outcome}


def test_a_command_id_belongs_to_its_handoff(store: Store) -> None:
    first, second = opened(store), opened(store)
    for handoff in (first, second):
        change = resolved(handoff)
        plan = Plan(changes=[change], command=(handoff.id, "press-1", outcome_of(change)))
        assert store.commit(plan, NOW) == Done()


def test_two_handoffs_change_in_one_step_or_not_at_all(store: Store) -> None:
    first, second = opened(store), opened(store)
    keep(store, declined(second))
    assert store.commit(Plan(changes=[resolved(first), resolved(second)]), NOW) == Stale()
    assert store.read(first.id) == first


def test_a_call_moves_on_only_from_the_version_that_was_read(store: Store) -> None:
    change = opening()
    keep(store, change)
    call = change.calls[0]
    placing = call.model_copy(update={"state": CallState.PLACING, "rev": 2})
    assert store.commit(Plan(calls=[placing]), NOW) == Done()
    assert store.commit(Plan(calls=[placing]), NOW) == Stale()
    assert store.read_call(call.id) == placing


def claimed(call: Call) -> Plan:
    return Plan(calls=[call.model_copy(update={"state": CallState.PLACING, "rev": 2})], take_line=call)


def test_one_number_has_one_line_whoever_asks_for_it_at_once(store: Store) -> None:
    calls = [opening() for _ in range(10)]
    for change in calls:
        keep(store, change)
    answers = at_once(10, lambda number: store.commit(claimed(calls[number].calls[0]), NOW))
    assert Counter(map(type, answers)) == {Done: 1, Stale: 9}
    winner = calls[answers.index(Done())].calls[0]
    assert store.line_of(winner.number) == winner.id
    placed = [store.read_call(change.calls[0].id) for change in calls]
    assert sum(call.state is CallState.PLACING for call in placed if call) == 1


def test_a_line_is_freed_only_by_the_call_that_has_it(store: Store) -> None:
    first, second = (keep_call(store) for _ in range(2))
    assert store.commit(claimed(first), NOW) == Done()
    assert store.commit(Plan(free_line=second), NOW) == Stale()
    assert store.line_of(first.number) == first.id
    assert store.commit(Plan(free_line=first), NOW) == Done()
    assert store.line_of(first.number) is None


def keep_call(store: Store) -> Call:
    change = opening()
    keep(store, change)
    return change.calls[0]


def test_an_idempotency_key_names_one_handoff_however_many_try_at_once(store: Store) -> None:
    changes = [opening() for _ in range(20)]
    answers = at_once(
        20,
        lambda number: store.commit(
            Plan(changes=[changes[number]], idempotency=("ak_1", "k", f"b{number}")), NOW
        ),
    )
    assert Counter(map(type, answers)) == {Done: 1, Stale: 19}
    winner = answers.index(Done())
    found = store.opened("ak_1", "k")
    assert found is not None and not found.deleted
    assert (found.handoff, found.body_hash) == (changes[winner].handoff.id, f"b{winner}")
    listed, _ = store.page(agent=None, state=None, before=None, limit=50)
    assert [one.id for one in listed] == [found.handoff]


def test_an_idempotency_key_belongs_to_its_api_key(store: Store) -> None:
    for api_key in ("ak_1", "ak_2"):
        plan = Plan(changes=[opening(api_key=api_key)], idempotency=(api_key, "same", "body"))
        assert store.commit(plan, NOW) == Done()
    assert store.opened("ak_3", "same") is None


def test_a_link_leads_to_its_handoff_and_contact_and_is_kept_as_a_hash(store: Store, raw: Raw) -> None:
    handoff = opened(store)
    store.put_link("L" * 22, handoff.id, "ada")
    once = dump(raw, store)
    store.put_link("L" * 22, handoff.id, "ada")
    assert dump(raw, store) == once
    found = store.link("L" * 22)
    assert found is not None and (found.handoff, found.contact) == (handoff.id, "ada")
    assert store.link("M" * 22) is None
    assert "L" * 22 not in json.dumps(once, default=str)


def test_every_change_wakes_and_says_whether_it_closed(store: Store) -> None:
    with store.reading_wakes() as wakes:
        start = wakes.newest()
        assert start == "0-0"
        handoff = opened(store)
        keep(store, resolved(handoff))
        seen = wakes.after(start)
        assert [(wake.handoff, wake.seq, wake.closed) for _, wake in seen] == [
            (handoff.id, 2, False),
            (handoff.id, 3, True),
        ]
        assert wakes.newest() == seen[-1][0]
        assert [wake.seq for _, wake in wakes.after(seen[0][0])] == [3], "a cursor loses nothing"


def test_the_stream_of_wake_ups_is_bounded(store: Store, raw: Raw) -> None:
    pipe = raw.pipeline(transaction=False)
    for number in range(12_000):
        pipe.xadd(store.keys.wakes, {"h": "ho_x", "s": number, "c": 0})
    pipe.execute()
    opened(store)
    assert raw.xlen(store.keys.wakes) <= 10_200


def test_two_installations_on_one_redis_never_meet(store: Store, raw: Raw) -> None:
    other = Store(Connections(store.connections.url), Keyspace(store.keys.prefix + "-2"))
    mine = opened(store)
    store.put_link("L" * 22, mine.id, "ada")
    before = dump(raw, store)
    theirs = opened(other)
    keep(other, resolved(theirs))
    other.claim_due(NOW + 10**9)
    assert dump(raw, store) == before
    assert other.read(mine.id) is None and other.link("L" * 22) is None
    assert [one.id for one in other.page(agent=None, state=None, before=None, limit=9)[0]] == [theirs.id]
    other.connections.close()
    for key in dump(raw, other):
        raw.delete(key)


def test_every_key_has_the_prefix_and_its_hash_tag(store: Store, raw: Raw) -> None:
    known = set(raw.keys("*"))
    handoff = opened(store)
    store.put_link("L" * 22, handoff.id, "ada")
    call = keep_call(store)
    store.commit(claimed(call), NOW)
    store.begin(f"place_call-{call.id}", NOW, 60_000, "run")
    store.beat("clock", NOW)
    store.over_rate("x", 1, 60)
    change = resolved(handoff)
    outcome = won(Trigger.RESOLVE, change.handoff)
    plan = Plan(
        changes=[change, opening()], command=(handoff.id, "c", outcome), idempotency=("ak_1", "i", "b")
    )
    assert store.commit(plan, NOW) == Done()
    made = {key for key in set(raw.keys("*")) - known if store.keys.prefix in key}
    assert len(made) > 15
    assert all(key.startswith("{" + store.keys.prefix + "}:") for key in made)


@pytest.mark.parametrize("limit", [1, 3])
def test_a_rate_counts_uses_in_a_window_that_always_ends(store: Store, raw: Raw, limit: int) -> None:
    assert [store.over_rate("link", limit, 60) for _ in range(limit + 2)] == [False] * limit + [True] * 2
    assert 0 < raw.ttl(store.keys.rate("link")) <= 60
    assert not store.over_rate("other", limit, 60)


def test_a_counter_whose_window_ran_out_begins_anew_and_never_lives_for_ever(store: Store, raw: Raw) -> None:
    key = store.keys.rate("link")
    for _ in range(3):
        store.over_rate("link", 1, 60)
    raw.pexpire(key, 1)
    until(lambda: not raw.exists(key), 5, "the window to run out")
    assert not store.over_rate("link", 1, 60)
    assert raw.ttl(key) > 0


def test_counters_used_while_their_window_runs_out_always_have_an_end(store: Store, raw: Raw) -> None:
    def use(number: int) -> None:
        for turn in range(40):
            store.over_rate(f"r{turn % 5}", 10, 60)
            raw.pexpire(store.keys.rate(f"r{number % 5}"), 1)

    at_once(8, use)
    counters = list(raw.scan_iter(store.keys.rate("*").replace("{", "[{]")))
    assert all(raw.pttl(key) != -1 for key in counters)


def test_signs_of_life_are_kept_by_kind(store: Store) -> None:
    assert store.seen() == {}
    store.beat("clock", NOW)
    store.beat("worker", NOW + 5 * SECOND)
    store.beat("clock", NOW + SECOND)
    assert store.seen() == {"clock": NOW + SECOND, "worker": NOW + 5 * SECOND}
