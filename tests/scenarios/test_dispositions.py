"""Whatever a phone or the provider does: somebody settles it once, nobody is rung twice, all are told why.

Each fault and each device of the dev phone, by its name; those that a story of their own tells elsewhere
(test_ladder, test_lost_replies, test_machines, test_screening) are slow here. The rules are test_dispositions
in tests/unit; what the docs say of each is docs/dispositions.md.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest

import human
from devphone.engine.phones import Behaviour
from devphone.fault_catalogue import FAULTS
from handoff.web import timeline
from tests.world import ADA, REASON, Agent, World

#: Fault, the values it needs, and what the first call, Ada's, comes to. Without `resolved` Ben settles it.
ON_CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "geography_refused": ({}, "blocked"),  # 21215
    "status_callback_refused": ({}, "blocked"),  # 21609, telephony case 51
    "rest_error": ({"code": 21214}, "unreachable"),
    "html_429": ({}, "unknown"),  # perhaps a proxy's word: only 20429 proves that nothing was done
    "throttled": ({}, "resolved"),  # 20429: tried again
    "bad_signature": ({}, "unknown"),  # nothing of it is believed; one look-up says no more than `completed`
    "wrong_token": ({}, "unknown"),
    "sha256_signature": ({"secret": "shared"}, "unknown"),
    "duplicate_webhooks": ({}, "resolved"),
    "reorder_callbacks": ({}, "resolved"),  # telephony case 55
    "late_callbacks": ({"seconds": 60}, "resolved"),
    "lose_201": ({}, "resolved"),
    "500_after_accept": ({}, "resolved"),
    "503_after_accept": ({}, "resolved"),
    "delay_201_s": ({"seconds": 0.2}, "resolved"),
    "fetch_lag_s": ({"seconds": 5}, "resolved"),  # telephony case 21
    "early_callback": ({}, "resolved"),
    "lose_callbacks": ({}, "resolved"),
    "duplicate_callbacks": ({}, "resolved"),
    "signed_without_port": ({}, "resolved"),
    "missing_geography": ({}, "resolved"),
    "extra_fields": ({}, "resolved"),
}
#: A create that is never answered lasts as long as the gateway waits, half a minute of the world:
#: tests/unit/test_gateway_failures.py has it with a shorter patience. Addresses on loopback have their port
#: anyway: tests/unit/test_signature.py has both kinds.
ELSEWHERE = {"never_answer", "signed_with_port"}
FAST = ("geography_refused", "html_429", "bad_signature", "throttled", "duplicate_webhooks")


def _slow(names: list[str], fast: tuple[str, ...]) -> list[Any]:
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in names]


def test_every_fault_and_every_device_that_the_dev_phone_has_is_told_of_here() -> None:
    assert set(ON_CALLS) | ELSEWHERE == set(FAULTS)
    assert set(DEVICES) == set(get_args(Behaviour))


@pytest.mark.parametrize("fault", _slow(list(ON_CALLS), FAST))
def test_whatever_goes_wrong_somebody_settles_it_once_and_nobody_is_rung_twice(
    world: World, fault: str
) -> None:
    values, expected = ON_CALLS[fault]
    for person in (world.ada, world.ben):
        person.behaves("answers")
    world.phone.faults({fault: {"on": "calls", **values}})
    handoff = world.open()
    world.advance_until(lambda: _greeted(world), "somebody hears what it is about")
    who = world.phone.device(_greeted(world)[0])
    who.expect_call("Handoff for").press("1").hears("Thank you")
    assert world.dispositions(handoff)[0] == ("ada", expected)
    assert (who.number == ADA) is (expected == "resolved")
    _ends_well(world, handoff["id"])


@pytest.mark.slow
def test_a_provider_that_is_busy_for_too_long_is_given_up_on(world: World) -> None:
    world.phone.faults({"throttled": {"times": 6}})
    handoff = world.open()
    world.advance_until(lambda: world.dispositions(handoff)[0][1], "the call is given up", 200)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "provider_error"), ("ben", "resolved")]
    _ends_well(world, handoff["id"])


#: What Ada's phone does by itself, with nobody at it, and what her call comes to.
DEVICES = {
    "rings": "no_answer",
    "answers": "no_input",
    "busy": "busy",
    "unreachable": "unreachable",
    "voicemail": "no_input",  # detection is off
    "screening": "no_input",  # unannounced: the mailbox behind the screener has heard it all
    "do_not_disturb": "no_input",  # rings in silence, telephony case 54; then the mailbox
    "bad_line": "hung_up",
}


@pytest.mark.parametrize("behaviour", _slow(list(DEVICES), ("bad_line", "do_not_disturb")))
def test_a_phone_that_nobody_can_be_reached_on_leads_to_the_next_call(world: World, behaviour: str) -> None:
    world.ada.behaves(behaviour)  # type: ignore[arg-type]  # the names above are behaviours
    handoff = world.open()
    if behaviour == "bad_line":
        world.ada.let_ring().answer()
    world.advance_until(lambda: len(world.creates()) == 2, "the next call", at_most_s=300)
    assert world.show(handoff)["state"] == "escalating"
    assert world.dispositions(handoff)[0] == ("ada", DEVICES[behaviour])
    who = world.phone.device(world.creates()[1]["form"]["To"][0])
    who.expect_call("Handoff for").press("1").hears("Thank you")
    world.forgives_what_rang()
    assert world.types(handoff).count("resolved") == 1


def test_the_agent_the_record_and_the_timeline_tell_the_same_of_each(world: World, agent: Agent) -> None:
    world.phone.faults({"geography_refused": 1})
    world.ben.behaves("busy")
    world.cy.behaves("unreachable")
    blocked = agent.clear_wall(REASON, on_exhausted="fail")
    with pytest.raises(human.Unreachable) as nobody:
        blocked.result(10)
    world.settle()
    world.forgives_what_rang()
    handoff = world.newest()
    expected = [("ada", "blocked"), ("ben", "busy"), ("cy", "unreachable")]
    assert world.dispositions(handoff) == expected
    calls = [one for one in nobody.value.attempts if one.channel == "call"]
    assert [(one.contact, one.disposition) for one in calls] == expected
    said = [line.words for line in timeline.lines(world.record(handoff), world.events(handoff), {})]
    for words in (
        "Call to Ada: our account or its settings forbid the call.",
        "Call to Ben: busy.",
        "Call to Cy: the network could not reach the phone.",
    ):
        assert said.count(words) == 1
    assert [one.detail for one in world.record(handoff).attempts if one.contact == "ada" and one.call] == [
        "Twilio error 21215"
    ]


def _greeted(world: World) -> list[str]:
    """The numbers of people who have heard who calls."""
    return [
        call["person"]
        for call in world.phone.state()["calls"]
        if any("Handoff for" in line["text"] for line in call["transcript"])
    ]


def _ends_well(world: World, handoff: str) -> None:
    assert world.types(handoff).count("resolved") == 1
    for number in {one["form"]["To"][0] for one in world.creates()}:
        assert len([one for one in world.creates(to=number) if one["sid"]]) <= 1, "nobody is rung twice"
    world.forgives_what_rang()
    codes = {entry["code"] for entry in world.phone.debugger()}
    assert codes <= {11200}, "only what we refuse to believe may be in the debugger"
    for entry in world.phone.debugger():
        world.phone.expect_debugger(entry["code"])
