"""A press that got no good answer keeps what was typed, claims nothing that the phone can't know, and counts
once however often it is pressed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pytest
from playwright.sync_api import Route

from handoff.moments import MINUTE
from tests.world import refusing_writes

from .conftest import TakePicture, Visit, places
from .stage import DONE, ON_IT, Stage
from .visitor import Visitor

MORE = re.compile("10 more minutes")
UNSURE = "perhaps it was not sent"
#: What the console says of the answers below, and what becomes of a line that is cut.
FAULTS = "CONNECTION_RESET|INTERNET_DISCONNECTED|50[023]"

Fault = Literal["the line was cut", "the line went away", "500", "502", "503"]
ALL_FAULTS: list[Fault] = ["the line was cut", "the line went away", "500", "502", "503"]
#: The others fail in the same two ways, a broken line or a bad status; `make test-all` tries them as well.
SEEN_EVERY_TIME = ("the line was cut", "502")


def each_fault(*more: str) -> list[Any]:
    """Every fault as a parameter, followed by `more`."""
    quick = [pytest.param(fault, *more) for fault in ALL_FAULTS if fault in SEEN_EVERY_TIME]
    others = [fault for fault in ALL_FAULTS if fault not in SEEN_EVERY_TIME]
    return quick + [pytest.param(fault, *more, marks=pytest.mark.slow) for fault in others]


def fails(phone: Visitor, verb: str, fault: Fault, *, carried_out: bool, anew: bool = False) -> None:
    """The next press of this form gets no good answer, and is carried out all the same or never arrives.

    `anew`: meanwhile the form goes from the page, so that the next news put it in again.
    """

    def fail(route: Route) -> None:
        if carried_out:
            assert route.fetch().ok
        if anew:
            phone.page.locator(f"form[action$={verb}]").evaluate("form => form.remove()")
        if fault == "the line was cut":
            route.abort("connectionreset")
        elif fault == "the line went away":
            phone.context.set_offline(True)
            route.abort("internetdisconnected")
        else:
            words = "<h1>Please try again</h1><p role=alert>Not sent. Nothing was changed.</p>"
            route.fulfill(status=int(fault), content_type="text/html", body=words)

    phone.page.route(re.compile(f"/{verb}$"), fail, times=1)


def claims_nothing(phone: Visitor) -> None:
    """It says that it does not know."""
    phone.sees(UNSURE)
    assert not re.search("Nothing was changed|Not sent|offline", phone.words()), phone.words()


def shows_the_deadline(phone: Visitor, stage: Stage) -> Callable[[], bool]:
    """Whether the time on the page is the one on record."""

    def shown() -> bool:
        said = phone.page.evaluate("Date.parse(document.querySelector('#deadline').dateTime)")
        return bool(abs(said - stage.record.deadline) < MINUTE)

    return shown


def test_a_press_without_a_line_is_not_sent_and_the_second_one_is(
    stage: Stage, phone: Visitor, take_picture: TakePicture
) -> None:
    stage.blocks()
    phone.open(stage.ada)
    rev = stage.record.rev
    phone.context.set_offline(True)
    for _ in range(2):
        phone.tap(DONE)
        phone.sees("Not sent. You are offline")
    take_picture(phone, "not sent")
    assert stage.record.rev == rev
    phone.context.set_offline(False)
    phone.tap(DONE)
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"
    phone.forgive("INTERNET_DISCONNECTED")


@pytest.mark.parametrize("fault", each_fault())
def test_an_answer_that_is_perhaps_not_sent_stays_in_its_box(
    stage: Stage, phone: Visitor, fault: Fault
) -> None:
    stage.asks()
    phone.open(stage.ada)
    phone.write("answer", "12 Elm Street")
    fails(phone, "resolution", fault, carried_out=False)
    phone.tap("Send the answer")
    claims_nothing(phone)
    assert phone.field("answer").input_value() == "12 Elm Street"
    assert stage.record.settlement is None
    phone.context.set_offline(False)
    phone.tap("Send the answer")
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street"
    phone.forgive(FAULTS)


@pytest.mark.parametrize("fault", each_fault())
def test_a_reply_that_is_lost_is_no_second_command(stage: Stage, phone: Visitor, fault: Fault) -> None:
    """It was carried out, and the phone does not know. News, or pressing again, tell that it was oneself."""
    stage.blocks()
    phone.open(stage.ada)
    fails(phone, "resolution", fault, carried_out=True)
    phone.tap(DONE)
    phone.page.get_by_text(re.compile(f"{UNSURE}|goes on")).filter(visible=True).first.wait_for()
    assert not re.search("Nothing was changed|Not sent", phone.words())
    phone.context.set_offline(False)
    phone.sees("goes on")
    assert "too late" not in phone.words() and UNSURE not in phone.words()
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"
    assert stage.world.types(stage.handoff).count("resolved") == 1
    phone.forgive(FAULTS)


@pytest.mark.parametrize(
    ("fault", "news"),
    [
        *each_fault("with news meanwhile"),
        ("the line was cut", "without news"),
        ("502", "without news"),
        ("503", "without news"),
        ("503", "with news that put the form in anew"),
    ],
)
def test_ten_more_minutes_whose_reply_is_lost_are_ten_when_they_are_asked_for_again(
    stage: Stage, phone: Visitor, fault: Fault, news: str
) -> None:
    stage.opens(timeout_s=600, max_timeout_s=3_600)
    before = stage.record.deadline
    if news == "without news":
        phone.hears_no_news()
    phone.open(stage.ada)
    fails(phone, "extension", fault, carried_out=True, anew="anew" in news)
    phone.tap(MORE)
    claims_nothing(phone)
    assert stage.record.deadline == before + 10 * MINUTE, "it was carried out"
    phone.context.set_offline(False)
    if news != "without news":
        phone.waits_until(shows_the_deadline(phone, stage), "the news to be shown")
        claims_nothing(phone)
    phone.tap(MORE)
    phone.page.get_by_text(UNSURE).wait_for(state="hidden")
    assert stage.record.deadline == before + 10 * MINUTE, "it counted twice"
    phone.waits_until(shows_the_deadline(phone, stage), "the truth to be shown")
    phone.tap(MORE)
    twice = before + 20 * MINUTE
    phone.waits_until(lambda: stage.record.deadline == twice, "another press to be another command")
    phone.waits_until(shows_the_deadline(phone, stage), "the truth to be shown")
    phone.forgive(FAULTS)


def test_a_press_whose_effect_was_seen_and_is_over_can_be_made_anew(stage: Stage, phone: Visitor) -> None:
    """Had without a reply and lapsed since: pressed again it is no repetition of the old press."""
    stage.opens(timeout_s=3_600)
    phone.open(stage.ada)
    fails(phone, "acknowledgement", "502", carried_out=True)
    phone.tap(ON_IT)
    phone.sees("You are on it")
    until_ms = stage.record.acknowledged_until
    assert until_ms is not None
    stage.world.advance((until_ms - stage.world.now) / 1000 + 1)
    assert stage.world.types(stage.handoff).count("acknowledged") == 1
    phone.tap(ON_IT)
    phone.sees("You are on it")
    assert stage.world.types(stage.handoff).count("acknowledged") == 2
    phone.forgive("502")


def test_being_told_to_wait_does_not_make_the_next_press_another_command(
    stage: Stage, phone: Visitor
) -> None:
    """Too many presses in a minute: that answer says nothing about the one that had none."""
    stage.opens(timeout_s=600, max_timeout_s=3_600)
    before = stage.record.deadline
    phone.hears_no_news()
    phone.open(stage.ada)
    fails(phone, "extension", "502", carried_out=True)
    phone.tap(MORE)
    claims_nothing(phone)
    slowed = (
        phone.context.request.get(stage.ada)
        .text()
        .replace('role="alert"></p>', 'role="alert">Please wait a minute.</p>')
    )
    phone.page.route(
        re.compile("/extension$"),
        lambda route: route.fulfill(status=429, content_type="text/html", body=slowed),
        times=1,
    )
    phone.tap(MORE)
    phone.sees("Please wait a minute.")
    phone.tap(MORE)
    phone.page.get_by_text("Please wait a minute.").wait_for(state="hidden")
    phone.waits_until(lambda: stage.record.deadline == before + 10 * MINUTE, "the second press to count")
    phone.forgive("429|502")


def test_a_page_that_is_not_ours_is_no_answer(stage: Stage, phone: Visitor) -> None:
    """The sign-in page of a train's network comes with a 200."""
    stage.asks()
    phone.open(stage.ada)
    phone.write("answer", "12 Elm Street")
    phone.page.route(
        re.compile("/resolution$"),
        lambda route: route.fulfill(status=200, content_type="text/html", body="<h1>Welcome aboard</h1>"),
        times=1,
    )
    phone.tap("Send the answer")
    claims_nothing(phone)
    assert phone.field("answer").input_value() == "12 Elm Street"
    phone.tap("Send the answer")
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street"


