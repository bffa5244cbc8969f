"""Machine detection: what a verdict leads to, and that none of them proves a person.

Voicemail without detection is test_ladder.py's business, what each verdict is called test_dispositions.py's.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from handoff.models import Call
from tests.world import ADA, MakeWorld, World, path_of

PEOPLE = """
[contacts.ada]
name = "Ada"
numbers = ["+12125550123"]
[contacts.ben]
name = "Ben"
numbers = ["+12125550124"]
[policies.default]
detect_machines = true
[[policies.default.steps]]
contacts = ["ada"]
[[policies.default.steps]]
contacts = ["ben"]
"""
LEFT = "This is Handoff, for Ada. An agent needs you. Please look at your texts, or call this number back."


@pytest.fixture
def world(make_world: MakeWorld, tmp_path: Path) -> World:
    """Ada, then Ben; the provider listens for machines."""
    file = tmp_path / "people.toml"
    file.write_text(PEOPLE)
    return make_world(
        HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="", HANDOFF_ROUNDS=""
    )


def test_a_mailbox_is_left_a_few_words_while_the_next_person_is_rung(world: World) -> None:
    # Telephony case 26.
    world.ada.behaves("voicemail")
    handoff = world.open()
    call = world.reached(world.ada)
    world.advance_until(lambda: len(world.creates()) == 2, "Ben is rung", at_most_s=20)
    assert call.record()["status"] == "in-progress", "the message is being left meanwhile"
    ben = world.reached(world.ben)
    world.listens(call, "Goodbye.")
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    kept = " ".join(call.recorded)
    assert LEFT in kept
    assert "http" not in kept and "blocking checkout" not in kept.partition("This is Handoff")[2]
    ben.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "voicemail"), ("ben", "resolved")]
    told = world.types(handoff)
    assert told.count("machine_heard") == 1 and told.count("attempt_ended") == 1


def test_a_fax_machine_is_hung_up_on(world: World) -> None:
    world.ada.behaves("answers", answered_by="fax", verdict_after_s=3)
    handoff = world.open()
    call = world.reached(world.ada)
    world.advance(3)
    call.ended("completed")
    assert "This is Handoff, for Ada" not in " ".join(call.transcript)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff)[0] == ("ada", "voicemail")
    assert world.record(handoff).attempts[0].detail == "a fax machine"


@pytest.mark.parametrize("verdict", ["human", "unknown", "machine_start"])
def test_no_verdict_proves_a_person(world: World, verdict: str) -> None:
    # Telephony case 25.
    world.ada.behaves("answers", answered_by=verdict, verdict_after_s=2)
    handoff = world.open()
    call = world.reached(world.ada)
    world.advance(3)
    assert world.show(handoff)["state"] == "escalating" and len(world.creates()) == 1
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]


def test_a_person_taken_for_a_machine_after_a_key_stays_on_the_line(world: World) -> None:
    """Whatever the key means: a mailbox presses none."""
    world.ada.behaves("answers", answered_by="machine_end_beep", verdict_after_s=5)
    handoff = world.open()
    call = world.reached(world.ada).press("*")
    world.advance(6)
    assert "machine_heard" not in world.types(handoff)
    call.press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]


def test_a_person_taken_for_a_machine_hears_the_message_and_can_still_answer_by_link(world: World) -> None:
    world.ada.behaves("answers", answered_by="machine_end_other", verdict_after_s=1)
    handoff = world.open()
    call = world.ada.expect_call("Handoff for")
    page = world.page(world.ada)
    world.listens(call, LEFT)
    ben = world.reached(world.ben)
    page.press("It’s done")
    assert world.show(handoff)["state"] == "resolved"
    ben.hears("Ada did it just now")
    call.ended("completed")  # a message that nobody needs any more is broken off
    assert world.dispositions(handoff)[0] == ("ada", "voicemail")


def test_a_verdict_that_is_late_forged_or_about_no_call_changes_nothing(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    call.hang_up()
    world.advance(1)
    world.ada.expect_call("We were cut off.").hang_up()
    world.advance(1)
    world.reached(world.ben).press("1").hears("Thank you")
    before = world.record(handoff)
    path = path_of(world.creates(to=ADA)[0]["form"]["AsyncAmdStatusCallback"][0])
    verdict = {"CallSid": call.sid, "AnsweredBy": "machine_end_beep"}
    assert world.twilio(path, verdict).status_code == 204
    assert world.twilio(path, verdict, signed_as=world.url + "/elsewhere").status_code == 403
    nobody = "/twilio/calls/ca_0000000000000000000000/machine"
    assert world.twilio(nobody, verdict).status_code == 204
    assert world.twilio(path, {"CallSid": call.sid}).status_code == 204
    assert world.record(handoff) == before
    assert _call(world, before.attempts[0].call).machine is None


def _call(world: World, call_id: str | None) -> Call:
    call = world.services.store.read_call(call_id or "")
    assert call is not None
    return call
