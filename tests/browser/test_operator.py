"""The operator's list in a browser: signing in, last night's handoff, settling one, a list that is live."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator

from tests.world import MakeWorld, World
from tests.world.world import AGENT_KEY, OPERATOR_KEY

from .chromium import DESKTOP, PHONE, Device
from .conftest import TakePicture, Visit
from .stage import DONE, QUESTION, REASON, Stage
from .visitor import Visitor

SCRIPTS = pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])


@pytest.mark.parametrize(
    ("device", "scripts"), [(PHONE, False), (DESKTOP, True)], ids=["phone without scripts", "desktop"]
)
def test_who_was_reached_last_night_and_what_did_they_press(
    visit: Visit, make_world: MakeWorld, take_picture: TakePicture, device: Device, scripts: bool
) -> None:
    """Answered in one click after the list."""
    world = make_world(HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550124")
    world.open(reason="The bank asks for a decision")
    world.reached(world.ada).hang_up()
    world.ada.let_ring().decline()
    world.reached(world.ben).press("1").hears("Thank you")
    world.settle()
    desk = visit(world.url, device=device, scripts=scripts)
    _signs_in(desk, world)
    take_picture(desk, "list")
    desk.tap("The bank asks for a decision", "link")
    _row(desk, "Ada", "hung up").wait_for()
    ben = _row(desk, "Ben", "call")
    assert "1" in ben.locator("kbd").all_inner_texts()
    assert "+12125550124" not in desk.page.content(), "numbers are masked"
    desk.sees("Ben pressed 1")
    take_picture(desk, "story")


def test_an_agents_key_does_not_sign_in_and_is_told_why(visit: Visit, stage: Stage) -> None:
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world, AGENT_KEY)
    assert "agent" in desk.find(re.compile(""), "alert").first.inner_text()
    desk.open(f"{stage.world.url}/")
    assert desk.find(re.compile("Sign in"), "link").first.is_visible()
    desk.forgive("40[13]|422")


def test_signing_out_closes_the_list(visit: Visit, stage: Stage) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world)
    desk.sees(REASON)
    desk.tap(re.compile("Sign out"))
    desk.find(re.compile("Sign in"), "link").first.wait_for()
    assert REASON not in desk.page.content()
    desk.open(f"{stage.world.url}/handoffs/{stage.handoff}")
    assert REASON not in desk.page.content()
    assert "/sign-in" in desk.page.url


@SCRIPTS
def test_an_operator_settles_it_and_the_agent_goes_on(
    visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool
) -> None:
    stage.blocks()
    desk = visit(stage.world.url, device=DESKTOP, scripts=scripts)
    _signs_in(desk, stage.world)
    desk.tap(REASON, "link")
    take_picture(desk, "open")
    desk.tap(DONE)
    desk.sees("Resolved")
    assert desk.find(DONE).count() == 0
    assert stage.answer is not None
    clearance = stage.answer.result(10)
    assert (clearance.by.kind, clearance.proof) == ("operator", "console")
    take_picture(desk, "settled")


def test_an_operator_answers_a_question(visit: Visit, stage: Stage) -> None:
    stage.asks()
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world)
    desk.tap(QUESTION, "link")
    desk.write(re.compile("answer"), "12 Elm Street")
    desk.tap("Send the answer")
    desk.sees("Resolved")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street"


def test_an_operator_withdraws_it_after_being_asked_once_more(visit: Visit, stage: Stage) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world)
    desk.tap(REASON, "link")
    assert not desk.find("withdraw it").is_visible()
    desk.tap(desk.page.locator("summary", has_text="Withdraw"))
    desk.tap("withdraw it")
    desk.sees("Cancelled")
    assert stage.record.state == "cancelled"


def test_who_comes_too_late_is_told_who_settled_it_and_when(visit: Visit, stage: Stage) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP, scripts=False)
    _signs_in(desk, stage.world)
    desk.tap(REASON, "link")
    ben = visit(stage.world.url, scripts=False)
    ben.open(stage.ben)
    ben.tap(DONE)
    desk.tap(DONE)
    assert "Ben" in desk.find(re.compile(""), "alert").first.inner_text()
    desk.forgive("409")


def test_the_list_is_live_and_keeps_the_place(visit: Visit, stage: Stage, take_picture: TakePicture) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world)
    desk.marks_the_page()
    desk.find(REASON, "link").focus()
    stage.world.operator.resolve(stage.handoff)
    desk.find(re.compile(f"Resolved.*{REASON}"), "row").wait_for()
    second = stage.world.open(reason="A second wall, on another site")
    desk.find(re.compile("second wall"), "row").wait_for()
    take_picture(desk, "two")
    assert desk.still_marked
    focused = desk.page.evaluate("document.activeElement.textContent")
    assert REASON in focused, "the focus stayed where it was"
    stage.world.operator.cancel(str(second["id"]))
    desk.find(re.compile("Cancelled.*second wall"), "row").wait_for()
    stage.world.settle()


def test_one_handoffs_page_is_live(visit: Visit, stage: Stage) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP)
    _signs_in(desk, stage.world)
    desk.tap(REASON, "link")
    desk.find(DONE).wait_for()
    desk.marks_the_page()
    ben = visit(stage.world.url, scripts=False)
    ben.open(stage.ben)
    ben.tap(DONE)
    desk.sees("Resolved")
    desk.find(DONE).wait_for(state="hidden")
    assert desk.still_marked


def test_the_list_is_narrowed_without_scripts(visit: Visit, stage: Stage) -> None:
    stage.opens()
    desk = visit(stage.world.url, device=DESKTOP, scripts=False)
    _signs_in(desk, stage.world)
    desk.field("State").select_option("resolved")
    desk.tap("Show")
    assert desk.find(REASON, "link").count() == 0
    desk.field("State").select_option("escalating")
    desk.tap("Show")
    desk.find(REASON, "link").wait_for()


def _signs_in(desk: Visitor, world: World, key: str = OPERATOR_KEY) -> None:
    desk.open(f"{world.url}/")
    desk.tap(desk.find(re.compile("Sign in"), "link").last)
    desk.write(re.compile("API key"), key)
    desk.tap("Sign in")


def _row(desk: Visitor, *words: str) -> Locator:
    found = desk.page.get_by_role("row")
    for one in words:
        found = found.filter(has_text=one)
    return found.first
