"""commit.lua alone: every guard, then every write, or nothing at all; and a command that is remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import redis

import handoff.store
from handoff.store import Store
from handoff.store.transaction import Transaction

from .records import Raw, dump

SCRIPT = (Path(handoff.store.__file__).parent / "lua" / "commit.lua").read_text()


@pytest.fixture
def tx(store: Store) -> Transaction:
    return Transaction(store.keys)


def run(raw: Raw, tx: Transaction) -> Any:
    return raw.register_script(SCRIPT)(keys=tx.keys, args=tx.args())


def key(store: Store, name: str) -> str:
    return "{" + store.keys.prefix + "}:" + name


def test_writes_without_guards_are_done(store: Store, raw: Raw, tx: Transaction) -> None:
    tx.write("SET", key(store, "a"), "1")
    tx.write("HSET", key(store, "h"), "f", "v", "g", "w")
    assert run(raw, tx) == ["done"]
    assert dump(raw, store) == {key(store, "a"): "1", key(store, "h"): {"f": "v", "g": "w"}}


def test_an_empty_commit_is_done_and_leaves_nothing(store: Store, raw: Raw, tx: Transaction) -> None:
    assert run(raw, tx) == ["done"]
    assert dump(raw, store) == {}


@pytest.mark.parametrize("broken", [1, 2, 3])
def test_one_broken_guard_stops_every_write_and_is_named(
    store: Store, raw: Raw, tx: Transaction, broken: int
) -> None:
    for number in (1, 2, 3):
        raw.hset(key(store, f"g{number}"), "rev", "other" if number == broken else "7")
        tx.guard(key(store, f"g{number}"), "rev", "7")
    tx.write("SET", key(store, "a"), "1")
    tx.remember(key(store, "commands"), "press-1", "outcome")
    before = dump(raw, store)
    assert run(raw, tx) == ["stale", str(broken)]
    assert dump(raw, store) == before


@pytest.mark.parametrize(
    ("there", "expected", "passes"),
    [
        (None, "", True),
        (None, "7", False),
        ("7", "7", True),
        ("7", "", False),
        ("7", "07", False),
        ("", "", True),
    ],
)
def test_a_guard_compares_text_and_nothing_stands_for_absent(
    store: Store, raw: Raw, tx: Transaction, there: str | None, expected: str, passes: bool
) -> None:
    if there is not None:
        raw.hset(key(store, "h"), "rev", there)
        raw.set(key(store, "s"), there)
    tx.guard(key(store, "h"), "rev", expected)
    tx.guard(key(store, "s"), "", expected)
    tx.write("SET", key(store, "a"), "1")
    assert (run(raw, tx) == ["done"]) == passes
    assert raw.exists(key(store, "a")) == passes


def test_a_command_is_carried_out_once_and_then_answers_with_its_outcome(store: Store, raw: Raw) -> None:
    for _ in range(3):
        tx = Transaction(store.keys)
        tx.remember(key(store, "commands"), "press-1", '{"won":true}')
        tx.write("INCR", key(store, "times"))
        answer = run(raw, tx)
    assert answer == ["again", '{"won":true}']
    assert raw.get(key(store, "times")) == "1"


def test_a_repeated_command_gets_its_outcome_although_its_guards_are_broken_by_now(
    store: Store, raw: Raw
) -> None:
    """The reply was lost: the client sends the same commit again, and its own first one broke the guard."""
    for expected in (["done"], ["again", "first"]):
        tx = Transaction(store.keys)
        tx.remember(key(store, "commands"), "press-1", "first")
        tx.guard(key(store, "h"), "rev", "")
        tx.write("HSET", key(store, "h"), "rev", "1")
        assert run(raw, tx) == expected


def test_a_command_that_lost_is_not_remembered(store: Store, raw: Raw, tx: Transaction) -> None:
    tx.remember(key(store, "commands"), "press-1", "outcome")
    tx.guard(key(store, "h"), "rev", "7")
    assert run(raw, tx) == ["stale", "1"]
    assert raw.hgetall(key(store, "commands")) == {}


def test_two_commands_on_one_handoff_are_remembered_apart(store: Store, raw: Raw) -> None:
    for command in ("press-1", "press-2"):
        tx = Transaction(store.keys)
        tx.remember(key(store, "commands"), command, f"outcome of {command}")
        assert run(raw, tx) == ["done"]
    assert raw.hgetall(key(store, "commands")) == {
        "press-1": "outcome of press-1",
        "press-2": "outcome of press-2",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@1",
        "=",
        "0",
        "nil",
        "null",
        '[["SET", 1]]',
        "\\u0041 \\ \" ' /",
        "a b\r\n$5\r\nhello",
        "\x00\x01\x7f",
        "ü 验证 🔒 \u2028",
        "x" * 1_000_000,
    ],
)
def test_any_text_arrives_as_it_was_and_is_never_taken_for_a_key(
    store: Store, raw: Raw, tx: Transaction, text: str
) -> None:
    tx.write("HSET", key(store, "h"), "doc", text)
    tx.write("SET", key(store, "s"), text)
    tx.remember(key(store, "commands"), "c", text)
    assert run(raw, tx) == ["done"]
    assert raw.hget(key(store, "h"), "doc") == raw.get(key(store, "s")) == text
    assert raw.hget(key(store, "commands"), "c") == text


def test_every_key_is_declared_once_and_in_the_scripts_keys(store: Store, tx: Transaction) -> None:
    for name in ("a", "b", "a"):
        tx.guard(key(store, name), "rev", "")
        tx.write("SET", key(store, name), "1")
    assert sorted(tx.keys[1:]) == [key(store, "a"), key(store, "b")]


def test_only_the_first_word_after_a_command_is_a_key(store: Store, raw: Raw, tx: Transaction) -> None:
    raw.set(key(store, "a"), "1")
    tx.write("RENAME", key(store, "a"), key(store, "not a declared one"))
    assert run(raw, tx) == ["done"]
    assert key(store, "not a declared one") not in tx.keys
    assert dump(raw, store) == {key(store, "not a declared one"): "1"}


def test_a_thousand_writes_are_one_step(store: Store, raw: Raw, tx: Transaction) -> None:
    for number in range(1_000):
        tx.write("HSET", key(store, "h"), f"f{number}", str(number))
    assert run(raw, tx) == ["done"]
    assert raw.hlen(key(store, "h")) == 1_000


def test_a_command_that_redis_refuses_is_an_error_and_not_a_success(
    store: Store, raw: Raw, tx: Transaction
) -> None:
    raw.set(key(store, "s"), "a string")
    tx.write("HSET", key(store, "s"), "f", "v")
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        run(raw, tx)


def test_the_script_names_no_key_of_its_own() -> None:
    """Every key comes in through KEYS: a script that makes up keys can't be moved between slots."""
    code = "\n".join(line.partition("--")[0] for line in SCRIPT.splitlines())
    assert "}:" not in code and '":' not in code
