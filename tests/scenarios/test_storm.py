"""Many handoffs at once, and one call a second: who rings when, and that all do.

A thousand, as fast as the machine can, are in bench/burst.py.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from handoff.models import EventType
from tests.world import BEN, MakeWorld

LINES = [f"+1{area}555{line:04d}" for area in (212, 213) for line in range(101, 200)]
CRITICAL = ["+19175550101", "+19175550102"]
URGENCIES = ("low", "normal", "high")


@pytest.mark.parametrize("many", [50, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(240)])])
def test_many_at_once_ring_at_the_rate_the_urgent_first_then_by_age(
    make_world: MakeWorld, tmp_path: Path, many: int
) -> None:
    lines = LINES[: many - len(CRITICAL)]
    file = tmp_path / "people.toml"
    file.write_text(
        "".join(
            f'[contacts.p{number[2:]}]\nname = "P"\nnumbers = ["{number}"]\nchannels = ["call"]\n'
            for number in lines + CRITICAL
        )
    )
    world = make_world(
        HANDOFF_PEOPLE=str(file),
        HANDOFF_CALLS_PER_SECOND="1",
        HANDOFF_TO_NUMBER="",
        HANDOFF_RING_SECONDS="",
    )
    wanted = {number: URGENCIES[at % 3] for at, number in enumerate(lines)}
    wanted |= dict.fromkeys(CRITICAL, "critical")
    opened = {}
    for number, urgency in wanted.items():
        world.phone.device(number).behaves("busy")
        opened[number] = world.open(contact=f"p{number[2:]}", urgency=urgency, timeout_s=3600)["id"]
        world.now += 1  # or nobody could say which is older
    world.settle()
    before = [one["form"]["To"][0] for one in world.creates()]
    assert len(before) <= 2, "they all came in the same moment"

    for _ in range(len(wanted) + 5):  # a busy phone needs no time, so that the line's clock may stand still
        world.now += 1000
        world.settle()

    order = [one["form"]["To"][0] for one in world.creates()]
    assert Counter(order) == Counter(list(wanted)), "each rang, and once"
    by_rank = [one for rank in ("critical", "high", "normal", "low") for one in wanted if wanted[one] == rank]
    assert order[len(before) :] == [one for one in by_rank if one not in before]
    events = [event for id_ in opened.values() for event in world.events(id_)]
    placed = sorted(event.at for event in events if event.type is EventType.CALL_PLACED)
    assert all(later - sooner >= 1000 for sooner, later in zip(placed, placed[2:], strict=False))
    assert placed[-1] - placed[0] <= (len(wanted) + 2) * 1000, "and no slot was left empty"
    whys = [
        [one.data["why"] for one in world.events(id_) if one.type == "call_held"] for id_ in opened.values()
    ]
    assert all(told in ([], ["rate"]) for told in whys) and whys.count(["rate"]) > many * 0.8, (
        "why it waits, once"
    )
    assert all(one["held"] is None for id_ in opened.values() for one in world.show(id_)["attempts"])
    world.forgives_what_rang()


def test_what_is_critical_does_not_wait_behind_what_workers_have_not_come_to(make_world: MakeWorld) -> None:
    """More is due than workers can do: what came last is done first, with no limit that would say so."""
    world = make_world(together=True)
    world.dismiss()
    opened = [world.open(contact="ada") for _ in range(3)]
    opened.append(world.open(contact="ben", urgency="critical"))
    world.hire()
    world.settle()
    assert world.creates()[0]["form"]["To"] == [BEN]
    assert world.creates("Messages")[0]["form"]["To"] == [BEN]
    for one in opened:
        world.http.post(f"/v1/handoffs/{one['id']}/cancellation")
    world.settle()
    world.forgives_what_rang()
