"""How often and how much is called: the rate with the urgent first, a number's caps, the day's ceiling."""

from __future__ import annotations

from pathlib import Path

import pytest

from handoff.models import EventType
from tests.world import MakeWorld, Opened, World

ADA = "Ada=+12125550123"


@pytest.fixture
def world(make_world: MakeWorld, tmp_path: Path) -> World:
    """A dozen people, and an account that may begin one call a second."""
    file = tmp_path / "people.toml"
    people = (
        f'[contacts.p{number}]\nname = "P{number}"\nnumbers = ["+1212555{number:04d}"]\nchannels = ["call"]\n'
        for number in range(140, 152)
    )
    file.write_text("".join(people))
    return make_world(
        HANDOFF_PEOPLE=str(file),
        HANDOFF_CALLS_PER_SECOND="1",
        HANDOFF_TO_NUMBER="",
        HANDOFF_RING_SECONDS="",
    )


def held(world: World, handoff: Opened) -> list[str]:
    events = world.events(handoff)
    return [str(event.data["why"]) for event in events if event.type is EventType.CALL_HELD]


def test_at_one_call_a_second_the_two_critical_ones_that_came_last_ring_first(world: World) -> None:
    handoffs = [world.open(contact=f"p{number}") for number in range(140, 150)]
    critical = [world.open(contact=f"p{number}", urgency="critical") for number in (150, 151)]
    world.settle()
    begun_at_once = len(world.creates())
    assert begun_at_once <= 2
    world.advance(15)
    order = [one["form"]["To"][0][-3:] for one in world.creates()]
    assert sorted(order) == [str(number) for number in range(140, 152)]
    assert set(order[begun_at_once : begun_at_once + 2]) == {"150", "151"}
    assert [held(world, one) for one in handoffs].count(["rate"]) >= 3, "who waits for long is told why"
    assert all(held(world, one) == [] for one in critical)
    world.forgives_what_rang()


def test_nobody_is_held_when_calls_come_slowly(world: World) -> None:
    for number in (140, 141):
        handoff = world.open(contact=f"p{number}")
        world.advance(1.5)
        assert held(world, handoff) == []
    assert len(world.creates()) == 2
    world.forgives_what_rang()


def test_a_call_that_waits_and_is_not_needed_any_more_lets_the_next_one_begin(world: World) -> None:
    first, second, third = (world.open(contact=f"p{number}") for number in (140, 141, 142))
    world.settle()
    world.http.post(f"/v1/handoffs/{second['id']}/cancellation")
    world.advance(2.2)
    assert [one["form"]["To"][0][-3:] for one in world.creates()] == ["140", "142"]
    assert first["id"] != third["id"]
    world.forgives_what_rang()


def test_a_number_that_was_rung_a_moment_ago_is_left_alone_and_the_next_person_is_rung(
    make_world: MakeWorld,
) -> None:
    world = make_world(HANDOFF_NUMBER_CAPS="1/5m")
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    world.advance(5)
    handoff = world.open()
    world.ada.expect_text()
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "blocked"), ("ben", "resolved")]


def test_where_nobody_else_is_left_the_call_waits_and_the_timeline_says_why(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_NUMBER_CAPS="1/2m", HANDOFF_TO_NUMBER=ADA)
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    handoff = world.open()
    world.ada.expect_text()
    world.advance(60)
    assert len(world.creates()) == 1 and held(world, handoff) == ["number"]
    world.advance(62)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")


def test_what_is_critical_rings_a_number_that_was_rung_a_moment_ago(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_NUMBER_CAPS="1/2m", HANDOFF_TO_NUMBER=ADA)
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    world.advance(5)
    world.open(urgency="critical")
    world.reached(world.ada).press("1").hears("Thank you")


def test_over_the_ceiling_of_a_day_people_are_still_texted(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_CALLS_A_DAY="1", HANDOFF_TO_NUMBER=ADA)
    handoff = world.open()
    world.ada.expect_text()
    world.settle()
    assert world.creates() == [] and held(world, handoff) == ["day"]
    world.http.post(f"/v1/handoffs/{handoff['id']}/cancellation")
    world.open(urgency="critical")
    world.reached(world.ada).press("1").hears("Thank you")
