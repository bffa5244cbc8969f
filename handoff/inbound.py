"""Somebody calls us: what waits for them, and what is put down of it. Pure, as lifecycle.py.

Caller ID proves nothing (https://www.twilio.com/docs/voice/trusted-calling-with-shakenstir), so that nothing
here is told before a PIN or a code. Committing is callers.py's business, the words are voice/'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from handoff import effects, ids
from handoff.changes import Change, Draft, Rules, open_calls
from handoff.models import (
    SERVICE,
    Attempt,
    Call,
    CallEntry,
    CallsBack,
    Channel,
    EventType,
    Handoff,
    Position,
    Proof,
)
from handoff.moments import MINUTE, SECOND
from handoff.policy import Contact, People, step_at
from handoff.states import CallState, Disposition, State

#: When a call to us is looked up first, should the callback that ends it be lost, ms.
LOOK_AFTER_MS = MINUTE
#: How long after their key they are called back, ms: their line must be free again.
BACK_AFTER_MS = 8 * SECOND
#: What an attempt comes to when its caller goes on to the next thing without a key.
LEFT = Disposition.NO_INPUT


def whose(people: People, number: str) -> Contact | None:
    """The contact who has this number (E.164); no two have the same."""
    return next((one for one in people.contacts if number in one.numbers), None)


def waiting(found: Iterable[Handoff], contact: Contact, rules: Rules, now: int) -> list[Handoff]:
    """Which of these wait for this contact: the most urgent first, of those the newest.

    What they were reached for, or would be in a later step, and nobody else has.
    """
    mine = {one.id: one for one in found if _waits_for(one, contact, rules, now)}
    return sorted(mine.values(), key=lambda one: (-one.urgency.rank, -one.created_at))


def enter(
    handoff: Handoff, contact: Contact, number: str, call_id: str, provider_id: str, proof: Proof, now: int
) -> Change:
    """They called us, showed who they are, and hear of this handoff now: an attempt that holds no ladder up,
    in a call that was answered before it was recorded. With the row that looks the call up."""
    draft = Draft(handoff, now)
    attempt = _attempt(draft, contact, number, call_id, inbound=True)
    call = Call(
        id=call_id,
        contact=contact.id,
        contact_name=contact.name,
        number=number,
        entries=(CallEntry(handoff=handoff.id, attempt=attempt.id),),
        state=CallState.ANSWERED,
        ring_s=0,
        inbound=True,
        proof=proof,
        created_at=now,
        answered_at=now,
        provider_id=provider_id,
    )
    draft.calls.append(call)
    draft.effects.append(effects.reconcile_call(call_id, now + LOOK_AFTER_MS))
    return draft.change()


def go_on(handoff: Handoff, contact: Contact, call: Call, now: int) -> tuple[Change, Call]:
    """They hear of another handoff in the same call: its change, and the call that carries it too."""
    draft = Draft(handoff, now)
    attempt = _attempt(draft, contact, call.number, call.id, inbound=True)
    entry = CallEntry(handoff=handoff.id, attempt=attempt.id)
    return draft.change(), call.model_copy(update={"entries": (*call.entries, entry), "rev": call.rev + 1})


def call_back(
    handoff: Handoff, contact: Contact, number: str, call_id: str, rules: Rules, now: int
) -> Change | None:
    """They asked to be called back, on their own number. None when that phone rings for it already, or nobody
    is to be rung for it now."""
    ringing = any(one.contact == contact.id for one in open_calls(handoff))
    if ringing or handoff.acknowledged is not None or Channel.CALL not in contact.channels:
        return None
    draft = Draft(handoff, now)
    attempt = _attempt(draft, contact, number, call_id, back=CallsBack.ASKED)
    policy = rules.policy_for(handoff)
    ring_s = step_at(policy, handoff.position or Position(round=0, step=0)).ring_s
    draft.calls.append(
        Call(
            id=call_id,
            contact=contact.id,
            contact_name=contact.name,
            number=number,
            entries=(CallEntry(handoff=handoff.id, attempt=attempt.id),),
            ring_s=ring_s,
            back=CallsBack.ASKED,
            created_at=now,
        )
    )
    draft.effects.append(effects.place_call(call_id, now + BACK_AFTER_MS))
    return draft.change()


def _waits_for(handoff: Handoff, contact: Contact, rules: Rules, now: int) -> bool:
    if handoff.closed or handoff.enrols or now >= handoff.deadline:
        return False
    holder = handoff.acknowledged.by.id if handoff.acknowledged else contact.id
    if handoff.state is State.ACKNOWLEDGED and holder != contact.id:
        return False
    if any(one.contact == contact.id for one in handoff.attempts):
        return True
    steps = rules.policy_for(handoff).steps if handoff.notify == "policy" else ()
    return any(one.id == contact.id for step in steps for one in step.contacts)


def _attempt(
    draft: Draft,
    contact: Contact,
    number: str,
    call_id: str,
    *,
    inbound: bool = False,
    back: CallsBack | None = None,
) -> Attempt:
    """Puts the attempt and its line on the record, in the step that the ladder is in."""
    at = draft.handoff.position
    attempt = Attempt(
        id=ids.new_id(ids.ATTEMPT),
        contact=contact.id,
        contact_name=contact.name,
        channel=Channel.CALL,
        round=at.round if at else 0,
        step=at.step if at else 0,
        call=call_id,
        line=contact.numbers.index(number),
        number=number,
        inbound=inbound,
        back=back,
        started_at=draft.now,
    )
    draft.set(attempts=(*draft.handoff.attempts, attempt))
    what = EventType.CALLED_IN if inbound else EventType.CALLS_BACK
    draft.note(what, SERVICE, attempt=attempt.id, contact=contact.id, call=call_id, why=back)
    return attempt
