"""Called back: because they asked for it by a key, or because the line was cut with nothing decided."""

from __future__ import annotations

from tests.world import MakeWorld, World


def test_9_is_a_call_back_in_two_minutes_and_nobody_else_is_rung_meanwhile(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada).press("9").hears("We call you back in two minutes. Goodbye.")
    world.advance(10)
    [attempt] = [one for one in world.show(handoff)["attempts"] if one["disposition"] == "call_back"]
    path = f"/twilio/calls/{attempt['call']}/attempts/{attempt['id']}/key?turn=1&silent=1"
    again = world.twilio(path, {"Digits": "9", "CallStatus": "in-progress"})
    assert "We call you back in two minutes" in again.text
    world.advance(109)
    assert len(world.creates()) == 1
    world.advance(1)
    world.ada.expect_call("You asked to be called back. Handoff for shopper").press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "call_back"), ("ada", "resolved")]
    assert world.types(handoff).count("calls_back") == 1


def test_who_was_cut_off_is_called_again_at_once_and_only_once(make_world: MakeWorld) -> None:
    """The cap of one call a minute is for new calls, and does not swallow this one."""
    world = make_world(HANDOFF_NUMBER_CAPS="1/1m 3/15m")
    handoff = world.open()
    world.reached(world.ada).hang_up()
    world.advance(1)
    world.ada.expect_call("We were cut off. Handoff for shopper").hang_up()
    world.advance(1)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "hung_up"), ("ada", "hung_up"), ("ben", "resolved")]
    assert world.types(handoff).count("calls_back") == 1


def test_who_asks_us_to_stop_and_hangs_up_is_not_rung_again(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada).press("8").hears("press 8 again").hang_up()
    world.advance(1)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "hung_up"), ("ben", "resolved")]


def test_a_call_back_that_is_needed_no_more_is_not_placed(world: World) -> None:
    handoff = world.open()
    page = world.page(world.ada)
    world.ada.expect_call("Handoff for").press("9").hears("We call you back")
    page.press("It’s done")
    world.advance(200)
    assert len(world.creates()) == 1
    assert world.dispositions(handoff) == [("ada", "call_back"), ("ada", "withdrawn")]
