"""Contacts enrolled at run time: asked by a call first, called for nothing else before a key says yes."""

from __future__ import annotations

from typing import Any

import httpx2

from devphone.testing import CallOnPhone, Device
from handoff import effects
from handoff.effects import EffectKind
from handoff.store import Plan
from tests.world import ADA, OURS, World
from voice import urls
from workers import clock

DORA, DORAS_OTHER = "+12125550126", "+12125550127"
QUESTION = (
    "This is Handoff, for ops. May we call this number when an agent needs you? "
    "Press 1 for yes. Press 2 for no."
)


def enrol(world: World, **body: Any) -> httpx2.Response:
    wanted = {"id": "dora", "name": "Dora", "numbers": [DORA]} | body
    return world.operator.http.post("/v1/contacts", json=wanted)


def contact(world: World, contact_id: str = "dora") -> dict[str, Any]:
    found: dict[str, Any] = world.operator.http.get(f"/v1/contacts/{contact_id}").raise_for_status().json()
    return found


def dora(world: World, number: str = DORA) -> Device:
    return world.phone.device(number)


def asked(world: World, number: str = DORA) -> CallOnPhone:
    return dora(world, number).expect_call("May we call this number when an agent needs you?")


def said(world: World, call: CallOnPhone, key: str, answer: str) -> None:
    """They press a key, hear what was kept, and hang up."""
    call.press(key).hears(answer).hang_up()
    world.settle()


def test_a_yes_by_key_is_kept_word_for_word_and_from_then_on_they_can_be_reached(world: World) -> None:
    answer = enrol(world, caller_word="blue kettle")
    assert (answer.status_code, answer.json()["state"]) == (201, "unverified")
    assert answer.json()["numbers"] == ["…0126"] and DORA not in answer.text
    call = asked(world)
    assert call.transcript == [f"blue kettle. {QUESTION}"]
    refused = world.post_opening(contact="dora")
    assert refused.status_code == 422 and "Dora is not verified yet" in refused.text
    said(world, call, "1", "Thank you. We may call you for ops. You get a text")
    text = dora(world).expect_text()
    assert text.body == f"Handoff: save this number so that our calls ring through: {world.url}/card"
    found = contact(world)
    assert found["state"] == "verified"
    [consent] = found["consent"]
    assert (consent["key"], consent["number"], consent["words"]) == ("1", "…0126", QUESTION)
    assert enrol(world, caller_word="blue kettle").status_code == 200, "the same again rings nobody"
    handoff = world.open(contact="dora")
    world.reached(dora(world), "blue kettle. Handoff for shopper.").press("1").hears("Thank you")
    assert world.show(handoff)["settlement"]["by"]["name"] == "Dora"
    assert len(world.creates()) == 2


def test_a_no_is_kept_and_only_an_operator_has_them_asked_again(world: World) -> None:
    enrol(world)
    said(world, asked(world), "2", "All right. We will not call you.")
    assert contact(world)["state"] == "refused"
    refused = world.post_opening(contact="dora")
    assert refused.status_code == 422 and "Dora said no" in refused.text
    for _ in range(2):  # the second time that call is under way
        again = world.operator.http.post("/v1/contacts/dora/verification")
        assert again.status_code == 200, again.text
    assert contact(world)["state"] == "refused", "until they say otherwise"
    said(world, asked(world), "1", "Thank you")
    dora(world).expect_text()
    assert contact(world)["state"] == "verified" and len(world.creates()) == 2
    assert world.operator.http.post("/v1/contacts/dora/verification").status_code == 409


def test_without_a_key_nothing_is_agreed_whoever_picked_up_and_no_operator_can_say_it(world: World) -> None:
    enrol(world)
    call = asked(world)
    asking = contact(world)["verification"]
    assert world.operator.resolve(asking).status_code == 422
    call.press("3")
    world.listens(call, "I did not hear a yes or a no.")
    world.listens(call, "You pressed no key, so we will not call you", at_most_s=200)
    world.advance_until(lambda: call.record()["status"] == "completed", "the voice hangs up")
    assert contact(world)["state"] == "unverified" and world.creates("Messages") == []
    assert world.operator.http.get(f"/v1/handoffs/{asking}").json()["state"] == "expired"
    assert world.post_opening(contact="dora").status_code == 422


def test_each_number_is_called_only_if_the_key_was_pressed_on_it(world: World) -> None:
    enrol(world, numbers=[DORA, DORAS_OTHER])
    dora(world).let_ring().busy()
    said(world, asked(world, DORAS_OTHER), "1", "Thank you")
    dora(world, DORAS_OTHER).expect_text()
    handoff = world.open(contact="dora", on_exhausted="fail")
    dora(world, DORAS_OTHER).expect_text()
    dora(world, DORAS_OTHER).let_ring().busy()
    world.settle()
    assert world.show(handoff)["close_reason"] == "unreachable", "the first number never said yes"
    world.operator.http.post("/v1/contacts/dora/verification").raise_for_status()
    said(world, asked(world), "1", "Thank you. We may call you for ops. Goodbye.")
    assert [one["number"] for one in contact(world)["consent"]] == ["…0127", "…0126"]


