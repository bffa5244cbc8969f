"""Who wants no more calls or texts: 8 twice, STOP and START, and what Twilio knows and we were not told."""

from __future__ import annotations

import pytest

import human
from devphone.testing import CallOnPhone
from tests.world import ADA, OURS, REASON, Agent, MakeWorld, World, path_of
from voice import urls

ASKED = "To stop all calls to this number, press 8 again."
STOPPED = "We will not call this number again. An operator can undo it when you ask. Goodbye."


def test_8_twice_stops_calls_to_this_number_and_the_next_person_is_rung(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada).press("8").hears(ASKED)
    assert not _opt_outs(world), "one key alone takes no number away"
    call.press("8").hears(STOPPED).hang_up()
    [kept] = _opt_outs(world)
    assert (kept["contact"], kept["channel"], kept["how"], kept["number"]) == ("ada", "call", "key", "…0123")
    _settles(world, world.reached(world.ben))
    assert blocked.result(10).by.name == "Ben", "it was no refusal"
    first = world.newest()
    assert world.dispositions(first) == [("ada", "opted_out"), ("ben", "resolved")]
    assert "opted_out" in world.types(first)

    handoff = world.open(urgency="critical")
    world.ada.expect_text()
    _settles(world, world.reached(world.ben))
    assert world.dispositions(handoff)[0] == ("ada", "opted_out")
    assert len(world.creates(to=ADA)) == 1, "not even what is critical rings there again"

    assert world.operator.http.delete(f"/v1/opt-outs/{kept['id']}").status_code == 200
    assert not _warnings(world)
    world.open()
    world.ada.expect_text()
    _settles(world, world.ada.expect_call("Handoff for"))


def test_after_one_8_another_key_does_what_it_does_in_the_menu(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada).press("8").hears(ASKED).press("*").hears("Handoff for shopper")
    call.press("8").hears(ASKED).press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"
    assert not _opt_outs(world)


def test_the_second_8_told_twice_and_late_acts_once(world: World) -> None:
    world.phone.faults({"duplicate_webhooks": {}})
    handoff = world.open()
    call = world.reached(world.ada).press("8").hears(ASKED).press("8").hears(STOPPED)
    world.reached(world.ben)
    [kept] = _opt_outs(world)
    world.operator.http.delete(f"/v1/opt-outs/{kept['id']}")
    [asked] = [one for one in call.record()["documents"] if "/stop?" in one["url"]]
    late = world.twilio(path_of(asked["url"]), asked["fields"])
    assert STOPPED in late.text
    assert not _opt_outs(world), "an operator lifted it since"
    assert world.types(handoff).count("opted_out") == 1
    world.operator.cancel(str(handoff["id"]))


def test_who_is_left_when_everybody_asked_us_to_stop(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_TO_NUMBER=f"Ada={ADA}")
    first = world.open()
    call = world.reached(world.ada)
    world.operator.cancel(str(first["id"]))
    call.hears("withdrew it").hang_up()
    second = world.open()
    world.reached(world.ada).press("8").hears(ASKED).press("8").hears(STOPPED).hang_up()
    assert world.show(second)["state"] == "escalating", "the link stays good"
    blocked = world.agent.clear_wall(REASON, on_exhausted="fail")
    with pytest.raises(human.Unreachable) as failure:
        blocked.result(10)
    assert failure.value.dispositions[0] == "opted_out"
    world.forgives_what_rang()


def test_stop_ends_texts_and_no_calls_until_start(world: World) -> None:
    world.phone.line(OURS).sends_texts_to(world.services.settings.public_url + urls.inbound_texts())
    world.ada.texts(OURS, " Stop. ")
    world.settle()
    [told] = _warnings(world)
    assert told["words"] == f"Ada must text START to {OURS} before …0123 can be texted again."
    handoff = world.open()
    _settles(world, world.ada.expect_call("Handoff for"))
    assert world.creates("Messages") == []
    assert world.dispositions(handoff, "text") == [("ada", "opted_out")]
    world.ada.texts(OURS, "start")
    world.settle()
    assert _warnings(world) == _opt_outs(world) == []
    world.open()
    _settles(world, world.reached(world.ada))
    world.forgives_what_rang()  # Twilio's own answers to STOP and START


def test_a_stop_that_only_twilio_knows_is_tried_again_with_the_next_handoff(world: World) -> None:
    world.ada.texts(OURS, "STOP")
    for expected in (1, 2):
        world.open()
        _settles(world, world.ada.expect_call("Handoff for"))
        assert len(world.creates("Messages")) == expected, "one try for each handoff"
    [told] = _warnings(world)
    assert (told["kind"], told["code"], told["count"]) == ("no_texts", 21610, 2)
    world.ada.texts(OURS, "START")
    world.forgives_what_rang()
    world.open()
    _settles(world, world.reached(world.ada))
    assert _warnings(world) == _opt_outs(world) == []


def test_other_texts_get_one_answer_an_hour_where_something_waits(world: World) -> None:
    world.phone.line(OURS).sends_texts_to(world.services.settings.public_url + urls.inbound_texts())
    world.ada.texts(OURS, "what is this?")
    stranger = world.phone.device("+12125550177")
    stranger.texts(OURS, "STOP")
    stranger.expect_text("You will get no more texts from this number.")  # Twilio's own answer
    world.open()
    call = world.reached(world.ada)
    world.ada.texts(OURS, "stop it")
    world.ada.expect_text("To answer, use the link in our text, or call this number.")
    world.ada.texts(OURS, "hello?")
    world.settle()
    assert _opt_outs(world) == [], "a sentence is no STOP, and strangers are not kept"
    _settles(world, call)  # and whoever wrote again got no second answer


def _opt_outs(world: World) -> list[dict[str, str]]:
    found: list[dict[str, str]] = world.operator.http.get("/v1/opt-outs").json()["opt_outs"]
    return found


def _warnings(world: World) -> list[dict[str, str]]:
    found: list[dict[str, str]] = world.operator.http.get("/v1/warnings").json()["warnings"]
    return found


def _settles(world: World, call: CallOnPhone) -> None:
    """Presses 1 when texts are out, and hangs up."""
    world.settle()
    call.press("1").hears("Thank you").hang_up()
    world.settle()
