"""The page lies open in the hand, and something happens elsewhere: it says so by itself, and politely."""

from __future__ import annotations

import re

import pytest

from .conftest import TakePicture, Visit, places
from .look import moved
from .stage import DONE, Stage
from .visitor import Visitor

STALE = "This page is no longer kept fresh. Please load it again."


def test_somebody_else_settled_it_while_the_page_was_open(
    visit: Visit, stage: Stage, take_picture: TakePicture
) -> None:
    stage.opens()
    ada, ben = visit(*places(stage)), visit(*places(stage))
    ada.open(stage.ada)
    ada.marks_the_page()
    ben.open(stage.ben)
    ben.tap(DONE)
    ada.sees("Ben")
    ada.sees("goes on")
    ada.sees_no_button()
    take_picture(ada, "told")
    assert ada.still_marked, "it was not loaded anew"


@pytest.mark.parametrize("how", ["withdrawn by the agent", "withdrawn by an operator", "refused by another"])
def test_it_ended_in_another_way_while_the_page_was_open(
    visit: Visit, stage: Stage, phone: Visitor, how: str
) -> None:
    stage.opens()
    phone.open(stage.ada)
    phone.marks_the_page()
    if how == "withdrawn by the agent":
        stage.world.http.post(f"/v1/handoffs/{stage.handoff}/cancellation", json={}).raise_for_status()
    elif how == "withdrawn by an operator":
        stage.world.operator.cancel(stage.handoff)
    else:
        ben = visit(*places(stage), scripts=False)
        ben.open(stage.ben)
        ben.tap(ben.page.locator("summary", has_text=re.compile("can.t")))
        ben.tap(re.compile("can.t be done"))
    phone.sees_no_button()
    phone.sees({"withdrawn by the agent": "withdrew", "withdrawn by an operator": "operator"}.get(how, "Ben"))
    assert phone.still_marked


def test_somebody_else_takes_it_and_the_button_stays_under_the_thumb(
    visit: Visit, stage: Stage, phone: Visitor, take_picture: TakePicture
) -> None:
    stage.opens()
    phone.open(stage.ada)
    phone.marks_the_page()
    before = phone.find(DONE).bounding_box()
    ben = visit(*places(stage), scripts=False)
    ben.open(stage.ben)
    ben.tap(re.compile("I.m on it"))
    phone.sees("Ben is on it")
    take_picture(phone, "told")
    assert phone.still_marked
    assert phone.find(DONE).bounding_box() == before, "the button moved under a thumb"
    assert not moved(phone)


def test_the_time_that_counts_down_moves_nothing(stage: Stage, phone: Visitor) -> None:
    """Whether 10:00 and the deadline fit on one line depended on the date, and 9:59 moved every button."""
    stage.opens()
    phone.open(stage.ada)
    measure = """(texts) => texts.map((text) => {
      document.getElementById("left").textContent = text;
      return document.getElementById("until").getBoundingClientRect().height;
    })"""
    heights = phone.page.evaluate(measure, ["", "0:01 left", "9:59 left", "10:00 left", "23 h 59 min left"])
    assert len(set(heights)) == 1, heights


def test_what_is_being_typed_is_not_lost_when_something_happens(
    visit: Visit, stage: Stage, phone: Visitor
) -> None:
    stage.asks()
    phone.open(stage.ada)
    phone.write("answer", "12 Elm ")
    ben = visit(*places(stage), scripts=False)
    ben.open(stage.ben)
    ben.tap(re.compile("I.m on it"))
    phone.sees("Ben is on it")
    phone.page.keyboard.type("Street")
    assert phone.field("answer").input_value() == "12 Elm Street"
    phone.tap("Send the answer")
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street"


def test_what_happened_is_told_to_who_does_not_see(stage: Stage, phone: Visitor) -> None:
    """In a live region that was there before, so that a screen reader says it."""
    stage.opens()
    phone.open(stage.ada)
    regions = phone.page.locator("[aria-live], [role=status], [role=alert]")
    assert regions.count() > 0
    phone.page.evaluate("window.region = document.querySelector('[aria-live=polite], [role=status]')")
    stage.world.operator.cancel(stage.handoff)
    phone.sees_no_button()
    phone.page.wait_for_function("window.region?.isConnected && window.region.textContent.trim() !== ''")


def test_a_phone_that_comes_out_of_a_tunnel_hears_what_happened(stage: Stage, phone: Visitor) -> None:
    stage.opens()
    phone.open(stage.ada)
    phone.marks_the_page()
    phone.context.set_offline(True)
    stage.world.operator.cancel(stage.handoff)
    phone.context.set_offline(False)
    phone.sees_no_button()
    assert phone.still_marked
    phone.forgive_if_any("INTERNET_DISCONNECTED")


