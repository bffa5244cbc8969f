"""Commands that come too late: who settled it, and a line on the timeline that they tried.

Which commands there are is lifecycle.py's business. Pure: `now` is an argument, ms.
"""

from __future__ import annotations

from handoff import proofs
from handoff.changes import Decided, Draft, Rules, close
from handoff.errors import Forbidden
from handoff.models import CLOCK, ActorKind, Decision, EventType, Handoff, Proof
from handoff.outcomes import lost
from handoff.states import CloseReason, Trigger

MAX_LATE_ANSWERS = 20  # late answers put on the record per handoff: a link must not be able to fill Redis


def too_late(handoff: Handoff, asked: Trigger, decision: Decision, rules: Rules, now: int) -> Decided | None:
    """The answer to a decision that came too late, with a line on the timeline; None when it is in time.

    Raises Forbidden for one by an agent (promise 9), and for one in time with less proof than is asked for.
    """
    if decision.by.kind is ActorKind.AGENT and decision.proof is not Proof.OBSERVED:
        raise Forbidden("The requester can't answer its own request.")
    if not handoff.closed and now < handoff.deadline:
        proofs.require(handoff, asked, decision)
        return None
    if not handoff.closed:
        return expired_first(handoff, asked, rules, now, decision)
    outcome = lost(asked, handoff)
    if handoff.late_answers >= MAX_LATE_ANSWERS:
        return Decided(outcome)
    draft = Draft(handoff, now)
    _note_late(draft, asked, decision)
    return Decided(outcome, draft.change())


def expired_first(
    handoff: Handoff, asked: Trigger, rules: Rules, now: int, decision: Decision | None = None
) -> Decided:
    """The deadline has passed and the clock has not said so yet: say it now, and refuse what was asked."""
    draft = Draft(handoff, now)
    close(draft, Trigger.EXPIRE, CloseReason.NOBODY, rules, by=CLOCK)
    if decision is not None:
        _note_late(draft, asked, decision)
    return Decided(lost(asked, draft.handoff), draft.change())


def _note_late(draft: Draft, asked: Trigger, decision: Decision) -> None:
    draft.set(late_answers=draft.handoff.late_answers + 1)
    draft.note(
        EventType.LATE_ANSWER_REFUSED,
        decision.by,
        decision.proof,
        asked=asked,
        channel=decision.channel,
        standing=draft.handoff.state,
    )
