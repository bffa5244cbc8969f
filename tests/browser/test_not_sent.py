"""A press that does not arrive says so, keeps what was typed, and a second press really sends."""

from __future__ import annotations

import re

import pytest

from .conftest import TakePicture
from .stage import DONE, Stage
from .visitor import Visitor

NOT_SENT = re.compile("Not sent")


def test_a_press_without_a_line_is_not_sent_and_the_second_one_is(
    stage: Stage, phone: Visitor, take_picture: TakePicture
) -> None:
    stage.blocks()
    phone.open(stage.ada)
    rev = stage.record.rev
    phone.context.set_offline(True)
    phone.tap(DONE)
    phone.sees("Not sent")
    phone.sees("Nothing was changed")
    take_picture(phone, "not sent")
    assert stage.record.rev == rev
    phone.context.set_offline(False)
    phone.tap(DONE)
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"
    phone.forgive("INTERNET_DISCONNECTED")


@pytest.mark.parametrize("fault", ["cut off", "service unavailable", "a gateway's own page"])
def test_an_answer_that_is_not_sent_stays_in_its_box(stage: Stage, phone: Visitor, fault: str) -> None:
    stage.asks()
    phone.open(stage.ada)
    phone.write("answer", "12 Elm Street")

    def fail(route: object) -> None:
        if fault == "cut off":
            route.abort("connectionreset")  # type: ignore[attr-defined]  # Playwright's Route
        elif fault == "service unavailable":
            route.fulfill(status=503, content_type="text/html", body="<h1>Please try again</h1>")  # type: ignore[attr-defined]  # the same
        else:
            route.fulfill(status=502, content_type="text/html", body="<h1>Bad gateway</h1>")  # type: ignore[attr-defined]  # the same

    phone.page.route(re.compile("/resolution$"), fail, times=1)
    phone.tap("Send the answer")
    phone.sees("Not sent")
    assert phone.field("answer").input_value() == "12 Elm Street"
    assert stage.record.settlement is None
    phone.tap("Send the answer")
    phone.sees("goes on")
    assert stage.answer is not None
    assert stage.answer.result(10) == "12 Elm Street"
    phone.forgive("CONNECTION_RESET|50[23]")


def test_a_reply_that_is_lost_is_no_second_command(stage: Stage, phone: Visitor) -> None:
    """It was carried out, and the phone does not know. Pressing again finds out that it was oneself."""
    stage.blocks()
    phone.open(stage.ada)

    def lose_the_reply(route: object) -> None:
        route.fetch()  # type: ignore[attr-defined]  # Playwright's Route
        route.abort("connectionreset")  # type: ignore[attr-defined]  # the same

    phone.page.route(re.compile("/resolution$"), lose_the_reply, times=1)
    phone.tap(DONE)
    phone.page.get_by_text(re.compile("Not sent|goes on")).filter(visible=True).first.wait_for()
    if phone.find(DONE).is_visible():
        phone.tap(DONE)
    phone.sees("goes on")
    assert "too late" not in phone.words()
    assert stage.answer is not None
    assert stage.answer.result(10).by.name == "Ada"
    assert stage.world.types(stage.handoff).count("resolved") == 1
    phone.forgive("CONNECTION_RESET")


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
