"""How often and how much is called: the rate with the urgent first, a number's caps, the day's ceiling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from handoff import keys
from handoff.models import EventType
from handoff.rights import Rights
from tests.world import REASON, MakeWorld, Opened, World

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


def test_somebody_who_is_on_the_line_holds_up_calls_to_nobody_else(world: World) -> None:
    """Two more handoffs for p141 came before those for the others; p141 clears a wall while on the line."""
    handoffs = [world.open(contact=f"p{number}") for number in (140, 141, 141, 141, 142, 143)]
    world.advance_until(lambda: world.creates(to="+12125550141"), "p141 is rung")
    call = world.phone.device("+12125550141").expect_call("Handoff for")
    call.press("3").hears("You have it")
    world.advance(8)
    rung = [one["form"]["To"][0][-3:] for one in world.creates()]
    assert sorted(rung) == ["140", "141", "142", "143"]
    for handoff in handoffs:
        world.http.post(f"/v1/handoffs/{handoff['id']}/cancellation")
    world.settle()
    world.forgives_what_rang()


def test_forty_that_are_withdrawn_leave_their_slots_to_the_one_behind_them(world: World) -> None:
    first = [world.open(contact=f"p{140 + number % 11}") for number in range(40)]
    last = world.open(contact="p151")
    world.settle()
    for handoff in first:
        world.http.post(f"/v1/handoffs/{handoff['id']}/cancellation")
    world.advance(4)
    assert world.creates()[-1]["form"]["To"] == ["+12125550151"], "and not forty seconds later"
    assert last["id"]
    world.forgives_what_rang()


def test_an_agent_that_used_up_its_share_waits_while_another_ones_call_rings(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_NUMBER_CAPS="2/10m", HANDOFF_TO_NUMBER=ADA)
    rights = Rights(share=50)
    key, _ = keys.create(world.services.store, "greedy", operator=False, now=world.now, rights=rights)
    greedy = {"Authorization": f"Bearer {key}"}
    wanted = {"kind": "clear", "reason": REASON}
    world.http.post("/v1/handoffs", json=wanted, headers=greedy).raise_for_status()
    world.reached(world.ada).press("1").hears("Thank you")
    waits = world.http.post("/v1/handoffs", json=wanted, headers=greedy).raise_for_status().json()
    world.ada.expect_text()
    world.advance(5)
    record = world.record(waits)
    assert [one.held for one in record.attempts if one.call] == ["share"] and held(world, waits) == ["share"]
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    world.http.post(f"/v1/handoffs/{waits['id']}/cancellation", headers=greedy)


def test_a_text_over_the_cap_waits_for_its_window_unless_nobody_needs_it_by_then(
    make_world: MakeWorld,
) -> None:
    world = make_world(HANDOFF_TEXT_CAPS="1/2m", HANDOFF_TO_NUMBER=ADA)
    world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    late, withdrawn = world.open(), world.open()
    world.advance(5)
    call = world.ada.let_ring()
    assert {held_text(world, one) for one in (late, withdrawn)} == {"texts"}
    [rings] = [one for one in world.show(late)["attempts"] if one["call"]]
    said = world.twilio(
        f"/twilio/calls/{rings['call']}/attempts/{rings['id']}/again?turn=1&silent=1", {}
    ).text
    assert "Handoff for shopper" in said and "the text" not in said.lower(), "which is not there yet"
    world.http.post(f"/v1/handoffs/{withdrawn['id']}/cancellation")
    world.settle()
    assert world.dispositions(withdrawn, "text") == [("ada", "withdrawn")]
    world.advance(125)
    world.ada.expect_text()
    assert world.dispositions(late, "text") == [("ada", "delivered")] and held_text(world, late) is None
    assert world.types(late).count("text_held") == 1
    world.open(urgency="critical")
    world.ada.expect_text()
    call.ended()
    world.forgives_what_rang()


def held_text(world: World, handoff: Opened) -> str | None:
    """Why its text waits, as the agent sees it."""
    [text] = [one for one in world.show(handoff)["attempts"] if one["channel"] == "text"]
    return str(text["held"]) if text["held"] else None


class Held:
    """A world in which Ada was rung a moment ago and is not to be rung again for two minutes."""

    def __init__(self, make_world: MakeWorld, file: Path, people: str) -> None:
        self.file = file
        file.write_text(people)
        self.world = make_world(
            HANDOFF_PEOPLE=str(file),
            HANDOFF_NUMBER_CAPS="1/2m",
            HANDOFF_TO_NUMBER="",
            HANDOFF_RING_SECONDS="",
        )
        self.world.open()
        self.world.reached(self.world.ada).press("1").hears("Thank you")
        self.handoff = self.world.open()
        self.world.advance(5)

    def edit(self, people: str) -> None:
        before = self.file.stat().st_mtime_ns
        self.file.write_text(people)
        os.utime(self.file, ns=(before + 10**9, before + 10**9))
        self.world.advance(2)


ONLY_ADA = '[contacts.ada]\nname = "Ada"\nnumbers = ["+12125550123"]\n'
ALWAYS = 'quiet_hours = ["00:00-12:00", "12:00-00:00"]\n'


def test_a_call_that_waited_into_the_night_is_not_placed(make_world: MakeWorld, tmp_path: Path) -> None:
    it = Held(make_world, tmp_path / "people.toml", ONLY_ADA)
    it.world.ada.expect_text()
    it.edit(ONLY_ADA + ALWAYS)
    it.world.advance(130)
    assert len(it.world.creates()) == 1
    assert it.world.dispositions(it.handoff) == [("ada", "withdrawn")]


def test_a_call_that_waited_is_not_placed_to_somebody_who_was_taken_out(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    """Promise 8: only known numbers, and known is what the file says now. Her link is dead as well."""
    it = Held(make_world, tmp_path / "people.toml", ONLY_ADA)
    page = it.world.page(it.world.ada)
    it.edit(ONLY_ADA.replace("ada", "ben").replace("Ada", "Ben").replace("0123", "0124"))
    assert page.read().status == 404
    it.world.advance(120)
    it.world.reached(it.world.ben).press("1").hears("Thank you")
    assert it.world.dispositions(it.handoff) == [("ada", "withdrawn"), ("ben", "resolved")]


def test_a_number_that_may_not_be_rung_yet_leaves_the_turn_to_the_contacts_next_number(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    two_numbers = ONLY_ADA.replace('"]', '", "+12125550126"]')
    it = Held(make_world, tmp_path / "people.toml", two_numbers)
    it.world.ada.expect_text()
    it.world.phone.device("+12125550126").expect_call("Handoff for").press("1").hears("Thank you")
    assert it.world.dispositions(it.handoff) == [("ada", "blocked"), ("ada", "resolved")]


def test_rounds_are_not_used_up_while_the_only_person_may_not_be_rung(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_NUMBER_CAPS="1/2m", HANDOFF_TO_NUMBER=ADA, HANDOFF_ROUNDS="3")
    handoff = world.open()
    for _ in range(3):
        world.ada.let_ring().decline()
        world.advance(125)
    world.ada.expect_text()
    assert world.dispositions(handoff) == [("ada", "no_answer")] * 3
