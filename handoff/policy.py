"""Who is reached next, and who they are: pure functions of a policy and a position in it.

Where contacts and policies come from (today the environment) is people.py's business.
"""

from __future__ import annotations

from pydantic import Field

from handoff.models import Position, Record


class Contact(Record):
    """A person with a number. `number` is E.164; `id` is what the timeline and the agent see. `pin` proves
    who they are where no phone of theirs rang; it is no part of what is kept or shown."""

    id: str
    name: str
    number: str
    pin: str | None = Field(default=None, repr=False, exclude=True)


class Step(Record):
    """Contacts that are rung together, each for `ring_s` seconds."""

    contacts: tuple[Contact, ...]
    ring_s: int


class EscalationPolicy(Record):
    """Ordered steps, the whole repeated `rounds` times."""

    name: str
    steps: tuple[Step, ...]
    rounds: int = 1


def first_position(policy: EscalationPolicy) -> Position | None:
    """Where the policy begins, or None when it has no steps."""
    return Position(round=0, step=0) if policy.steps else None


def next_position(policy: EscalationPolicy, after: Position) -> Position | None:
    """What follows `after`: the next step, the next round's first step, or None when all are used up."""
    if after.step + 1 < len(policy.steps):
        return Position(round=after.round, step=after.step + 1)
    if after.round + 1 < policy.rounds:
        return Position(round=after.round + 1, step=0)
    return None


def step_at(policy: EscalationPolicy, position: Position) -> Step:
    """The step at a position; a policy that has since become shorter answers with its last step."""
    return policy.steps[min(position.step, len(policy.steps) - 1)]


def next_name(policy: EscalationPolicy, after: Position | None) -> str | None:
    """Who would be reached next, for "passing it to Ben"; None when nobody is left."""
    position = next_position(policy, after) if after else first_position(policy)
    if position is None:
        return None
    return " and ".join(contact.name for contact in step_at(policy, position).contacts)
