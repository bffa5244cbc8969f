"""People who call our number: nothing is told before a PIN or a code, and after it a call is like any other."""

from __future__ import annotations

import json

import pytest

from devphone.testing import CallOnPhone
from handoff.models import Call
from tests.world import ADA, OURS, REASON, MakeWorld, World

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
    """Ada was rung and did not answer; now Ben is rung, and does not either."""
    handoff = world.open(timeout_s=3600, **body)["id"]
    for person in (world.ada, world.ben, world.cy):
        person.let_ring().decline()
        world.settle()
    world.forgives_what_rang()
    return str(handoff)


def types(call: CallOnPhone, digits: str) -> CallOnPhone:
    """Presses these keys and pound."""
    for digit in f"{digits}#":
        call.press(digit)
    return call


def test_with_the_pin_one_hears_what_waits_and_presses_1(world: World) -> None:
    rung_in_vain(world)
    urgent = rung_in_vain(world, reason="The bank asks for a login", urgency="high")
    call = world.ada.calls(OURS).hears("Enter your PIN or your code")
    assert not any(word in " ".join(call.transcript) for word in ("shopper", "Ada", "wait"))
    types(call, PIN).hears("Two things wait for you. The first:").hears("The bank asks for a login")
    call.press("1").hears("Thank you. It is handed back to shopper.").hears("One thing waits for you.")
    settlement = world.show(urgent)["settlement"]
    assert (settlement["by"]["name"], settlement["proof"]) == ("Ada", "keypress+pin")
    call.hears(REASON).press("2").hears("shopper gets the word").hears("Nothing else waits for you. Goodbye.")
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert world.dispositions(urgent)[-1] == ("ada", "resolved")
    assert "called_in" in world.types(urgent)
    assert PIN not in everything_kept(world), "a PIN leaves no trace"


def everything_kept(world: World) -> str:
    """All that is in Redis, and every address that Twilio was given."""
    kept = [world.redis.dump(key) and json.dumps(_read(world, key)) for key in world.redis.scan_iter(f"*{world.prefix}*")]
    return " ".join([*map(str, kept), *(str(one) for one in world.phone.requests())])


def _read(world: World, key: str) -> object:
    match world.redis.type(key):
        case "string":
            return world.redis.get(key)
        case "hash":
            return world.redis.hgetall(key)
        case "list":
            return world.redis.lrange(key, 0, -1)
        case _:
            return None