def test_the_time_known_runs_out_while_nobody_knows_whether_more_was_given(
    stage: Stage, phone: Visitor, take_picture: TakePicture
) -> None:
    stage.opens(timeout_s=600, max_timeout_s=3_600)
    before = stage.record.deadline
    phone.page.clock.install(time=stage.world.now / 1000)
    phone.open(stage.ada)
    fails(phone, "extension", "the line went away", carried_out=True)
    phone.tap(MORE)
    claims_nothing(phone)
    phone.page.clock.fast_forward(601_000)
    phone.sees("The time that was known here is over")
    assert "Time ran out" not in phone.words()
    take_picture(phone, "zero")
    phone.context.set_offline(False)
    phone.page.clock.fast_forward(60_000)
    phone.waits_until(shows_the_deadline(phone, stage), "the truth to be shown")
    phone.tap(MORE)
    phone.page.get_by_text(UNSURE).wait_for(state="hidden")
    assert stage.record.deadline == before + 10 * MINUTE
    phone.forgive("INTERNET_DISCONNECTED")


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_our_own_page_of_trouble_does_not_say_that_nothing_was_changed(
    visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool
) -> None:
    """Without scripts, loading it again sends the very same form."""
    stage.opens(timeout_s=600, max_timeout_s=3_600)
    before = stage.record.deadline
    hand = visit(*places(stage), scripts=scripts)
    hand.open(stage.ada)
    with refusing_writes(stage.world):
        hand.tap(MORE)
        hand.sees(
            UNSURE if scripts else "Perhaps it was not taken. Please send it again: it counts only once."
        )
        assert "Nothing was changed" not in hand.words()
        take_picture(hand)
    stage.world.expected.errors = 1
    if scripts:
        hand.tap(MORE)
        hand.page.get_by_text(UNSURE).wait_for(state="hidden")
    else:
        hand.page.reload()
        hand.sees("You are on it")
    hand.waits_until(lambda: stage.record.deadline == before + 10 * MINUTE, "one press of the two to count")
    hand.forgive("503")


def test_a_double_tap_is_one_command(stage: Stage, phone: Visitor) -> None:
    stage.blocks()
    phone.open(stage.ada)
    phone.find(DONE).dblclick()
    phone.sees("goes on")
    assert "too late" not in phone.words()
    types = stage.world.types(stage.handoff)
    assert types.count("resolved") == 1
    assert not [one for one in types if "late" in one]


def test_an_answer_that_says_nothing_is_not_taken(stage: Stage, phone: Visitor) -> None:
    stage.asks()
    phone.open(stage.ada)
    phone.tap("Send the answer")
    assert not [one for one in phone.requests if one.method == "POST"], "the browser itself asks for more"
    phone.write("answer", "   ")
    phone.tap("Send the answer")
    phone.page.get_by_role("alert").filter(visible=True).wait_for()
    assert stage.record.settlement is None
    phone.field("answer").fill("12 Elm Street")
    phone.tap("Send the answer")
    phone.sees("goes on")
    phone.forgive("422")
