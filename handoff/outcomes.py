"""What a life-cycle call returns: won, or lost to whom and when.

The voice, the page and the API speak only from an outcome, and an outcome exists only after the change
was committed (promise 5). It is kept with the command that caused it, so that the same command,
repeated because its reply was lost, gets the same outcome again.
"""

from __future__ import annotations

from handoff.models import Actor, Decision, Handoff, Record
from handoff.states import CloseReason, State, Trigger


class Outcome(Record):
    """`won` says whether this command did what it asked for; the rest is how things stand after it."""

    won: bool
    asked: Trigger
    state: State
    close_reason: CloseReason | None = None
    closed_at: int | None = None
    closed_by: Actor | None = None  # who closed it, in whichever way
    settlement: Decision | None = None  # the decision that did, when one did
    holder: Decision | None = None  # who has acknowledged it, while that lasts
    holder_until: int | None = None
    next_name: str | None = None  # after a pass: who is reached now; None when nobody is left


def won(asked: Trigger, after: Handoff, *, next_name: str | None = None) -> Outcome:
    """The command did what it asked for; `after` is the handoff as committed."""
    return _outcome(True, asked, after, next_name)


def lost(asked: Trigger, standing: Handoff) -> Outcome:
    """Something else had been decided before; `standing` is the handoff as it is."""
    return _outcome(False, asked, standing, None)


def _outcome(has_won: bool, asked: Trigger, handoff: Handoff, next_name: str | None) -> Outcome:
    return Outcome(
        won=has_won,
        asked=asked,
        state=handoff.state,
        close_reason=handoff.close_reason,
        closed_at=handoff.closed_at,
        closed_by=handoff.closed_by,
        settlement=handoff.settlement,
        holder=handoff.acknowledged,
        holder_until=handoff.acknowledged_until,
        next_name=next_name,
    )
