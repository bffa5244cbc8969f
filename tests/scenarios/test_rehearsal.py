"""Before it matters: who would be rung now, and a test call that tells what happens."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from handoff import people_file, rehearsal
from handoff.errors import Invalid
from handoff.models import ProofAsked, Urgency
from handoff.policy import Contact, EscalationPolicy, Step
from tests.world import MakeWorld, World

NOON = 1_796_040_000_000  # Mon, 30 Nov 2026 12:00 UTC
PEOPLE = people_file.parse(
    """
[contacts.ada]
name = "Ada"
numbers = ["+12125550123", "+12125550126"]
[contacts.ben]
name = "Ben"
numbers = ["+12125550124"]
time_zone = "Asia/Tokyo"
quiet_hours = ["20:00-08:00"]
[contacts.cy]
name = "Cy"
numbers = ["+12125550125"]
channels = ["text"]
[[policies.default.steps]]
contacts = ["ada"]
wait_s = 60
[[policies.default.steps]]
contacts = ["ben", "cy"]
"""
)


def test_who_would_be_rung_now_and_why_not() -> None:
    assert list(rehearsal.who(PEOPLE, Urgency.NORMAL, NOON)) == [
        "policy default, urgency normal",
        "step 1  Ada                   called at …0123, then …0126 for 25 s and texted",
        "        then waits until 60 s have passed since step 1 began",
        "step 2  Ben                   quiet until 08:00 in Asia/Tokyo: not called, only texted",
        "step 2  Cy                    texted at …0125, takes no calls",
    ]


def test_who_asked_us_to_stop_is_not_called_there() -> None:
    told = list(rehearsal.who(PEOPLE, Urgency.NORMAL, NOON, stopped=lambda number: number.endswith("3")))
    assert told[1].endswith("called at …0126 for 25 s and texted, not at …0123: they asked us to stop")
    told = list(rehearsal.who(PEOPLE, Urgency.CRITICAL, NOON, contact="ben", stopped=lambda _: True))
    assert told[1].endswith("not called: they asked us to stop, only texted")


def test_who_texted_stop_is_not_texted() -> None:
    told = list(rehearsal.who(PEOPLE, Urgency.NORMAL, NOON, untexted=lambda _: True))
    assert told[1].endswith("for 25 s, not texted: they texted STOP")
    assert told[3].endswith("not called, not texted: they texted STOP")
    assert told[4].endswith("  not texted: they texted STOP")


@pytest.mark.parametrize(
    ("quiet", "step", "of_ben"),
    [
        ("skip", "ben", "passed over, neither called nor texted"),
        ("skip", "ada", "not called, only texted"),  # somebody in his step is awake
        ("wait", "ben", "not called now, only texted"),
    ],
)
def test_what_the_policy_does_about_quiet_hours_is_told(quiet: str, step: str, of_ben: str) -> None:
    policy = EscalationPolicy(
        name="night",
        proof=ProofAsked.CODE,
        quiet=quiet,  # type: ignore[arg-type]  # of the table above
        steps=(
            Step(contacts=tuple(people(step, "ben")), ring_s=25),
            Step(contacts=tuple(people("cy", "ada")), ring_s=25),
        ),
    )
    told = list(
        rehearsal.who(PEOPLE.model_copy(update={"policies": (policy,)}), Urgency.NORMAL, NOON, policy="night")
    )
    assert told[0] == "policy night, urgency normal, decided with proof code"
    assert next(line for line in told if "Ben" in line).endswith(f"until 08:00 in Asia/Tokyo: {of_ben}")


def people(*ids: str) -> list[Contact]:
    return [one for one in PEOPLE.contacts if one.id in ids]


def test_what_is_critical_is_shown_to_ring_through() -> None:
    told = list(rehearsal.who(PEOPLE, Urgency.CRITICAL, NOON, contact="ben"))
    assert told[1] == "step 1  Ben                   called at …0124 for 25 s and texted"


@pytest.mark.parametrize(
    ("asked", "known"), [({"policy": "x"}, "default"), ({"contact": "x"}, "ada, ben, cy")]
)
def test_a_name_that_there_is_not_is_answered_with_those_that_there_are(
    asked: dict[str, str], known: str
) -> None:
    with pytest.raises(Invalid) as refused:
        list(rehearsal.who(PEOPLE, Urgency.NORMAL, NOON, **asked))
    assert known in refused.value.errors[0].message


def in_background(world: World, contact: str) -> Callable[[], list[str]]:
    """A test call on its way; called, it gives all that was told."""
    told: list[str] = []
    thread = threading.Thread(target=lambda: told.extend(rehearsal.call(world.services, contact)))
    thread.start()

    def over() -> list[str]:
        thread.join(20)
        assert not thread.is_alive(), told
        return told

    return over


def test_a_test_call_tells_what_happens_until_the_key_is_pressed(world: World) -> None:
    told = in_background(world, "ada")
    world.reached(world.ada, "Handoff for test-call. This is a test call.").press("1").hears("Thank you")
    lines = told()
    assert lines[-1] == f"Ada {rehearsal.REACHED}"
    assert any("Ada pressed 1" in line for line in lines)


def test_a_test_call_that_nobody_answers_says_so_and_rings_nobody_else(make_world: MakeWorld) -> None:
    world = make_world()
    told = in_background(world, "ben")
    world.ben.expect_text()
    world.ben.let_ring().decline()
    assert told()[-1] == "Ben was not reached: delivered, no_answer."
