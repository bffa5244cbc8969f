"""What each key of the phone does, told as calls. What happens without a key is test_ladder.py's business."""

from __future__ import annotations

import pytest

import human
from tests.world import ADA, REASON, Agent, MakeWorld, World


def test_pressing_1_wakes_the_agent_and_says_who_did_it_and_how(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada, "Handoff for shopper. A human-verification checkbox is blocking checkout")
    assert not blocked.done(), "picking up is no answer"
    call.press("1").hears("Thank you. It is handed back to shopper")
    clearance = blocked.result(10)
    assert (clearance.by.kind, clearance.by.id, clearance.by.name) == ("contact", "ada", "Ada")
    assert (clearance.proof, clearance.channel, clearance.close_reason) == ("keypress", "call", "person")
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert world.dispositions(clearance.handoff_id) == [("ada", "resolved")]


def test_a_key_half_a_second_into_the_message_counts(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada)
    world.advance(0.5)
    call.press("1")
    assert blocked.result(10).proof == "keypress"
    call.hears("Thank you")
    assert not any("Press 1" in said for said in call.transcript), "the menu had not been read yet"


def test_pressing_2_is_a_no_which_is_neither_silence_nor_an_error(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    world.reached(world.ada).press("2").hears("shopper gets the word that it can't be done")
    with pytest.raises(human.Declined) as refusal:
        blocked.result(10)
    assert refusal.value.by is not None and refusal.value.by.name == "Ada"
    assert refusal.value.dispositions[0] == "declined"


def test_pressing_3_pauses_the_ladder_and_pressing_1_later_on_the_same_line_clears_it(
    world: World, agent: Agent
) -> None:
    blocked = agent.clear_wall(REASON)
    page = world.page(world.ada)
    call = world.ada.expect_call("Handoff for").press("3").hears("You have it for five minutes.")
    world.listens(call, "Stay on the line and press 1 when it is done, or hang up and use the link.")
    assert "You are on it." in page.read().text
    world.listens(call, "shopper is waiting. Press 1 when it is done")
    assert len(world.creates()) == 1, "Ben is left in peace"
    call.press("1").hears("Thank you. It is handed back to shopper")
    assert blocked.result(10).by.name == "Ada"
    told = world.types(world.newest())
    assert told.index("acknowledged") < told.index("resolved") and "lapsed" not in told


def test_a_key_counts_however_long_somebody_was_on_hold(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada).press("3").hears("You have it")
    [attempt] = [one for one in world.show(handoff)["attempts"] if one["call"]]
    path = f"/twilio/calls/{attempt['call']}/attempts/{attempt['id']}/key?turn=60&silent=1&held=1"
    assert "Nothing is decided" in world.twilio(path, {"Digits": "3"}).text, "who leans on a key"
    assert "Thank you" in world.twilio(path, {"Digits": "1"}).text


def test_who_picks_up_when_somebody_has_it_hears_who(make_world: MakeWorld) -> None:
    """Before the hang-up that is on its way gets there."""
    world = make_world(together=True)
    handoff = world.open()
    for person in (world.ada, world.ben, world.cy):
        person.expect_text()
    calls = [one for one in world.show(handoff)["attempts"] if one["call"]]
    for person in (world.ben, world.cy):
        person.let_ring()
    world.ada.expect_call("Handoff for").press("3").hears("You have it")
    theirs = next(one["call"] for one in calls if one["contact"] == "ben")
    said = world.twilio(f"/twilio/calls/{theirs}/voice", {"CallStatus": "in-progress"}).text
    assert "Ada took it just now. You can hang up." in said and "Press" not in said
    world.forgives_what_rang()


def test_an_acknowledgement_lapses_and_the_next_person_is_rung(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON, timeout_s=3600)
    call = world.reached(world.ada).press("3").hears("You have it for five minutes")
    call.hang_up()
    world.advance(299)
    assert world.show(world.newest())["state"] == "acknowledged"
    world.advance(1)
    world.reached(world.ben).press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ben"
    handoff = world.newest()
    assert world.dispositions(handoff) == [("ada", "acknowledged"), ("ben", "resolved")]
    lapsed = next(event for event in world.events(handoff) if event.type == "lapsed")
    assert lapsed.by.kind == "clock"


def test_who_fell_asleep_over_it_is_rung_again_when_nobody_else_is_left(world: World) -> None:
    handoff = world.open(timeout_s=86_400)
    for person in (world.ada, world.ben):
        world.reached(person).press("0").hears("is next. You can hang up")
    world.reached(world.cy).press("3").hears("You have it").hang_up()
    world.advance(301)
    world.ada.expect_call(saying="Handoff for shopper").press("1").hears("Thank you")
    assert world.show(handoff)["settlement"]["by"]["name"] == "Ada"
    assert len(world.creates("Messages")) == 3, "nobody gets a second text"


def test_pressing_0_passes_it_to_the_next_person_at_once(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    world.reached(world.ada).press("0").hears("Ben is next. You can hang up. Goodbye.")
    world.reached(world.ben).press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ben"
    handoff = world.newest()
    assert world.show(handoff)["state"] == "resolved", "passing it on was no refusal"
    assert world.dispositions(handoff) == [("ada", "declined"), ("ben", "resolved")]


def test_who_took_it_can_still_pass_it_on(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada).press("3").hears("You have it")
    call.press("0").hears("Ben is next")
    assert world.show(handoff)["state"] == "escalating"
    world.reached(world.ben).press("1").hears("Thank you")


def test_passing_it_on_names_who_is_rung_already(make_world: MakeWorld) -> None:
    world = make_world(together=True)
    handoff = world.open()
    cy, ben = world.cy.let_ring(), world.ben.let_ring()
    world.reached(world.ada).press("0").hears("Ben and Cy are next. You can hang up.")
    ben.answer().hears("Handoff for").press("0").hears("Cy is next.")
    cy.answer().hears("Handoff for").press("1").hears("Thank you")
    for person in (world.ben, world.cy):
        person.expect_text()
    assert world.show(handoff)["state"] == "resolved"


def test_the_last_person_is_not_offered_a_next_one(world: World) -> None:
    handoff = world.open()
    for person in (world.ada, world.ben):
        world.reached(person).press("0")
    call = world.reached(world.cy)
    world.listens(call, "Press star to hear this again")
    assert "next person" not in " ".join(call.transcript)
    call.press("0").hears("That key does nothing here")
    assert world.show(handoff)["state"] == "escalating"
    call.press("2").hears("gets the word")


def test_star_reads_it_from_the_start_and_slowly_the_second_time(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada, "A human-verification checkbox is blocking checkout")
    call.press("*").hears("Handoff for shopper. A human-verification checkbox is blocking checkout")
    call.press("*").hears("Handoff for shopper.")
    assert not call.transcript[-1].startswith("A human"), "a breath comes first"
    world.listens(call, "A human-verification checkbox is blocking checkout")
    call.press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"


def test_a_key_without_a_meaning_acts_on_nothing_and_the_voice_gives_up_after_a_few(world: World) -> None:
    """A handler that ran again for each key once sent a text for each; here there is one in all."""
    handoff = world.open()
    call = world.reached(world.ada)
    for _ in range(3):
        call.press("7").hears("That key does nothing here")
    call.press("7").hears("nothing is decided")
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert len(world.creates("Messages", to=ADA)) == 1
    assert world.dispositions(handoff)[0] == ("ada", "no_input")
    world.reached(world.ben).press("1").hears("Thank you")


def test_a_question_is_read_and_answered_by_link_not_by_a_digit(world: World, agent: Agent) -> None:
    asked = agent.ask("Which address should I ship to?")
    page = world.page(world.ada)
    call = world.ada.expect_call("It asks: Which address should I ship to?")
    world.listens(call, "Answer by the link in the text.")
    call.press("1").hears("That key does nothing here")
    assert "Which address should I ship to?" in page.text
    page.press("Send the answer", answer="12 Elm Street")
    assert asked.result(10) == "12 Elm Street"
    call.hears("You answered just now")


def test_a_question_can_be_refused_by_key(world: World, agent: Agent) -> None:
    asked = agent.ask("Which address should I ship to?")
    world.reached(world.ada).press("2").hears("shopper gets the word that you can't answer")
    with pytest.raises(human.Declined):
        asked.result(10)
