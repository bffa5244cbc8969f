"""What is deleted and when: a purge leaves nothing of a handoff, but that its key never rings again."""

from __future__ import annotations

from handoff.effects import Effect, EffectKind
from handoff.models import Handoff
from handoff.moments import DAY
from handoff.store import Code, Done, Store
from handoff.store.plan import Plan
from tests.unit.lives import NOW

from .records import Raw, declined, dump, keep, opening, outcome_of, resolved

URL = "https://agent.example/r"


def lived(store: Store, key: str | None = "k", *, unnamed: bool = False) -> tuple[Handoff, Effect]:
    """A handoff that had everything one can have, closed, with nothing left to do but its purge."""
    change = opening(resume_url=URL, outcome_url=URL)
    handoff = change.handoff
    idempotency = ("ak_1", key, "body") if key else None
    assert store.commit(Plan(changes=[change], idempotency=idempotency, unnamed=unnamed), NOW) == Done()
    for contact in ("ada", "ben"):
        store.put_link(f"{contact}{handoff.id}", handoff.id, contact)
        store.codes.put(f"{contact}{handoff.id}", Code(handoff.id, contact, "at_1", 0, NOW + DAY), NOW)
    call = change.calls[0]
    assert store.commit(Plan(take_line=call), NOW) == Done()
    closing = resolved(handoff)
    plan = Plan(changes=[closing], command=(handoff.id, "press-1", outcome_of(closing)), free_line=call)
    assert store.commit(plan, NOW) == Done()
    purge = next(effect for effect in closing.effects if effect.kind is EffectKind.PURGE)
    rows = [*change.effects, *closing.effects]
    assert store.commit(Plan(drop=[row.id for row in rows if row.id != purge.id]), NOW) == Done()
    return closing.handoff, purge


def test_a_purge_leaves_nothing_of_a_handoff_but_its_used_key_and_the_wakes(store: Store, raw: Raw) -> None:
    handoff, purge = lived(store)
    before = dump(raw, store)
    assert len(before) > 10
    assert store.purge(handoff, purge)
    after = dump(raw, store)
    assert set(after) == {store.keys.wakes, store.keys.idempotency("ak_1", "k")}
    assert after[store.keys.idempotency("ak_1", "k")] == "deleted|"
    assert 399 * DAY < raw.pttl(store.keys.idempotency("ak_1", "k")) <= 400 * DAY


def test_without_an_idempotency_key_only_the_wakes_are_left(store: Store, raw: Raw) -> None:
    handoff, purge = lived(store, key=None)
    assert store.purge(handoff, purge)
    assert set(dump(raw, store)) == {store.keys.wakes}


def test_a_key_of_our_own_making_is_deleted_with_its_handoff(store: Store, raw: Raw) -> None:
    """Nobody knows it, so that nobody can come back with it."""
    handoff, purge = lived(store, unnamed=True)
    assert store.opened("ak_1", "k") is not None
    assert store.purge(handoff, purge)
    assert set(dump(raw, store)) == {store.keys.wakes}


def test_a_used_key_says_that_its_answer_was_deleted(store: Store) -> None:
    handoff, purge = lived(store)
    store.purge(handoff, purge)
    found = store.opened("ak_1", "k")
    assert found is not None and found.deleted


def test_a_purge_touches_no_other_handoff(store: Store, raw: Raw) -> None:
    other, _ = lived(store, key="other")
    without = dump(raw, store)
    handoff, purge = lived(store, key=None)
    store.purge(handoff, purge)
    left = dump(raw, store)
    left.pop(store.keys.wakes), without.pop(store.keys.wakes)
    assert left == without and store.read(other.id) == other


def test_a_handoff_that_changed_meanwhile_is_not_purged(store: Store, raw: Raw) -> None:
    handoff, purge = lived(store)
    keep(store, declined(handoff))  # a late answer, put on the record
    before = dump(raw, store)
    assert not store.purge(handoff, purge)
    assert dump(raw, store) == before


def test_purging_twice_is_purging_once(store: Store, raw: Raw) -> None:
    handoff, purge = lived(store)
    assert store.purge(handoff, purge)
    once = dump(raw, store)
    assert not store.purge(handoff, purge)
    assert dump(raw, store) == once


def test_a_purged_handoffs_number_stays_free_for_others(store: Store) -> None:
    handoff, purge = lived(store)
    store.purge(handoff, purge)
    change = opening()
    keep(store, change)
    assert store.commit(Plan(take_line=change.calls[0]), NOW) == Done()


def test_what_has_no_end_of_its_own_is_what_the_catalogue_says(store: Store, raw: Raw) -> None:
    """Every key has a time to live, or goes with its handoff, or is one of a fixed few."""
    handoff, purge = lived(store)
    store.over_rate("link", 1, 60)
    store.beat("clock", NOW)
    store.purge(handoff, purge)
    fixed = {store.keys.wakes, store.keys.seen, store.keys.api_keys, store.keys.api_key_hashes}
    immortal = {key for key in dump(raw, store) if raw.pttl(key) == -1}
    assert immortal <= fixed
