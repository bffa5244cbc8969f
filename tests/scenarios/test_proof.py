"""A key alone is not enough: a code read aloud, the contact's PIN, or the page."""

from __future__ import annotations

import re
from typing import Any

from handoff import pins
from tests.world import MakeWorld, World
from tests.world.faulty import refusing_writes

PIN = "482913"


def code_heard(call: Any) -> str:
    """The two digits that the voice asked for last."""
    spoken = re.findall(r"To confirm, press (\d) (\d)\.", " ".join(call.transcript))
    return "".join(spoken[-1])


def another(code: str) -> str:
    return "12" if code != "12" else "34"


def confirming(world: World, handoff: Any, *, turn: int, tries: int, digits: str) -> str:
    """What the voice says to a webhook that is sent once more."""
    attempt = next(one for one in world.show(handoff)["attempts"] if one["call"])
    path = f"/twilio/calls/{attempt['call']}/attempts/{attempt['id']}/confirm/1?turn={turn}&tries={tries}"
    return world.twilio(path, {"Digits": digits}).text


def test_a_key_counts_once_the_code_that_was_read_out_is_pressed(world: World) -> None:
    handoff = world.open(proof="code")
    call = world.reached(world.ada).press("1").hears("To confirm, press")
    first = code_heard(call)
    call.press(another(first)).hears("That was not it.")
    world.listens(call, "To confirm, press")
    second = code_heard(call)
    assert world.show(handoff)["state"] == "escalating" and second != first
    call.press("*")
    world.listens(call, "To confirm, press", at_most_s=9)
    assert call.transcript[-1] == "To confirm, press " + " ".join(code_heard(call)) + "."
    second = code_heard(call)
    call.press(second).hears("Thank you. It is handed back to shopper")
    shown = world.show(handoff)
    assert (shown["settlement"]["proof"], shown["settlement"]["channel"]) == ("keypress+code", "call")
    assert "Thank you" in confirming(world, handoff, turn=4, tries=3, digits=second)
    [record] = [world.services.store.read_call(one["call"]) for one in shown["attempts"] if one["call"]]
    assert record is not None and record.pressed == "1"


def test_keys_in_a_pocket_decide_nothing(world: World) -> None:
    handoff = world.open(proof="code")
    call = world.reached(world.ada).press("2").hears("To confirm, press")
    for _ in range(2):
        call.press("22").hears("That was not it.")
    call.press("22").hears("That was not it. Nothing is decided. The link in the text still works.")
    world.advance(10)
    page = world.page(world.ben)
    assert world.dispositions(handoff) == [("ada", "no_input"), ("ben", None)]
    world.ben.expect_call("Handoff for").press("3").hears("You have it")
    page.read().press("It’s done")
    assert world.show(handoff)["settlement"]["proof"] == "link", "by link nothing more is needed"


def test_a_pin_shows_who_pressed_the_key_and_is_kept_nowhere(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_PINS=f"ada={PIN}")
    handoff = world.open(proof="pin")
    call = world.reached(world.ada).press("1").hears("Enter your PIN, then press pound.")
    with refusing_writes(world):
        call.press(f"{PIN}#").hears("One moment, please.")
    world.listens(call, "Enter your PIN, then press pound.")
    assert not any(PIN in one["url"] for one in call.record()["documents"]), (
        "it is asked for again, not carried along"
    )
    call.press("735164#").hears("That PIN is not right.")
    assert "That PIN" not in confirming(world, handoff, turn=2, tries=1, digits="*"), "no try"
    for _ in range(2):
        assert "That PIN is not right" in confirming(world, handoff, turn=2, tries=1, digits="735164")
    call.press(f"{PIN}#").hears("Thank you. It is handed back to shopper")
    assert world.show(handoff)["settlement"]["proof"] == "keypress+pin"
    assert world.types(handoff).count("pin_refused") == 1, "a request that comes again is no further try"
    store = world.services.store
    assert not store.over_rate(pins.counter("ada"), 2, 60), "one try was counted, which was wrong"
    for key in world.redis.scan_iter(world.key("") + "*"):
        kept = _text_of(world, key)
        assert PIN not in kept and "735164" not in kept, key


def test_who_has_no_pin_hears_it_at_once_and_passes_it_on_and_tries_are_few(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_PINS=f"ben={PIN}")
    handoff = world.open(proof="pin")
    call = world.reached(world.ada)
    world.listens(call, "This needs a PIN, and you have none here.")
    call.press("1").hears("That key does nothing here.")
    call.press("0").hears("Ben is next")
    for _ in range(pins.TRIES_PER_PERSON):
        world.services.store.over_rate(pins.counter("ben"), pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S)
    call = world.reached(world.ben).press("1").hears("Enter your PIN")
    call.press(f"{PIN}#").hears("There were too many tries with your PIN. Please wait an hour.")
    assert world.show(handoff)["state"] == "escalating"
    world.advance(10)
    world.reached(world.cy).press("3").hears("You have it")


def test_what_has_to_be_seen_is_decided_on_the_page_only(world: World) -> None:
    handoff = world.open(proof="link")
    page = world.page(world.ada)
    call = world.ada.expect_call("Handoff for")
    world.listens(
        call, "This has to be decided on the page: the text has the link. Press 3 if you are on it."
    )
    call.press("1").hears("That key does nothing here.")
    page.press("It’s done")
    assert world.show(handoff)["settlement"]["proof"] == "link"
    call.hears("You did it just now")


def _text_of(world: World, key: str) -> str:
    kind = world.redis.type(key)
    read: dict[str, Any] = {
        "string": lambda: world.redis.get(key),
        "hash": lambda: world.redis.hgetall(key),
        "zset": lambda: world.redis.zrange(key, 0, -1),
        "set": lambda: world.redis.smembers(key),
        "list": lambda: world.redis.lrange(key, 0, -1),
        "stream": lambda: world.redis.xrange(key),
    }
    return f"{key} {read[kind]()}"
