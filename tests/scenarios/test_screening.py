"""A phone that asks callers who they are: it is told, the person hears everything, and only a key counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import ADA, OURS, MakeWorld, World

PEOPLE = """
[contacts.ada]
name = "Ada"
numbers = ["+12125550123"]
screens_calls = true
[contacts.ben]
name = "Ben"
numbers = ["+12125550124"]
"""
PURPOSE = "Handoff, calling for Ada: an agent needs a decision."
GREETING = "Handoff for shopper. A human-verification checkbox is blocking checkout."


@pytest.fixture
def world(make_world: MakeWorld, tmp_path: Path) -> World:
    """Ada, whose phone screens calls, then Ben."""
    file = tmp_path / "people.toml"
    file.write_text(PEOPLE)
    return make_world(
        HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="", HANDOFF_ROUNDS=""
    )


def test_the_screener_hears_who_calls_and_the_person_hears_everything(world: World) -> None:
    world.ada.behaves("screening")
    handoff = world.open()
    world.ada.expect_text()
    world.advance(25)
    call = world.ada.screened_call(hearing=PURPOSE)
    assert "checkout" not in call.record()["screened"]
    assert world.show(handoff)["state"] == "escalating"
    call.answer().says("Yes, hello?")
    world.listens(call, GREETING)
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]


def test_who_picks_up_without_a_word_hears_everything_too(world: World) -> None:
    world.ada.behaves("screening")
    world.open()
    world.ada.expect_text()
    world.advance(25)
    call = world.ada.screened_call(hearing=PURPOSE).answer()
    world.listens(call, GREETING)
    call.press("1").hears("Thank you")


def test_a_call_that_only_the_screener_took_was_screened(world: World) -> None:
    world.ada.behaves("screening")
    handoff = world.open()
    world.ada.expect_text()
    world.advance(25)
    world.ada.screened_call(hearing=PURPOSE).decline()
    world.advance(10)
    assert world.dispositions(handoff)[0] == ("ada", "screened")
    world.reached(world.ben).press("1").hears("Thank you")


@pytest.mark.slow
def test_a_screened_call_that_ends_on_the_mailbox_was_screened_too(world: World) -> None:
    world.ada.behaves("screening")
    handoff = world.open()
    world.ada.expect_text()
    world.advance_until(lambda: len(world.creates()) == 2, "Ben is rung", at_most_s=200)
    world.ada.missed_call("completed")
    assert world.dispositions(handoff)[0] == ("ada", "screened")
    world.reached(world.ben).press("1").hears("Thank you")


def test_saying_yes_is_no_yes(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    for words in ("Yes", "Yes, I approve", "One"):
        call.says(words)
        world.advance(2)
    world.listens(call, "Press 1 when it is done")
    assert world.show(handoff)["state"] == "escalating"
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]


def test_no_screener_is_taken_for_a_mailbox_by_machine_detection(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    """It is a machine, and the attempt would be over before the person heard of it."""
    file = tmp_path / "people.toml"
    steps = '[policies.default]\ndetect_machines = true\nsteps = [{contacts = ["ada"]}]\n'
    file.write_text(PEOPLE + steps)
    world = make_world(
        HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="", HANDOFF_ROUNDS=""
    )
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    assert "MachineDetection" not in world.creates(to=ADA)[0]["form"]


def test_a_number_that_the_phone_lets_through_just_rings(world: World) -> None:
    world.ada.behaves("screening", lets_through=[OURS])
    world.open()
    world.reached(world.ada, GREETING).press("1").hears("Thank you")


def test_a_phone_that_screens_unannounced_hears_the_greeting_and_its_person_the_reason(
    world: World,
) -> None:
    """Nobody said that Ben's phone asks: whoever picks up in the middle is told what it is about."""
    world.ada.behaves("busy")
    world.ben.behaves("screening")
    handoff = world.open()
    world.ada.missed_call("busy")
    for person in (world.ada, world.ben):
        person.expect_text()
    world.advance(25)
    call = world.ben.screened_call().answer()
    world.listens(call, "I did not hear a key.")
    world.listens(call, "A human-verification checkbox is blocking checkout")
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "busy"), ("ben", "resolved")]
