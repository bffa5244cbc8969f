"""The ladder: who is rung or texted next, in which step, after which wait; what quiet hours change about it.

Drafts of changes, as in changes.py; which command or report makes one is lifecycle.py's and attempts.py's
business. Pure: the draft's `now` is the only clock.
"""

from __future__ import annotations

from typing import Any

from handoff import effects, ids
from handoff.changes import Draft, Rules, close, end_wait
from handoff.effects import EffectKind
from handoff.models import (
    CLOCK,
    SERVICE,
    Attempt,
    Call,
    CallEntry,
    Channel,
    EventType,
    Handoff,
    Position,
    Urgency,
)
from handoff.moments import SECOND, rfc3339
from handoff.policy import Contact, EscalationPolicy, Step, next_position, step_at
from handoff.states import CloseReason, Disposition, Trigger


def start_step(draft: Draft, rules: Rules, position: Position | None) -> None:
    """Begins the step at `position`: each contact gets a call, and a text unless they have one.

    Whoever has quiet hours gets the text alone, unless it is critical. Where nobody can be rung now, the
    policy says what is done: the next step after a while, the same one in the morning, or somebody awake.
    """
    if position is None:
        return
    policy = rules.policy_for(draft.handoff)
    if policy.quiet == "skip":
        position = _first_awake(draft, policy, position) or position
    step = step_at(policy, position)
    asleep = _asleep(draft, step)
    end_wait(draft)
    draft.move(Trigger.START_STEP, position=position, step_started_at=draft.now, exhausted=False)
    draft.note(
        EventType.STEP_STARTED,
        SERVICE,
        round=position.round,
        step=position.step,
        contacts=[contact.id for contact in step.contacts],
        quiet={id_: rfc3339(until) for id_, until in asleep.items()} or None,
    )
    rung = False
    for contact in step.contacts:
        if Channel.CALL in contact.channels and contact.id not in asleep:
            place_call(draft, contact, position, step.ring_s)
            rung = True
        if Channel.TEXT in contact.channels:
            _send_text(draft, contact, position)
    if rung:
        return
    if policy.quiet == "wait" and asleep:
        _wait(draft, min(asleep.values()), again=True)
    else:
        advance(draft, rules)


def place_call(draft: Draft, contact: Contact, position: Position, ring_s: int, line: int = 0) -> None:
    """One more call to this contact, on the number at place `line`."""
    attempt_id, call_id = ids.new_id(ids.ATTEMPT), ids.new_id(ids.CALL)
    attempt = Attempt(
        id=attempt_id, channel=Channel.CALL, call=call_id, line=line, **_about(draft, contact, position)
    )
    draft.calls.append(
        Call(
            id=call_id,
            contact=contact.id,
            contact_name=contact.name,
            number=contact.numbers[line],
            entries=(CallEntry(handoff=draft.handoff.id, attempt=attempt_id),),
            ring_s=ring_s,
            created_at=draft.now,
        )
    )
    draft.effects.append(effects.place_call(call_id, draft.now))
    draft.set(attempts=(*draft.handoff.attempts, attempt))


#: The person was not there, or not on this number: their next number is tried.
_NOT_THERE = frozenset(
    {
        Disposition.BUSY,
        Disposition.NO_ANSWER,
        Disposition.UNREACHABLE,
        Disposition.INVALID_NUMBER,
        Disposition.VOICEMAIL,
        Disposition.SCREENED,
        Disposition.BLOCKED,
        Disposition.OPTED_OUT,
        Disposition.PROVIDER_ERROR,
        Disposition.UNKNOWN,
    }
)


def try_next_number(draft: Draft, rules: Rules, attempt: Attempt, disposition: Disposition) -> bool:
    """Rings the contact's next number, when they were not on this one and have another. The text they have
    is theirs already."""
    contact = rules.people.contact(attempt.contact)
    line = contact.number_after(attempt.line) if contact else None
    if contact is None or line is None or disposition not in _NOT_THERE:
        return False
    position = Position(round=attempt.round, step=attempt.step)
    ring_s = step_at(rules.policy_for(draft.handoff), position).ring_s
    place_call(draft, contact, position, ring_s, line)
    return True


