"""Nights in which the clock is put back or forward: who sleeps until seven is rung at seven on their wall.

Which moment that is, is tests/unit/test_quiet.py's business; here the phone rings then, and not before.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.world import OURS, MakeWorld

BERLIN = ZoneInfo("Europe/Berlin")
PEOPLE = """
[contacts.ada]
name = "Ada"
numbers = ["+12125550123"]
time_zone = "Europe/Berlin"
quiet_hours = ["22:00-07:00"]

[policies.default]
quiet = "wait"

[[policies.default.steps]]
contacts = ["ada"]
"""


@pytest.mark.parametrize(
    ("evening", "hours"),
    [
        (datetime(2026, 10, 24, 23, tzinfo=BERLIN), 9),  # the clock is put back: a night of one hour more
        (datetime(2027, 3, 27, 23, tzinfo=BERLIN), 7),  # it is put forward
        (datetime(2026, 11, 24, 23, tzinfo=BERLIN), 8),
    ],
    ids=["back", "forward", "an ordinary night"],
)
def test_who_sleeps_until_seven_is_rung_at_seven(
    make_world: MakeWorld, tmp_path: Path, evening: datetime, hours: int
) -> None:
    file = tmp_path / "people.toml"
    file.write_text(PEOPLE)
    world = make_world(HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="")
    world.now = round(evening.timestamp() * 1000)
    handoff = world.open(timeout_s=86_400)
    world.ada.expect_text()
    world.advance(timedelta(hours=hours).total_seconds() - 1)
    assert world.creates() == [], "a second to seven"
    world.advance(2)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "resolved")]


def test_a_call_to_us_from_their_number_breaks_no_night(make_world: MakeWorld, tmp_path: Path) -> None:
    """Anybody can show their number; whoever it was, nothing is rung, nor said to be, before the morning."""
    file = tmp_path / "people.toml"
    file.write_text(PEOPLE)
    world = make_world(HANDOFF_PEOPLE=str(file), HANDOFF_TO_NUMBER="", HANDOFF_RING_SECONDS="")
    world.phone.line(OURS).sends_calls_to(f"{world.services.settings.public_url}/twilio/calls/inbound")
    world.now = round(datetime(2026, 11, 24, 23, tzinfo=BERLIN).timestamp() * 1000)
    handoff = world.open(timeout_s=86_400)
    world.ada.expect_text()
    call = world.ada.calls(OURS).hears("Enter your PIN")
    call.press("9")
    call.press("#").hears("If something waits for you, we call you.")
    world.advance(20)
    assert world.creates() == [] and "calls_back" not in world.types(handoff)
    assert world.dispositions(handoff) == []
    world.operator.cancel(str(handoff["id"]))
    world.settle()
