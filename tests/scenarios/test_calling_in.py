"""People who call our number: nothing is told before a PIN or a code; after it a call is like any other."""

from __future__ import annotations

import pytest

from devphone.testing import CallOnPhone
from handoff import pins
from tests.world import OURS, REASON, MakeWorld, World

PIN = "719204"


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """Ada, who has a PIN, Ben and Cy; our number sends its calls to us."""
    made = make_world(HANDOFF_PINS=f"ada={PIN}")
    at = made.services.settings.public_url
    made.phone.line(OURS).sends_calls_to(
        f"{at}/twilio/calls/inbound", status_callback=f"{at}/twilio/calls/inbound/status"
    )
    return made


def rung_in_vain(world: World, **body: object) -> str:
    """Ada alone was rung, and did not answer."""
    handoff = world.open(**{"timeout_s": 3600, "contact": "ada", **body})["id"]
    world.ada.let_ring().decline()
    world.settle()
    world.forgives_what_rang()
    return str(handoff)


def kept_and_sent(world: World) -> str:
    """Every record of these handoffs and calls, and every request to the provider."""
    keys = [
        *world.redis.scan_iter(f"*{world.prefix}*:ho:*"),
        *world.redis.scan_iter(f"*{world.prefix}*:call:*"),
    ]
    read = {"hash": world.redis.hgetall, "list": lambda key: world.redis.lrange(key, 0, -1)}
    kept = [read[kind](key) for key in keys if (kind := world.redis.type(key)) in read]
    return f"{kept} {world.phone.requests()} {world.services.store.keys.prefix}"


def types(call: CallOnPhone, digits: str) -> CallOnPhone:
    """Presses these keys and pound."""
    for digit in f"{digits}#":
        call.press(digit)
    return call


def test_with_the_pin_one_hears_what_waits_and_presses_1(world: World) -> None:
    rung_in_vain(world)
    urgent = rung_in_vain(world, reason="The bank asks for a login", urgency="high")
    world.phone.faults({"duplicate_webhooks": {"on": "inbound_calls"}})
    call = world.ada.calls(OURS).hears("Enter your PIN or your code")
    assert not any(word in " ".join(call.transcript) for word in ("shopper", "Ada", "wait"))
    types(call, PIN).hears(
        "Two things wait for you. The first: Handoff for shopper. The bank asks for a login"
    )
    call.press("1").hears("Thank you. It is handed back to shopper.")
    world.listens(call, f"One thing waits for you. Handoff for shopper. {REASON}")
    settlement = world.show(urgent)["settlement"]
    assert (settlement["by"]["name"], settlement["proof"]) == ("Ada", "keypress+pin")
    call.press("2").hears("shopper gets the word")
    world.listens(call, "Nothing else waits for you. Goodbye.")
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert world.dispositions(urgent)[-1] == ("ada", "resolved")
    assert world.types(urgent).count("called_in") == 1, "every request came twice"
    assert PIN not in kept_and_sent(world), "a PIN leaves no trace"


def test_a_stranger_hears_one_sentence_and_who_is_wrong_three_times_the_same(world: World) -> None:
    handoff = rung_in_vain(world)
    neutral = "This number belongs to an automatic service, and nothing waits here for you. Goodbye."
    stranger = world.phone.device("+12125550177").calls(OURS).hears(neutral)
    call = world.ada.calls(OURS).hears("Enter your PIN")
    types(call, "000000").hears("That was not right.")
    types(call, "111111").hears("That was not right.")
    types(call, PIN[::-1]).hears(neutral)
    for one in (stranger, call):
        world.advance_until(lambda one=one: one.record()["status"] == "completed", "the voice hangs up")
    assert "called_in" not in world.types(handoff)
    assert not world.services.store.over_rate(pins.counter("ada"), 1, 60), "Ada's own tries are left to her"


def test_a_caller_who_is_settled_away_hears_who_did_it_and_holds_no_ladder_up(world: World) -> None:
    handoff = world.open(timeout_s=3600)
    world.ada.expect_text()
    world.ada.let_ring().decline()
    page = world.page(world.ben)
    call = types(world.ada.calls(OURS).hears("Enter your PIN"), PIN).hears(REASON)
    ringing = world.ben.let_ring()
    ringing.decline()
    world.settle()
    world.forgives_what_rang()
    assert world.dispositions(handoff)[-1] == ("cy", None), "the ladder went on while Ada listens"
    page.press("It’s done")
    world.settle()
    call.hears("Ben did it just now.")
    world.listens(call, "Nothing else waits for you. Goodbye.")
    world.advance(10)
    assert ("ada", "no_input") in world.dispositions(handoff)


def test_nobody_is_rung_while_they_talk_to_us(world: World) -> None:
    rung_in_vain(world)
    call = types(world.ada.calls(OURS).hears("Enter your PIN"), PIN).hears("One thing waits for you")
    later = world.open(contact="ada", timeout_s=3600)
    world.ada.expect_text()
    world.advance(5)
    assert len(world.creates()) == 1, "the line is hers"
    call.press("1").hears("Thank you").hang_up()
    world.advance(10)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")
    assert world.dispositions(later) == [("ada", "resolved")]


def test_9_calls_back_the_contacts_own_number_once_and_says_nothing_of_what_waits(world: World) -> None:
    first = types(world.ada.calls(OURS).hears("Enter your PIN"), "9")
    first.hears("If something waits for you, we call you.")
    world.advance(20)
    assert not world.creates("Calls"), "nothing waits, and nobody is called"
    handoff = rung_in_vain(world)
    types(world.ada.calls(OURS).hears("Enter your PIN"), "9").hears(
        "If something waits for you, we call you."
    )
    world.advance(10)
    back = world.ada.expect_call("A caller from this number asked us to call back. Handoff for shopper")
    back.press("1").hears("Thank you")
    world.advance(10)
    assert world.show(handoff)["settlement"]["proof"] == "keypress"
    assert "calls_back" in world.types(handoff)
    types(world.ada.calls(OURS).hears("Enter your PIN"), PIN).hears("Nothing waits for you. Goodbye.")
    world.advance(10)