def advance(draft: Draft, rules: Rules, *, at_once: bool = False) -> None:
    """Goes on to the next step when this one's wait is over, or `at_once`. When all are used up the link
    stays good, or the handoff ends if the agent asked for that."""
    handoff, policy = draft.handoff, rules.policy_for(draft.handoff)
    if handoff.position and not at_once:
        due = (handoff.step_started_at or draft.now) + _shortest_ms(handoff, policy)
        if draft.now < due:
            _wait(draft, due)
            return
    following = next_position(policy, handoff.position) if handoff.position else None
    if following is not None:
        start_step(draft, rules, following)
        return
    end_wait(draft)
    draft.set(exhausted=True)
    draft.note(EventType.POLICY_EXHAUSTED, SERVICE)
    if draft.handoff.on_exhausted == "fail":
        close(draft, Trigger.EXPIRE, CloseReason.UNREACHABLE, rules, by=CLOCK)


def wait_is_over(draft: Draft, rules: Rules) -> None:
    """What was waited for has come: the next step, or the same one for people whose quiet hours are over."""
    if draft.handoff.same_step_again:
        start_step(draft, rules, draft.handoff.position)
    else:
        advance(draft, rules, at_once=True)


def _wait(draft: Draft, due: int, *, again: bool = False) -> None:
    """Nothing rings until then; `again`: the same step begins anew, instead of the next."""
    draft.set(next_step_at=due, same_step_again=again)
    draft.effects.append(effects.timer(EffectKind.NEXT_STEP, draft.handoff.id, due, revision=due))


def _shortest_ms(handoff: Handoff, policy: EscalationPolicy) -> int:
    """How long the present step lasts at least. One in which nobody was rung gives people as long to read
    their texts as a phone would have rung."""
    assert handoff.position is not None
    step = step_at(policy, handoff.position)
    rung = any(
        one.channel is Channel.CALL
        and (one.round, one.step) == (handoff.position.round, handoff.position.step)
        for one in handoff.attempts
    )
    return (step.wait_s if rung else max(step.wait_s, step.ring_s)) * SECOND


def _asleep(draft: Draft, step: Step) -> dict[str, int]:
    """Who of these must not be rung now, and until when (ms)."""
    if draft.handoff.urgency is Urgency.CRITICAL:
        return {}
    found = {contact.id: contact.quiet_until(draft.now) for contact in step.contacts}
    return {id_: until for id_, until in found.items() if until is not None}


def _first_awake(draft: Draft, policy: EscalationPolicy, position: Position) -> Position | None:
    """The first step from here on in which somebody can be rung now; None when there is none."""
    at: Position | None = position
    while at is not None:
        step = step_at(policy, at)
        asleep = _asleep(draft, step)
        if any(one.id not in asleep and Channel.CALL in one.channels for one in step.contacts):
            return at
        at = next_position(policy, at)
    return None


def _send_text(draft: Draft, contact: Contact, position: Position) -> None:
    """A text with their link, unless they have one."""
    if any(_has_text(one, contact.id) for one in draft.handoff.attempts):
        return
    attempt = Attempt(id=ids.new_id(ids.ATTEMPT), channel=Channel.TEXT, **_about(draft, contact, position))
    draft.effects.append(effects.send_text(draft.handoff.id, attempt.id, draft.now))
    draft.set(attempts=(*draft.handoff.attempts, attempt))


#: Texts that may as well not have been: the next step to the same person sends another.
_NO_TEXT = frozenset(
    {
        Disposition.UNKNOWN,
        Disposition.PROVIDER_ERROR,
        Disposition.UNREACHABLE,
        Disposition.WITHDRAWN,
    }
)


def _has_text(attempt: Attempt, contact: str) -> bool:
    return (
        attempt.channel is Channel.TEXT and attempt.contact == contact and attempt.disposition not in _NO_TEXT
    )


def _about(draft: Draft, contact: Contact, position: Position) -> dict[str, Any]:
    return {
        "contact": contact.id,
        "contact_name": contact.name,
        "round": position.round,
        "step": position.step,
        "started_at": draft.now,
    }