def test_an_answer_survives_the_end_of_whoever_was_to_put_it_on_record(world: World) -> None:
    """Between the key and the record is a row in the outbox, and here no clock for a while."""
    enrol(world)
    call = asked(world)
    call.press("1").hears("Thank you")
    assert contact(world)["state"] == "unverified"
    rows = world.redis.hkeys(world.key("effects"))
    assert [one for one in rows if one.startswith(EffectKind.ENROL)]
    clock.tick(world.services)
    world.settle()
    dora(world).expect_text()
    assert contact(world)["state"] == "verified"


def test_processes_that_had_not_heard_of_a_contact_hear_of_them_before_they_act(world: World) -> None:
    """No time passes here, so that what a process looked at last is all it knows."""
    other = world.start_web()
    other.services.handoffs.rules()
    enrol(world)
    said(world, asked(world), "1", "Thank you")
    dora(world).expect_text()
    assert other.services.handoffs.rules().people.contact("dora") is None
    opened = world.http.post(
        f"{other.url}/v1/handoffs", json={"kind": "clear", "reason": "A wall", "contact": "dora"}
    )
    assert opened.status_code == 201
    world.reached(dora(world)).press("1").hears("Thank you")
    third = world.start_web()
    third.services.handoffs.rules()
    assert third.services.handoffs.rules().people.contact("dora"), "a new process begins with all of them"


def test_who_is_taken_out_is_not_called_and_a_call_that_asks_is_withdrawn(world: World) -> None:
    enrol(world)
    ringing = dora(world).let_ring()
    assert world.operator.http.delete("/v1/contacts/dora").status_code == 204
    world.settle()
    ringing.ended("canceled")
    assert world.operator.http.delete("/v1/contacts/dora").status_code == 404
    assert world.post_opening(contact="dora").status_code == 422
    assert enrol(world, id="dora-2").status_code == 201, "the number is free again"
    asked(world).press("2")
    world.settle()


def test_who_was_enrolled_may_call_us_and_is_heard_when_they_text_stop(world: World) -> None:
    at = world.services.settings.public_url
    world.phone.line(OURS).sends_calls_to(
        at + urls.inbound_calls(), status_callback=at + urls.inbound_status()
    )
    world.phone.line(OURS).sends_texts_to(at + urls.inbound_texts())
    enrol(world, pin="719204")
    said(world, asked(world), "1", "Thank you")
    dora(world).expect_text()
    dora(world).texts(OURS, "STOP")
    world.forgives_what_rang()  # Twilio's own answer
    [kept] = world.operator.http.get("/v1/opt-outs").json()["opt_outs"]
    assert (kept["contact"], kept["channel"], kept["how"]) == ("dora", "text", "text")
    due, now = effects.send_card("dora", world.services.clock()), world.services.clock()
    world.services.store.commit(Plan(effects=[due]), now)
    world.services.enqueue([due.id])
    world.settle()
    refused = world.operator.http.post("/v1/contacts/dora/card")
    assert refused.status_code == 409 and "STOP" in refused.text
    assert len(world.creates("Messages")) == 1, "not even the card that was due is sent"
    handoff = world.open(contact="dora", timeout_s=3600)
    dora(world).let_ring().decline()
    call = dora(world).calls(OURS).hears("Enter your PIN or your code")
    for digit in "719204#":
        call.press(digit)
    call.hears("One thing waits for you. Handoff for shopper.").press("1").hears("Thank you")
    assert world.show(handoff)["settlement"]["proof"] == "keypress+pin"


def test_who_is_taken_out_while_on_the_line_has_no_say_any_more(world: World) -> None:
    enrol(world, channels=["call"])
    said(world, asked(world), "1", "Thank you")
    handoff = world.open(contact="dora", timeout_s=3600)
    call = dora(world).expect_call("Handoff for shopper")
    assert world.operator.http.delete("/v1/contacts/dora").status_code == 204
    world.advance(2)
    call.press("1").hears("This call is about something that is over.")
    assert world.show(handoff)["settlement"] is None


def test_a_card_is_offered_to_those_of_the_environment_as_well(world: World) -> None:
    assert world.operator.http.post("/v1/contacts/ada/card").status_code == 202
    world.settle()
    assert world.ada.expect_text().body.endswith("/card")
    assert len(world.creates("Messages", to=ADA)) == 1
