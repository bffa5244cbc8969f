"""A code instead of a link: said by the voice when no text went out, or in a text for who sees no page."""

from __future__ import annotations

import re
from pathlib import Path

from devphone.testing import CallOnPhone
from tests.world import ADA, OURS, Agent, MakeWorld, World
from tests.world.people import Page


def test_a_question_whose_text_failed_is_answered_by_the_spoken_code_which_opens_the_page_once(
    world: World, agent: Agent
) -> None:
    world.phone.faults({"rest_error": {"code": 21610, "on": "messages"}})
    world.phone.pace(ring_s=1)
    asked = agent.ask("Which address should I ship to?")
    world.settle()
    world.advance(1)
    call = world.ada.expect_call("It asks: Which address should I ship to?")
    world.listens(call, "It is answered on a page. To hear where the page is, press star. Press 3")
    assert "enter" not in " ".join(call.transcript), "a mailbox would keep the code"
    call.press("*")
    world.listens(call, "Open 1 2 7 dot 0 dot 0 dot 1 port")
    code = spoken_code(call)
    call.press("*")
    world.listens(call, "slash c, and enter")
    assert spoken_code(call) == code, "the same for the whole call"
    page = Page(f"{world.services.settings.public_url}/c").read()
    form = page.form("Open my page")
    assert page.press("Open my page", code=f"{code[:3]} {code[3:]}").status == 200
    assert "Which address should I ship to?" in page.text
    assert page.send(form, code=code).status_code == 200, "the same form again leads there again"
    stranger = Page(f"{world.services.settings.public_url}/c").read()
    assert stranger.press("Open my page", code=code).status == 403, "it works once"
    assert "This code opens nothing" in stranger.text
    call.press("3").hears("You have it")
    world.listens(call, "Hang up and answer there.")
    assert spoken_code(call) != code, "a new one after it was used"
    page.press("Send the answer", answer="12 Elm Street")
    assert asked.result(10) == "12 Elm Street"
    call.hears("You answered just now")
    world.advance(10)
    for one in (page, stranger):
        one.close()
    assert code not in str(world.redis.hgetall(world.key(f"ho:{world.newest()}")))


def spoken_code(call: CallOnPhone) -> str:
    """The six digits that the voice said last."""
    found = re.findall(r"and enter (\d \d \d, \d \d \d)\.", " ".join(call.transcript))
    return "".join(filter(str.isdigit, found[-1]))


def test_who_sees_no_page_gets_a_text_with_a_code_to_call_with(make_world: MakeWorld, tmp_path: Path) -> None:
    people = tmp_path / "people.toml"
    people.write_text(f'[contacts.ada]\nname = "Ada"\nnumbers = ["{ADA}"]\nscreen = false\n')
    world = make_world(HANDOFF_PEOPLE=str(people), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="")
    at = world.services.settings.public_url
    world.phone.line(OURS).sends_calls_to(f"{at}/twilio/calls/inbound")
    handoff = world.open(timeout_s=3600)
    text = world.ada.expect_text("Call +1 212 555 0100 and enter")
    assert not text.links and text.segments == 1
    [code] = re.findall(r"enter (\d{6})\.", text.body)
    rung = world.ada.expect_call("Handoff for shopper")
    world.listens(rung, "Press 1 when it is done")
    assert not re.search(r"link|page|\bopen\b|enter", " ".join(rung.transcript), re.IGNORECASE)
    rung.hang_up()
    world.ada.let_ring().decline()  # cut off, so that it rings once more
    world.settle()
    world.phone.faults({"duplicate_webhooks": {"on": "inbound_calls"}})
    call = world.ada.calls(OURS).hears("Enter your PIN or your code")
    for digit in f"{code}#":
        call.press(digit)
    call.hears("Handoff for shopper. A human-verification checkbox is blocking checkout")
    call.press("1").hears("Thank you. It is handed back to shopper.")
    world.advance(100)  # no status callback is set on this number: the look-up finds the end
    assert world.show(handoff)["settlement"]["proof"] == "keypress+code"
    assert world.dispositions(handoff)[-1] == ("ada", "resolved")
