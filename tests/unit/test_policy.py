"""Who comes next: steps, rounds, and a policy that became shorter while a handoff was on its way."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from handoff.models import Position
from handoff.policy import Contact, EscalationPolicy, Step, first_position, next_name, next_position, step_at

ADA = Contact(id="ada", name="Ada", numbers=("+12125550123",))
BEN = Contact(id="ben", name="Ben", numbers=("+12125550124",))
CY = Contact(id="cy", name="Cy", numbers=("+12125550125",))


def policy(*steps: tuple[Contact, ...], rounds: int = 1) -> EscalationPolicy:
    return EscalationPolicy(
        name="p", steps=tuple(Step(contacts=one, ring_s=25) for one in steps), rounds=rounds
    )


def walk(of: EscalationPolicy) -> list[tuple[int, int]]:
    """Every position from the first to the last."""
    found, position = [], first_position(of)
    while position is not None:
        found.append((position.round, position.step))
        assert len(found) < 1_000, "the policy never ends"
        position = next_position(of, position)
    return found


def test_steps_follow_each_other_and_then_it_is_over() -> None:
    assert walk(policy((ADA,), (BEN,), (CY,))) == [(0, 0), (0, 1), (0, 2)]


def test_rounds_repeat_the_whole_ladder() -> None:
    assert walk(policy((ADA,), (BEN,), rounds=3)) == [(r, s) for r in range(3) for s in range(2)]


def test_one_person_and_one_round_is_one_try() -> None:
    assert walk(policy((ADA,))) == [(0, 0)]


def test_a_policy_without_steps_has_no_beginning_and_nobody_next() -> None:
    assert walk(policy()) == []
    assert next_name(policy(), None) is None


def test_contacts_of_one_step_are_reached_together() -> None:
    both = policy((ADA, BEN), (CY,))
    assert step_at(both, Position(round=0, step=0)).contacts == (ADA, BEN)
    assert next_name(both, None) == "Ada and Ben"
    assert next_name(both, Position(round=0, step=0)) == "Cy"


def test_after_the_last_step_of_the_last_round_nobody_is_next() -> None:
    two = policy((ADA,), (BEN,), rounds=2)
    assert next_name(two, Position(round=0, step=1)) == "Ada"
    assert next_name(two, Position(round=1, step=1)) is None


def test_a_policy_that_became_shorter_answers_with_its_last_step() -> None:
    shorter = policy((ADA,))
    assert step_at(shorter, Position(round=0, step=7)).contacts == (ADA,)
    assert next_position(shorter, Position(round=0, step=7)) is None


def test_a_policy_can_not_be_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(policy((ADA,)), "rounds", 9)  # noqa: B010 - mypy knows that this must not work
