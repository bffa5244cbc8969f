"""Who is reached when nobody answers: the ladder, its end, and what machines prove (nothing)."""

from __future__ import annotations

import pytest

import human
from tests.world import REASON, Agent, MakeWorld, World


def test_no_key_gets_a_goodbye_counts_as_no_input_and_the_next_person_is_rung(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    world.listens(call, "I did not hear a key.", at_most_s=200)
    world.listens(call, "I did not hear a key.", at_most_s=200)
    world.listens(call, "Nothing is decided. The link in the text still works.", at_most_s=200)
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert world.dispositions(handoff)[0] == ("ada", "no_input")
    world.reached(world.ben).press("1").hears("Thank you")


def test_hanging_up_in_the_middle_is_seen_at_once_and_tried_once_more(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    world.advance(2)
    call.hang_up()
    world.ada.let_ring().decline()
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "hung_up"), ("ada", "no_answer"), ("ben", "resolved")]


@pytest.mark.parametrize(
    ("behaviour", "status", "disposition"),
    [("busy", "busy", "busy"), ("unreachable", "failed", "unreachable")],
)
def test_a_phone_that_can_not_be_reached_passes_it_on(
    world: World, behaviour: str, status: str, disposition: str
) -> None:
    world.ada.behaves(behaviour)  # type: ignore[arg-type]  # the parameters above are behaviours
    handoff = world.open()
    world.ada.missed_call(status)
    world.ada.expect_text()
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", disposition), ("ben", "resolved")]


def test_a_phone_that_rings_in_vain_passes_it_on_after_its_ring_time(world: World) -> None:
    handoff = world.open()
    call = world.ada.let_ring()
    world.ada.expect_text()
    world.advance(24)
    assert len(world.creates()) == 1
    world.advance(2)
    call.ended("no-answer")
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "no_answer"), ("ben", "resolved")]


def test_a_call_that_is_turned_down_passes_it_on_at_once(world: World) -> None:
    handoff = world.open()
    world.ada.let_ring().decline()
    world.ada.expect_text()
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff)[0] == ("ada", "no_answer")


def test_a_number_that_does_not_exist_is_skipped_but_stays_on_the_list(world: World) -> None:
    """A new account once got 21211 for a good number: the contact is skipped this time, not for ever."""
    for _ in range(2):
        world.phone.faults({"rest_error": {"code": 21211, "on": "calls"}})
        handoff = world.open()
        world.ada.expect_text()
        world.reached(world.ben).press("1").hears("Thank you")
        world.advance(10)
        assert world.dispositions(handoff) == [("ada", "invalid_number"), ("ben", "resolved")]
    world.open()
    world.advance(5)
    world.reached(world.ada).press("1").hears("Thank you")


def test_a_voicemail_that_records_everything_proves_nothing(world: World) -> None:
    """`completed` after many seconds, and still nobody has been reached."""
    world.ada.behaves("voicemail", after_s=20, records_s=300)
    handoff = world.open()
    world.ada.expect_text()
    world.advance(20)
    call = world.ada.expect_call(saying="Handoff for shopper")
    world.advance_until(lambda: call.record()["status"] == "completed", "the call to end", at_most_s=200)
    assert call.record()["duration_s"] >= 40
    assert world.show(handoff)["state"] == "escalating"
    assert world.dispositions(handoff)[0] == ("ada", "no_input")
    world.reached(world.ben).press("1").hears("Thank you")


def test_a_short_voicemail_proves_nothing_either(world: World) -> None:
    world.ada.behaves("voicemail", greeting="", records_s=10)
    handoff = world.open()
    world.reached(world.ada)
    world.advance(10)
    assert world.dispositions(handoff)[0] == ("ada", "hung_up")
    world.ada.expect_call("We were cut off.")
    world.advance(10)
    assert world.dispositions(handoff)[1] == ("ada", "hung_up")
    world.reached(world.ben).press("1").hears("Thank you")


