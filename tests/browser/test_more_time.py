"""I need 10 more minutes: until when it is now, as often as the agent allows, and then no more."""

from __future__ import annotations

import re

import pytest

from handoff.moments import MINUTE

from .conftest import TakePicture, Visit, places
from .stage import Stage

MORE = re.compile("10 more minutes")


@pytest.mark.parametrize("scripts", [True, False], ids=["with-scripts", "without"])
def test_ten_more_minutes_are_given_while_the_agent_allows(
    visit: Visit, stage: Stage, take_picture: TakePicture, scripts: bool
) -> None:
    stage.opens(timeout_s=600, max_timeout_s=1_200)
    hand = visit(*places(stage), scripts=scripts)
    hand.open(stage.ada)
    before, shown = stage.record.deadline, hand.page.locator("time").first.get_attribute("datetime")
    hand.tap(MORE)
    hand.page.locator(f"time:not([datetime='{shown}'])").first.wait_for()
    assert stage.record.deadline == before + 10 * MINUTE
    take_picture(hand, "extended")
    assert not hand.find(MORE).is_visible(), "there are no more to be had"


def test_another_persons_page_shows_the_new_deadline_by_itself(visit: Visit, stage: Stage) -> None:
    stage.opens(timeout_s=600)
    ada, ben = visit(*places(stage)), visit(*places(stage), scripts=False)
    ada.open(stage.ada)
    ada.marks_the_page()
    shown = ada.page.locator("time").first.get_attribute("datetime")
    ben.open(stage.ben)
    ben.tap(MORE)
    ada.page.locator(f"time:not([datetime='{shown}'])").first.wait_for()
    assert ada.still_marked
