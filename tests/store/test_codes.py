"""Codes in the store: made good once, used once; and what is open for one contact."""

from __future__ import annotations

from dataclasses import replace

from handoff.moments import MINUTE
from handoff.store import Code, Store
from tests.unit.lives import NOW

from .records import Raw, at_once, keep, opened, resolved

CODE = Code("ho_1", "ada", "at_1", 0, NOW + MINUTE)


def test_a_code_is_made_good_once_and_again_only_for_the_same(store: Store, raw: Raw) -> None:
    assert store.codes.put("hash", CODE, NOW) and store.codes.put("hash", CODE, NOW)
    assert not store.codes.put("hash", replace(CODE, contact="ben"), NOW)
    assert 0 < raw.pttl(store.keys.code("hash")) <= MINUTE
    assert store.codes.read("hash") == CODE and store.codes.read("other") is None


def test_of_many_who_use_one_at_once_one_does(store: Store) -> None:
    store.codes.put("hash", CODE, NOW)
    won = at_once(8, lambda n: store.codes.use("hash", CODE, f"form-{n}"))
    assert sorted(won) == [False] * 7 + [True]
    winner = f"form-{won.index(True)}"
    used = store.codes.read("hash")
    assert used is not None and used.used_by == winner
    assert store.codes.use("hash", used, winner), "the same command again, its reply was lost"
    assert not store.codes.use("hash", used, "another")
    assert not store.codes.put("hash", CODE, NOW), "and it is not made good again"
    assert store.codes.number("ho_1", "at_1") == 1


def test_what_is_open_for_a_contact_is_found_newest_first_until_it_is_closed(store: Store) -> None:
    first, second = opened(store), opened(store, now=NOW + 1)
    assert store.open_of("ada", 10) == [second, first] and store.open_of("ada", 1) == [second]
    assert store.open_of("ben", 10) == [], "nobody has reached Ben yet"
    keep(store, resolved(second))
    assert store.open_of("ada", 10) == [first]