def test_a_provider_that_says_human_or_machine_decides_nothing(world: World) -> None:
    """Verdicts of detection are wrong one time in four: `human` without a key confirms nothing."""
    handoff = world.open()
    call = world.reached(world.ada)
    [mine] = world.creates()
    path = mine["form"]["StatusCallback"][0].removeprefix(world.url)
    fields = {"CallSid": call.sid, "CallStatus": "in-progress", "AnsweredBy": "human", "SequenceNumber": "2"}
    assert world.twilio(path, fields).status_code == 204
    assert world.show(handoff)["state"] == "escalating"
    machine = {"CallSid": call.sid, "CallStatus": "completed", "AnsweredBy": "machine_end_beep"}
    assert world.twilio(path, machine).status_code == 204
    assert world.dispositions(handoff)[0] == ("ada", "voicemail")
    world.reached(world.ben).press("1").hears("Thank you")


def test_when_everybody_was_tried_the_link_is_good_until_the_deadline(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON, timeout_s=600)
    page = None
    for person in (world.ada, world.ben, world.cy):
        page = world.page(person)
        person.let_ring().busy()
    handoff = world.newest()
    world.settle()
    assert "policy_exhausted" in world.types(handoff)
    world.advance(500)
    assert world.show(handoff)["state"] == "escalating" and not blocked.done()
    assert page is not None
    page.read().press("It’s done")
    assert blocked.result(10).by.name == "Cy"


def test_the_deadline_comes_and_nobody_is_neither_yes_nor_no(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON, timeout_s=600)
    pages = []
    for person in (world.ada, world.ben, world.cy):
        pages.append(world.page(person))
        person.let_ring().busy()
    handoff = world.newest()
    world.advance(599)
    assert not blocked.done()
    world.advance(1)
    with pytest.raises(human.NobodyAnswered) as nobody:
        blocked.result(10)
    assert not isinstance(nobody.value, human.Unreachable)
    assert [one for one in nobody.value.dispositions if one == "busy"] == ["busy"] * 3
    shown = world.show(handoff)
    assert (shown["state"], shown["close_reason"], shown["settlement"]) == ("expired", "nobody", None)
    for page in pages:
        assert "Time ran out" in page.read().text and not page.forms


def test_an_agent_that_asked_to_fail_hears_at_once_that_nobody_can_be_reached(
    world: World, agent: Agent
) -> None:
    blocked = agent.clear_wall(REASON, on_exhausted="fail")
    for person in (world.ada, world.ben, world.cy):
        person.expect_text()
        person.let_ring().busy()
    with pytest.raises(human.Unreachable):
        blocked.result(10)
    shown = world.show(world.newest())
    assert (shown["state"], shown["close_reason"]) == ("expired", "unreachable")


def test_rounds_ring_everybody_again_and_text_nobody_twice(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_ROUNDS="2", HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550124")
    handoff = world.open()
    for person in (world.ada, world.ben, world.ada):
        person.let_ring().busy()
    world.reached(world.ben).press("1").hears("Thank you")
    world.ada.expect_text()
    attempts = [(one["contact"], one["round"]) for one in world.show(handoff)["attempts"] if one["call"]]
    assert attempts == [("ada", 0), ("ben", 0), ("ada", 1), ("ben", 1)]


def test_two_handoffs_for_one_person_ring_one_after_the_other(world: World) -> None:
    first, second = world.open(reason="The first wall"), world.open(reason="The second wall")
    call = world.ada.expect_call(saying="The first wall")
    world.advance(10)
    assert len(world.creates()) == 1, "one call at a time on a line"
    call.press("1").hears("Thank you")
    world.advance_until(lambda: len(world.creates()) == 2, "the second call")
    world.ada.expect_call(saying="The second wall").press("2").hears("gets the word")
    for words in ("The first wall", "The second wall"):
        world.ada.expect_text(words)
    assert [world.show(one)["state"] for one in (first, second)] == ["resolved", "declined"]


def test_only_numbers_that_were_configured_are_ever_called(world: World) -> None:
    refused = world.post_opening(to="+15005550006")
    assert refused.status_code == 422 and "to" in refused.text
    assert world.creates() == []
