"""A create whose answer is lost, and callbacks that are lost, doubled, late, early or out of order."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from handoff.models import Call
from handoff.states import CallState
from tests.world import REASON, Agent, World, in_parallel, path_of


@pytest.mark.parametrize("fault", ["lose_201", "503_after_accept", "500_after_accept"])
def test_a_call_whose_create_has_no_answer_is_unknown_until_its_callback_and_rings_once(
    world: World, agent: Agent, fault: str
) -> None:
    """An ambiguous answer once made a client ring twice; here it is one call, bound by its own callbacks.

    They wait in the provider's queue: a callback that overtakes the answer leaves nothing unknown.
    """
    world.phone.pace(queue_s=1)
    world.phone.faults({fault: 1})
    blocked = agent.clear_wall(REASON)
    world.ada.expect_text()
    world.settle()
    handoff = world.newest()
    assert "call_unknown" in world.types(handoff)
    world.advance(1)
    ringing = world.ada.let_ring()
    world.settle()
    assert _call(world).provider_id == ringing.sid
    ringing.answer().hears("Handoff for").press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"
    assert len(world.creates()) == 1


def test_a_call_that_nothing_is_ever_heard_of_is_looked_up_once_and_the_ladder_goes_on(world: World) -> None:
    """Promise 7: at the latest 30 seconds after the ring time, and never a second create of the same call."""
    world.phone.faults({"lose_201": 1, "lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    world.advance(54)
    ringing.ended("no-answer")
    assert _call(world).state is CallState.UNKNOWN
    assert not _look_ups(world)
    world.advance(1)
    assert 1 <= len(_look_ups(world)) <= 2, "one look-up, in at most two requests"
    assert world.dispositions(handoff)[0] == ("ada", "no_answer")
    assert _call(world).provider_id == ringing.sid
    world.reached(world.ben).press("1").hears("Thank you")
    assert len(world.creates()) == 2


def test_a_create_that_was_refused_by_a_gateway_on_the_way_is_never_sent_again(world: World) -> None:
    """503 without the call existing looks just like 503 with it: it stays unknown, and Ben is rung."""
    world.phone.faults({"rest_error": {"code": 20503, "status": 503}})
    handoff = world.open()
    world.ada.expect_text()
    world.advance(54)
    assert len(world.creates()) == 1
    world.advance(1)
    assert world.dispositions(handoff)[0] == ("ada", "unknown")
    world.reached(world.ben).press("1").hears("Thank you")


def test_a_create_that_was_provably_not_processed_is_tried_again(world: World) -> None:
    """20429: too many requests; the provider says that it did nothing."""
    world.phone.faults({"rest_error": {"code": 20429, "status": 429}})
    handoff = world.open()
    world.ada.expect_text()
    world.advance(4)
    assert len(world.creates()) == 1
    world.advance(1)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]
    assert len(world.creates()) == 2


def test_a_callback_that_overtakes_the_201_binds_the_call_and_the_201_lowers_nothing(world: World) -> None:
    world.phone.faults({"early_callback": 1, "delay_201_s": {"seconds": 0.4}})
    world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    world.settle()
    call = _call(world)
    assert (call.state, call.provider_id) == (CallState.RINGING, ringing.sid)
    ringing.answer().hears("Handoff for").press("1").hears("Thank you")


def test_answered_before_the_201_came_the_call_stays_answered(world: World, agent: Agent) -> None:
    """The 201 is so late that the person has answered and pressed 1 before it."""
    world.ada.behaves("answers")
    world.phone.faults({"early_callback": 1, "delay_201_s": {"seconds": 1.5}})
    blocked = agent.clear_wall(REASON)
    call = world.ada.expect_call("Handoff for")
    assert _call(world).state is CallState.ANSWERED
    call.press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"
    world.settle()
    assert _call(world).state is CallState.ANSWERED
    assert world.creates("Messages") == [], "the one worker was still waiting for the 201"
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert _call(world).state is CallState.ENDED


def test_every_callback_twice_changes_nothing(world: World, agent: Agent) -> None:
    world.phone.faults({"duplicate_callbacks": 1})
    blocked = agent.clear_wall(REASON)
    world.reached(world.ada).hang_up()
    world.ada.let_ring().decline()
    world.reached(world.ben).press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ben"
    handoff = world.newest()
    told = world.types(handoff)
    assert told.count("call_answered") == 2 and told.count("call_ringing") == 3
    assert told.count("calls_back") == 1
    assert world.dispositions(handoff) == [("ada", "hung_up"), ("ada", "no_answer"), ("ben", "resolved")]


STORY = ["initiated", "ringing", "in-progress", "completed"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[1::4], ids=str)
def test_callbacks_in_any_order_lead_to_the_same_end(world: World, order: tuple[int, ...]) -> None:
    world.phone.faults({"lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    for seq in order:
        assert _callback(world, ringing.sid, STORY[seq], seq) == 204
    call = _call(world)
    assert (call.state, call.provider_id) == (CallState.ENDED, ringing.sid)
    assert world.types(handoff).count("attempt_ended") == 1
    cut_off = order.index(2) < order.index(3)
    assert world.dispositions(handoff)[0] == ("ada", "hung_up" if cut_off else "unknown")
    if cut_off:
        world.ada.expect_call("We were cut off.").press("1").hears("Thank you")
    else:
        world.reached(world.ben).press("1").hears("Thank you")
    assert len(world.creates()) == 2


def test_callbacks_all_at_once_lead_to_the_same_end(world: World) -> None:
    world.phone.faults({"lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    assert _callback(world, ringing.sid, "in-progress", 2) == 204
    told = [(STORY[seq], seq) for seq in range(4)] * 3
    codes = in_parallel(*(lambda one=one: _callback(world, ringing.sid, *one) for one in told))
    assert codes == [204] * 12
    assert _call(world).state is CallState.ENDED
    assert world.types(handoff).count("attempt_ended") == 1
    world.ada.expect_call("We were cut off.").press("1").hears("Thank you")
    assert len(world.creates()) == 2


def test_callbacks_that_come_after_the_end_move_nothing(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    call.hang_up()
    world.ada.expect_call("We were cut off.").press("1").hears("Thank you")
    before = world.record(handoff)
    for seq, status in enumerate(STORY + ["no-answer", "busy", "a-word-nobody-knows"]):
        assert _callback(world, call.sid, status, seq) == 204
    assert world.record(handoff) == before


def test_a_callback_about_a_call_that_nobody_knows_changes_nothing(world: World) -> None:
    nobody = "/twilio/calls/ca_0000000000000000000000/status"
    assert world.twilio(nobody, {"CallSid": "CA0", "CallStatus": "completed"}).status_code == 204
    answer = world.twilio("/twilio/calls/ca_0000000000000000000000/voice", {"CallSid": "CA0"})
    assert answer.status_code == 200 and "is over" in answer.text


def test_a_no_answer_of_which_nothing_else_was_heard_is_one(world: World) -> None:
    # Telephony case 53: as it was captured, the first and only callback of its call.
    world.phone.faults({"lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    fields = {
        "CallSid": ringing.sid,
        "CallStatus": "no-answer",
        "SequenceNumber": "0",
        "SipResponseCode": "487",
    }
    path = path_of(world.creates()[0]["form"]["StatusCallback"][0])
    assert world.twilio(path, fields | {"CallDuration": "0", "Duration": "0"}).status_code == 204
    assert world.dispositions(handoff)[0] == ("ada", "no_answer")
    world.reached(world.ben).press("1").hears("Thank you")


def test_callbacks_are_asked_for_one_by_one(world: World) -> None:
    """All four events in one value, parted by spaces, once meant that only the last one ever came."""
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    [create] = world.creates()
    assert create["form"]["StatusCallbackEvent"] == ["initiated", "ringing", "answered", "completed"]
    assert create["form"]["StatusCallbackMethod"] == ["POST"]


def test_the_same_voice_request_twice_gets_the_same_words_and_acts_once(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    world.settle()  # the text's receipt may still be on its way
    [create] = world.creates()
    before = world.record(handoff)
    asked = {"CallSid": call.sid, "CallStatus": "in-progress"}
    first, second = (world.twilio(path_of(create["form"]["Url"][0]), asked) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.text == second.text
    assert world.record(handoff) == before
    call.press("2").hears("gets the word")


def test_the_same_key_request_twice_gets_the_same_words_and_acts_once(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    record = _call(world)
    path = f"/twilio/calls/{record.id}/attempts/{record.entries[0].attempt}/key?turn=1&silent=1"
    answers = in_parallel(*[lambda: world.twilio(path, {"CallSid": call.sid, "Digits": "1"})] * 4)
    assert {one.status_code for one in answers} == {200}
    assert len({one.text for one in answers}) == 1 and "Thank you" in answers[0].text
    assert world.types(handoff).count("resolved") == 1
    assert "late_answer_refused" not in world.types(handoff)
    assert _call(world).pressed == "1", "one key was pressed, however often we were told"
    call.hang_up()


def _call(world: World) -> Call:
    """The record of the first call of the newest handoff."""
    attempt = next(one for one in world.record(world.newest()).attempts if one.call)
    call = world.services.store.read_call(attempt.call or "")
    assert call is not None
    return call


def _look_ups(world: World) -> list[dict[str, Any]]:
    return [one for one in world.phone.requests() if one["method"] == "GET"]


def _callback(world: World, sid: str, status: str, seq: int) -> int:
    fields = {"CallSid": sid, "CallStatus": status, "SequenceNumber": str(seq)}
    return world.twilio(path_of(world.creates()[0]["form"]["StatusCallback"][0]), fields).status_code
