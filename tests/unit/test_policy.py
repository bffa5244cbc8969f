"""Who comes next: steps, rounds, and a policy that became shorter while a handoff was on its way."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from handoff.models import Position
from handoff.policy import Contact, EscalationPolicy, Step, again, coming, only, step_at

ADA = Contact(id="ada", name="Ada", numbers=("+12125550123",))
BEN = Contact(id="ben", name="Ben", numbers=("+12125550124",))
CY = Contact(id="cy", name="Cy", numbers=("+12125550125",))


def policy(*steps: tuple[Contact, ...], rounds: int = 1) -> EscalationPolicy:
    return EscalationPolicy(
        name="p", steps=tuple(Step(contacts=one, ring_s=25) for one in steps), rounds=rounds
    )


def walk(of: EscalationPolicy, after: Position | None = None) -> list[tuple[int, int]]:
    """Every position that is still to come."""
    return [(one.position.round, one.position.step) for one in coming(of, after)]


def who(of: EscalationPolicy, after: Position | None = None) -> list[str]:
    """Who is reached in each step that is still to come: `ada+ben cy`."""
    return ["+".join(one.id for one in step.contacts) for _, step in coming(of, after)]


def test_steps_follow_each_other_and_then_it_is_over() -> None:
    assert walk(policy((ADA,), (BEN,), (CY,))) == [(0, 0), (0, 1), (0, 2)]


def test_rounds_repeat_the_whole_ladder() -> None:
    assert walk(policy((ADA,), (BEN,), rounds=3)) == [(r, s) for r in range(3) for s in range(2)]


def test_one_person_and_one_round_is_one_try() -> None:
    assert walk(policy((ADA,))) == [(0, 0)]


def test_a_policy_without_steps_has_no_beginning_and_nobody_in_it() -> None:
    assert walk(policy()) == []
    assert step_at(policy(), Position(round=0, step=0)).contacts == ()
    assert [one.contacts for one in only(ADA, policy()).steps] == [(ADA,)]


def test_contacts_of_one_step_are_reached_together() -> None:
    both = policy((ADA, BEN), (CY,))
    assert step_at(both, Position(round=0, step=0)).contacts == (ADA, BEN)
    assert who(both) == ["ada+ben", "cy"]


def test_every_place_leads_to_all_that_come_after_it() -> None:
    of = policy((ADA,), (BEN, CY), (ADA,), rounds=3)
    every = list(coming(of, None))
    for at, (position, _) in enumerate(every):
        assert list(coming(of, position)) == every[at + 1 :]
        assert list(coming(of, again(of, position))) == every[at:]


def test_a_place_of_a_record_that_does_not_say_what_was_climbed_is_one_in_this_policy() -> None:
    of = policy((ADA,), (BEN,), (CY,), rounds=2)
    assert who(of, Position(round=1, step=0)) == ["ben", "cy"]
    assert who(of, again(of, Position(round=1, step=0))) == ["ada", "ben", "cy"]


def test_a_policy_that_became_shorter_answers_with_its_last_step() -> None:
    shorter = policy((ADA,))
    assert step_at(shorter, Position(round=0, step=7)).contacts == (ADA,)
    assert walk(shorter, Position(round=0, step=7)) == []


#: Where one stands when these steps have begun in the first round.
def after(*climbed: tuple[str, ...]) -> Position:
    return Position(round=0, step=len(climbed) - 1, climbed=climbed)


@pytest.mark.parametrize(
    ("now", "left"),
    [
        (policy((ADA,), (BEN,), (CY,)), ["cy"]),
        (policy((ADA,), (BEN,), (ADA,)), ["ada"]),
        (policy((ADA, BEN), (CY,)), ["cy"]),
        (policy((CY,), (ADA,), (BEN,)), ["cy"]),
        (policy((ADA, BEN, CY)), ["cy"]),
        (policy((ADA, CY), (BEN,)), ["cy"]),
        (policy((CY,), (ADA,), (CY,)), ["cy"]),
        (policy((BEN,)), []),
        (policy(), []),
        (policy((CY,), (ADA,), rounds=2), ["cy", "cy", "ada"]),
    ],
)
def test_once_ada_and_ben_were_reached_this_is_left(now: EscalationPolicy, left: list[str]) -> None:
    assert who(now, after(("ada",), ("ben",))) == left


def test_a_policy_can_not_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(policy((ADA,)), "rounds", 9)  # noqa: B010 - mypy knows that this must not work
