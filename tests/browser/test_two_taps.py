"""From the text on the phone to the agent that goes on: a small screen, one thumb, two taps."""

from __future__ import annotations

import re

import pytest

from tests.world import ADA

from .conftest import TakePicture, Visit, places
from .stage import DONE, QUESTION, REASON, Stage
from .vendor import Vendor
from .visitor import Visitor


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_run_is_handed_back_in_two_taps(
    visit: Visit, stage: Stage, take_picture: TakePicture, dark: bool
) -> None:
    stage.blocks()
    hand = visit(*places(stage), dark=dark)
    stage.by_hand(hand)
    hand.sees(REASON)
    hand.sees("shopper")
    take_picture(hand, "open")
    hand.tap(DONE)
    hand.sees("goes on")
    hand.sees_no_button()
    take_picture(hand, "done")
    assert hand.taps == 2
    assert stage.answer is not None
    clearance = stage.answer.result(10)
    assert (clearance.by.name, clearance.proof, clearance.channel) == ("Ada", "link", "link")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_same_without_javascript(
    visit: Visit, stage: Stage, take_picture: TakePicture, dark: bool
) -> None:
    stage.blocks()
    hand = visit(*places(stage), dark=dark, scripts=False)
    hand.open(stage.ada)
    hand.sees(REASON)
    take_picture(hand, "open")
    hand.tap(DONE)
    hand.sees("goes on")
    hand.sees_no_button()
    take_picture(hand, "done")
    assert hand.taps == 1
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_a_bad_line_on_a_train_makes_no_difference(visit: Visit, stage: Stage, scripts: bool) -> None:
    stage.blocks()
    hand = visit(*places(stage), scripts=scripts)
    hand.slow_line()
    hand.open(stage.ada)
    hand.tap(DONE)
    hand.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_a_question_is_answered_by_typing(
    visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool
) -> None:
    stage.asks()
    hand = visit(*places(stage), scripts=scripts)
    hand.open(stage.ada)
    hand.sees(QUESTION)
    hand.write("answer", "12 Elm Street,\nبرلين <b>&amp;</b>")
    take_picture(hand, "typed")
    hand.tap("Send the answer")
    hand.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street,\nبرلين <b>&amp;</b>"


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_who_can_not_says_why(visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool) -> None:
    stage.opens()
    hand = visit(*places(stage), scripts=scripts)
    hand.open(stage.ada)
    hand.tap(hand.page.locator("summary", has_text=re.compile("can.t")))
    hand.write("why", "My glasses are at home")
    take_picture(hand, "why")
    hand.tap(re.compile("can.t be done|Send|Tell"))
    hand.sees_no_button()
    record = stage.record
    assert record.state == "declined" and record.settlement is not None
    assert record.settlement.comment == "My glasses are at home"


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_the_browser_is_looked_at_and_the_wall_is_cleared(
    visit: Visit, stage: Stage, vendor_page: Vendor, take_picture: TakePicture, scripts: bool
) -> None:
    stage.blocks(live_view_url=vendor_page.url)
    hand = visit(*places(stage), vendor_page.url, scripts=scripts)
    hand.open(stage.ada)
    assert vendor_page.loads == 0, "nobody looks at the agent's browser before a tap"
    hand.tap(re.compile("show me the browser", re.I))
    hand.sees("You are on it")
    assert stage.record.state == "acknowledged"
    take_picture(hand, "browser")
    hand.tap(DONE)
    hand.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"


def test_the_phone_stops_ringing_when_the_page_says_done(phone: Visitor, stage: Stage) -> None:
    stage.opens()
    phone.open(stage.ada)
    phone.tap(DONE)
    phone.sees("goes on")
    stage.world.settle()
    calls = stage.world.phone.state(ADA)["calls"]
    assert [call["status"] for call in calls] == ["canceled"]