@pytest.mark.parametrize(
    "wrong_by_s", [0, 3_600, -86_400], ids=["right clock", "an hour ahead", "a day behind"]
)
def test_the_countdown_reaches_zero_and_the_buttons_go(
    stage: Stage, phone: Visitor, take_picture: TakePicture, wrong_by_s: int
) -> None:
    """Whatever the phone's clock says, and with no line to the service at that moment."""
    stage.opens(timeout_s=600, max_timeout_s=600)
    phone.page.clock.install(time=stage.world.now / 1000 + wrong_by_s)
    phone.open(stage.ada)
    phone.marks_the_page()
    phone.context.set_offline(True)
    phone.page.clock.fast_forward(590_000)
    assert phone.find(DONE).is_visible()
    assert "Time ran out" not in phone.words()
    take_picture(phone, "ten seconds")
    phone.page.clock.fast_forward(11_000)
    phone.sees("Time ran out")
    phone.sees_no_button()
    assert phone.still_marked
    take_picture(phone, "zero")
    phone.forgive_if_any("INTERNET_DISCONNECTED")


def test_who_may_not_see_it_any_more_is_told_so_and_hears_of_no_end_that_is_none(
    visit: Visit, stage: Stage, phone: Visitor, take_picture: TakePicture
) -> None:
    """Half an hour after a PIN the cookie is gone, and what others did is not told to this page."""
    url = _with_a_pin(stage, phone, timeout_s=600, max_timeout_s=3_600)
    phone.page.clock.install(time=stage.world.now / 1000)
    phone.open(url)
    phone.context.clear_cookies()
    stage.world.operator.acknowledge(stage.handoff)
    phone.sees(STALE)
    assert phone.find(DONE).is_visible()
    take_picture(phone, "told")
    before, ben = stage.record.deadline, visit(*places(stage))
    _proves(ben, url)
    ben.tap(re.compile("10 more minutes"))
    phone.waits_until(lambda: stage.record.deadline > before, "more time to be given")
    phone.page.clock.fast_forward(601_000)
    phone.sees("The time that was known here is over. Please load this page again.")
    assert "Time ran out" not in phone.words()
    assert phone.find(DONE).is_visible()
    take_picture(phone, "zero")
    phone.forgive("403")


def test_time_that_ran_out_where_nobody_may_look_any_more_is_taken_back(stage: Stage, phone: Visitor) -> None:
    """Without a line it was right to say so; then there is one, and it leads nowhere."""
    url = _with_a_pin(stage, phone, timeout_s=600, max_timeout_s=3_600)
    phone.page.clock.install(time=stage.world.now / 1000)
    phone.open(url)
    phone.context.set_offline(True)
    phone.page.clock.fast_forward(601_000)
    phone.sees("Time ran out")
    phone.context.clear_cookies()
    phone.context.set_offline(False)
    phone.page.clock.fast_forward(60_000)
    phone.sees(STALE)
    assert "Time ran out" not in phone.words()
    phone.forgive("403")
    phone.forgive_if_any("INTERNET_DISCONNECTED")


def test_a_page_that_was_no_longer_fresh_is_again_once_a_press_was_answered(
    stage: Stage, phone: Visitor
) -> None:
    url = _with_a_pin(stage, phone)
    phone.open(url)
    phone.marks_the_page()
    phone.context.clear_cookies()
    stage.world.operator.acknowledge(stage.handoff)
    phone.sees(STALE)
    old, phone.page = phone.page, phone.context.new_page()
    _proves(phone, url)
    phone.page.close()
    phone.page = old
    phone.tap(re.compile("10 more minutes"))
    phone.page.get_by_text(STALE).wait_for(state="hidden")
    stage.world.operator.cancel(stage.handoff)
    phone.sees_no_button()
    assert phone.still_marked
    phone.forgive("403")


def test_who_comes_back_after_it_was_deleted_is_told_so(stage: Stage, phone: Visitor) -> None:
    """The phone lay in a drawer when it ended, and for weeks after."""
    stage.opens()
    phone.hears_no_news()
    phone.open(stage.ada)
    phone.context.set_offline(True)
    stage.world.operator.cancel(stage.handoff)
    stage.world.forgives_what_rang()
    stage.world.advance(stage.world.services.handoffs.rules().keep_closed_ms / 1000 + 60)
    phone.hears_news()
    phone.context.set_offline(False)
    phone.sees(STALE)
    stage.handoff = ""  # there is none to be ended
    phone.forgive("404")
    phone.forgive_if_any("INTERNET_DISCONNECTED")


def _with_a_pin(stage: Stage, phone: Visitor, **options: int) -> str:
    """A handoff that nobody is rung for, and the phone shows who it is."""
    stage.opens(notify="none", **options)
    url = str(stage.world.show(stage.handoff)["page_url"])
    _proves(phone, url)
    return url


def _proves(hand: Visitor, url: str) -> None:
    hand.open(url)
    hand.field(re.compile("name")).fill("Ada")
    hand.field("PIN").fill("482913")
    hand.tap(hand.page.get_by_role("main").get_by_role("button"))
    hand.find(DONE).wait_for()
    # A page that is left earlier drops its script, which counts as a fault.
    hand.page.wait_for_load_state("load")
