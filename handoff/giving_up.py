"""When nobody is left to reach: the link stays good, or the handoff ends if its agent asked for that.

Who is left is ladder.py's business. Pure: the draft's `now` is the only clock.
"""

from __future__ import annotations

from handoff.changes import Draft, Rules, close, end_wait, open_calls
from handoff.models import CLOCK, SERVICE, EventType
from handoff.states import CloseReason, State, Trigger


def exhaust(draft: Draft, rules: Rules) -> None:
    """Nobody is left to reach."""
    end_wait(draft)
    draft.set(exhausted=True)
    draft.note(EventType.POLICY_EXHAUSTED, SERVICE)
    give_up(draft, rules)


def give_up(draft: Draft, rules: Rules) -> None:
    """Ends it, if the agent asked for that, once nobody is left to reach: not while somebody who called us
    hears of it, or is being called back."""
    handoff = draft.handoff
    undecided = (one for one in handoff.attempts if one.inbound and one.disposition is None)
    if (
        handoff.exhausted
        and handoff.on_exhausted == "fail"
        and handoff.state is State.ESCALATING
        and not open_calls(handoff)
        and all(one.ended_at is not None for one in undecided)
    ):
        close(draft, Trigger.EXPIRE, CloseReason.UNREACHABLE, rules, by=CLOCK)
