"""Texts: sent once, their reports in any order, and what a failed one means (not much)."""

from __future__ import annotations

import pytest

from tests.world import ADA, World, in_parallel, path_of


def test_sent_and_delivered_in_the_same_moment_end_as_delivered(world: World) -> None:
    handoff = _silent(world)
    reports = [lambda: _report(world, "delivered"), lambda: _report(world, "sent")] * 3
    assert in_parallel(*reports) == [204] * 6
    assert world.dispositions(handoff, "text")[0] == ("ada", "delivered")
    told = [event.data["disposition"] for event in world.events(handoff) if event.type == "text_moved"]
    assert told in (["sent", "delivered"], ["delivered"])
    _ended(world)


def test_a_late_sent_does_not_lower_a_delivered(world: World) -> None:
    handoff = _silent(world)
    for status in ("delivered", "sent", "sending", "queued", "a-word-nobody-knows"):
        assert _report(world, status) == 204
    assert world.dispositions(handoff, "text")[0] == ("ada", "delivered")
    _ended(world)


def test_a_message_app_that_looks_at_the_link_settles_and_opens_nothing(world: World) -> None:
    # Telephony cases 62 and 63.
    world.ada.behaves("rings", previews=True)
    handoff = world.open()
    ringing = world.ada.let_ring()
    page = world.page(world.ada)
    world.settle()
    assert len([one for one in world.web.served if one.path.startswith("/h/")]) >= 3
    assert world.show(handoff)["state"] == "escalating"
    page.read().press("It’s done")
    assert world.show(handoff)["state"] == "resolved"
    ringing.ended("canceled")


def test_a_failure_after_sent_is_not_taken_for_a_repetition(world: World) -> None:
    """Once everything after the first report for a text was skipped, failures too."""
    handoff = _silent(world)
    assert _report(world, "sent") == 204
    assert _report(world, "failed", ErrorCode="30007") == 204
    assert world.dispositions(handoff, "text")[0] == ("ada", "blocked")
    _ended(world)


@pytest.mark.parametrize("order", [("undelivered", "delivered"), ("delivered", "undelivered")])
def test_a_receipt_counts_more_than_a_missing_one_in_either_order(
    world: World, order: tuple[str, str]
) -> None:
    handoff = _silent(world)
    for status in order:
        assert _report(world, status, ErrorCode="30003") == 204
    assert world.dispositions(handoff, "text")[0] == ("ada", "delivered")
    _ended(world)


@pytest.mark.parametrize("fault", ["lose_201", "503_after_accept", "500_after_accept"])
def test_a_text_whose_answer_is_lost_is_not_sent_twice(world: World, fault: str) -> None:
    world.phone.faults({fault: {"on": "messages"}})
    handoff = world.open()
    page = world.page(world.ada)
    call = world.ada.let_ring()
    world.settle()
    world.advance(10)
    assert len(world.creates("Messages")) == 1
    page.press("It’s done")
    call.ended("canceled")
    assert world.show(handoff)["state"] == "resolved"
    assert world.dispositions(handoff, "text") == [("ada", "delivered")]


def test_a_text_that_is_refused_does_not_stop_the_call_which_says_nothing_of_a_link(world: World) -> None:
    world.phone.faults({"rest_error": {"code": 21610, "on": "messages"}})
    world.phone.pace(ring_s=1)
    handoff = world.open()
    world.settle()
    world.advance(1)
    call = world.ada.expect_call("Handoff for")
    world.listens(call, "Press 1 when it is done")
    assert "The text has the link" not in " ".join(call.transcript)
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff, "text") == [("ada", "opted_out")]


def test_a_text_that_was_provably_not_processed_is_tried_again(world: World) -> None:
    world.phone.faults({"rest_error": {"code": 20429, "status": 429, "on": "messages"}})
    world.open()
    ringing = world.ada.let_ring()
    world.settle()
    world.advance(5)
    world.ada.expect_text("shopper is blocked")
    assert len(world.creates("Messages")) == 2
    ringing.answer().hears("Handoff for").press("1").hears("Thank you")


def test_an_undelivered_text_is_on_record_and_the_ladder_does_not_wait_for_it(world: World) -> None:
    world.ada.behaves("rings", texts="undelivered", error_code=30006)
    handoff = world.open()
    call = world.ada.expect_call("Handoff for")
    world.settle()
    assert world.dispositions(handoff, "text") == [("ada", "unreachable")]
    call.press("1").hears("Thank you")
    for text in world.phone.state(ADA)["messages"]:
        world.phone.expect(text["sid"])


def test_who_is_reached_twice_gets_one_text(world: World) -> None:
    handoff = world.open(timeout_s=3600)
    world.reached(world.ada).press("3").hears("You have it").hang_up()
    world.advance(301)
    for person in (world.ben, world.cy):
        world.reached(person).press("3").hears("You have it").hang_up()
        world.advance(301)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")
    assert len(world.creates("Messages", to=ADA)) == 1
    assert world.show(handoff)["settlement"]["by"]["name"] == "Ada"


def _silent(world: World) -> str:
    """A handoff whose text reports nothing by itself; Ada's phone rings."""
    world.phone.faults({"lose_callbacks": {"on": "messages"}})
    handoff = str(world.open()["id"])
    world.ada.expect_text()
    world.ada.let_ring()
    world.settle()
    return handoff


def _report(world: World, status: str, **more: str) -> int:
    [create] = world.creates("Messages")
    fields = {"MessageSid": create["sid"], "MessageStatus": status, **more}
    return world.twilio(path_of(create["form"]["StatusCallback"][0]), fields).status_code


def _ended(world: World) -> None:
    world.operator.cancel(world.newest())
