"""Calling somebody again who was on the line: because they asked for it, or because the line was cut.

Rules of whether, when and how often. How a call is put on the record is ladder.py's business, what the voice
says voice/scripts.py's. Pure: the draft's `now` is the only clock.
"""

from __future__ import annotations

from handoff.changes import Draft, Rules, mark
from handoff.ladder import may_be_rung, number_of, place_call
from handoff.models import SERVICE, Attempt, Call, CallsBack, Channel, Decision, EventType, Handoff
from handoff.moments import MINUTE, rfc3339
from handoff.policy import Contact, step_at
from handoff.states import Disposition, Trigger, target

#: How long after they asked for it, as the voice says.
WAIT_MS = 2 * MINUTE
#: What must be left of the time then: for the phone to ring, and to hear what it is about.
LEFT_MS = MINUTE
#: How often one contact may ask for it, for one handoff: the others wait meanwhile.
MOST_ASKED = 2
#: What somebody presses who wants no more calls; it counts when it is pressed twice.
_STOP = "8"
#: Ends of an answered call that nobody may have meant: the line broke, or they hung up before our goodbye.
CUT_OFF = frozenset({Disposition.HUNG_UP, Disposition.PROVIDER_ERROR})


def may_ask(handoff: Handoff, attempt: Attempt, rules: Rules, now: int) -> bool:
    """Whether whoever is on the line in this attempt may be called again in a while.

    Not when it would come too late or into their quiet hours, when they asked often enough, or when they have
    said something already. Whoever called us is called back on no number: theirs proves nothing.
    """
    due = now + WAIT_MS
    asked = [one for one in _backs(handoff, attempt) if one.back is CallsBack.ASKED]
    return (
        target(handoff.state, Trigger.CALL_BACK) is not None
        and due + LEFT_MS < handoff.deadline
        and attempt.disposition is None
        and attempt.ended_at is None
        and not attempt.inbound
        and len(asked) < MOST_ASKED
        and _reachable(handoff, attempt, rules, due) is not None
    )


def as_asked(draft: Draft, attempt_id: str, decision: Decision, rules: Rules) -> bool:
    """The call that this attempt's contact asks for, on the same number; the present one ends without a
    decision. False when it is not to be had."""
    attempt = draft.handoff.attempt(attempt_id)
    if attempt is None or not may_ask(draft.handoff, attempt, rules, draft.now):
        return False
    draft.move(Trigger.CALL_BACK)
    mark(draft, attempt.id, Disposition.CALL_BACK)
    due = draft.now + WAIT_MS
    draft.note(
        EventType.CALLS_BACK,
        decision.by,
        decision.proof,
        attempt=attempt.id,
        contact=attempt.contact,
        why=CallsBack.ASKED,
        at=rfc3339(due),
    )
    return _place(draft, attempt, rules, CallsBack.ASKED, due)


def may_be_cut_off(call: Call) -> bool:
    """Whether nobody may have meant this call to end: it was answered, and they had not just asked us to
    stop."""
    return call.answered_at is not None and not call.pressed.endswith(_STOP)


def after_a_drop(draft: Draft, attempt: Attempt, rules: Rules) -> bool:
    """The call at once to somebody who was cut off before anything was decided, once for each contact. False
    when there is none, so that the ladder goes on."""
    before = [one for one in _backs(draft.handoff, attempt) if one.back is CallsBack.DROPPED]
    if before or attempt.inbound or _reachable(draft.handoff, attempt, rules, draft.now) is None:
        return False
    draft.note(
        EventType.CALLS_BACK, SERVICE, attempt=attempt.id, contact=attempt.contact, why=CallsBack.DROPPED
    )
    return _place(draft, attempt, rules, CallsBack.DROPPED, None)


def _backs(handoff: Handoff, attempt: Attempt) -> list[Attempt]:
    return [one for one in handoff.attempts if one.contact == attempt.contact and one.back is not None]


def _reachable(handoff: Handoff, attempt: Attempt, rules: Rules, at: int) -> Contact | None:
    """The contact, if they may be rung at that moment on the number that this attempt rang."""
    contact = rules.people.contact_for(handoff, attempt.contact)
    if contact is None or handoff.position is None or Channel.CALL not in contact.channels:
        return None
    known = number_of(attempt, contact) in contact.numbers
    return contact if known and may_be_rung(handoff, contact, at) is None else None


def _place(draft: Draft, attempt: Attempt, rules: Rules, why: CallsBack, due: int | None) -> bool:
    contact = rules.people.contact_for(draft.handoff, attempt.contact)
    position = draft.handoff.position
    number = number_of(attempt, contact) if contact else None
    assert contact is not None and position is not None and number is not None
    ring_s = step_at(rules.policy_for(draft.handoff), position).ring_s
    place_call(draft, contact, position, ring_s, contact.numbers.index(number), back=why, due=due)
    return True
