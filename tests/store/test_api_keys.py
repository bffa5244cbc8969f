"""API keys: shown once, kept as a hash, recognised, revoked for good."""

from __future__ import annotations

import json
import re

import pytest

from handoff import keys
from handoff.store import Store
from tests.unit.lives import NOW

from .records import Raw, at_once, dump

MINUTE = 60_000


def test_a_new_key_is_good_at_once_and_kept_only_as_a_hash(store: Store, raw: Raw) -> None:
    key, record = keys.create(store, "checkout-bot", operator=False, now=NOW)
    assert re.fullmatch(r"hk_[0-9A-Za-z]{40}", key)
    found = keys.recognise(store, key, NOW)
    assert found is not None and (found.id, found.agent, found.scopes) == (
        record.id,
        "checkout-bot",
        ("agent",),
    )
    kept = json.dumps(dump(raw, store), default=str)
    assert key not in kept and key[3:] not in kept and record.hash in kept


def test_an_operators_key_is_no_agents_key(store: Store) -> None:
    assert keys.create(store, "ops", operator=True, now=NOW)[1].scopes == ("operator",)


@pytest.mark.parametrize("guess", ["", "hk_", "x", "hk_" + "a" * 40, "\u0000", "ü" * 50, "k" * 100_000])
def test_what_is_no_key_is_not_recognised(store: Store, raw: Raw, guess: str) -> None:
    keys.create(store, "bot", operator=False, now=NOW)
    before = dump(raw, store)
    assert keys.recognise(store, guess, NOW) is None
    assert dump(raw, store) == before


def test_neither_the_hash_nor_the_id_of_a_key_opens_anything(store: Store) -> None:
    key, record = keys.create(store, "bot", operator=False, now=NOW)
    for guess in (record.hash, record.id, key[:-1], key + "a", key.lower(), " " + key):
        assert keys.recognise(store, guess, NOW) is None


@pytest.mark.parametrize("name", ["", "Bot", "a b", "a:b", "{a}", "a" * 65, "a\n"])
def test_a_name_that_could_break_a_key_is_refused(store: Store, raw: Raw, name: str) -> None:
    with pytest.raises(ValueError, match="is not a name for an agent"):
        keys.create(store, name, operator=False, now=NOW)
    assert dump(raw, store) == {}


def test_a_revoked_key_is_refused_at_once_and_for_good(store: Store) -> None:
    key, record = keys.create(store, "bot", operator=False, now=NOW)
    first = keys.revoke(store, record.id, NOW + 1)
    assert first is not None and first.revoked == NOW + 1
    assert keys.recognise(store, key, NOW + 2) is None
    assert keys.revoke(store, record.id, NOW + 9) == first, "revoking again keeps the first moment"
    assert keys.revoke(store, "ak_nobody", NOW) is None


def test_a_key_from_the_environment_is_kept_once_and_stays_revoked(store: Store) -> None:
    first = keys.adopt(store, "k" * 30, "bot", operator=False, now=NOW)
    assert keys.adopt(store, "k" * 30, "bot", operator=False, now=NOW + 9) == first
    keys.revoke(store, first.id, NOW + 10)
    keys.adopt(store, "k" * 30, "bot", operator=False, now=NOW + 20)
    assert keys.recognise(store, "k" * 30, NOW + 21) is None


def test_use_is_noted_once_a_minute(store: Store) -> None:
    key, record = keys.create(store, "bot", operator=False, now=NOW)
    for at, noted in [(NOW, NOW), (NOW + MINUTE, NOW), (NOW + MINUTE + 1, NOW + MINUTE + 1)]:
        keys.recognise(store, key, at)
        known = store.api_key(record.id)
        assert known is not None and known.last_used == noted


def test_noting_a_use_never_brings_a_key_back_that_was_revoked_meanwhile(store: Store) -> None:
    key, record = keys.create(store, "bot", operator=False, now=NOW)
    keys.revoke(store, record.id, NOW + 1)
    store.touch_api_key(record, NOW + 2)  # a request that had read the record before
    assert keys.recognise(store, key, NOW + 3) is None


def test_a_key_in_heavy_use_can_be_revoked(store: Store) -> None:
    key, record = keys.create(store, "bot", operator=False, now=NOW)

    def use(number: int) -> None:
        if number == 0:
            keys.revoke(store, record.id, NOW)
        for turn in range(30):
            keys.recognise(store, key, NOW + turn * 2 * MINUTE)

    at_once(6, use)
    assert keys.recognise(store, key, NOW) is None


def test_keys_are_listed_oldest_first(store: Store) -> None:
    made = [keys.create(store, f"bot-{at}", operator=False, now=NOW + at)[1].id for at in (3, 1, 2)]
    assert [key.id for key in store.api_keys()] == [made[1], made[2], made[0]]
