"""Without telephony: an address that shows nothing until somebody proves who they are."""

from __future__ import annotations

import re

import pytest

from tests.world.world import OPERATOR_KEY

from .conftest import TakePicture, Visit, places
from .stage import DONE, REASON, Stage
from .visitor import Visitor

PIN = "482913"


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_a_name_and_a_pin_open_the_same_page(
    visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool
) -> None:
    url = _without_telephony(stage)
    hand = visit(*places(stage), scripts=scripts)
    hand.open(url)
    assert REASON not in hand.page.content()
    take_picture(hand, "asks")
    _proves(hand, "Ada", "000000")
    hand.find(re.compile(""), "alert").wait_for()
    assert REASON not in hand.page.content()
    take_picture(hand, "refused")
    _proves(hand, "Ada", PIN)
    hand.sees(REASON)
    hand.tap(DONE)
    hand.sees("goes on")
    settlement = stage.record.settlement
    assert settlement is not None
    assert (settlement.by.name, settlement.proof) == ("Ada", "link+pin")
    hand.forgive("40[13]|422")


def test_another_browser_sees_nothing_of_it(phone: Visitor, visit: Visit, stage: Stage) -> None:
    url = _without_telephony(stage)
    phone.open(url)
    _proves(phone, "Ada", PIN)
    phone.sees(REASON)
    other = visit(*places(stage))
    other.open(url)
    assert REASON not in other.page.content()
    assert other.find(DONE).count() == 0


def test_an_operator_signs_in_instead_and_comes_to_the_handoff(phone: Visitor, stage: Stage) -> None:
    phone.open(_without_telephony(stage))
    phone.tap(re.compile("operator"), "link")
    phone.write(re.compile("key"), OPERATOR_KEY)
    phone.tap("Sign in")
    phone.sees(REASON)
    assert phone.page.url.endswith(f"/handoffs/{stage.handoff}")


def _without_telephony(stage: Stage) -> str:
    stage.opens(notify="none")
    return str(stage.world.show(stage.handoff)["page_url"])


def _proves(hand: Visitor, name: str, pin: str) -> None:
    hand.field(re.compile("name")).fill(name)
    hand.field("PIN").fill(pin)
    hand.tap(hand.page.get_by_role("main").get_by_role("button"))
