"""The ladder: who is rung or texted next, in which step, after which wait; what quiet hours change about it.

Drafts of changes, as in changes.py; which command or report makes one is lifecycle.py's and attempts.py's
business. Pure: the draft's `now` is the only clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from handoff import effects, ids
from handoff.changes import Draft, Rules, end_wait, open_calls
from handoff.effects import EffectKind
from handoff.giving_up import exhaust
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
    Urgency,
)
from handoff.moments import SECOND, rfc3339
from handoff.policy import Coming, Contact, EscalationPolicy, again, climbed_at, coming, step_at
from handoff.states import Disposition, Trigger


def may_be_rung(handoff: Handoff, contact: Contact, now: int) -> int | None:
    """Until when (ms) they must not be rung for it, because of their quiet hours; None: they may be."""
    return None if handoff.urgency is Urgency.CRITICAL else contact.quiet_until(now)


class _Night:
    """Who must not be rung at this moment. Each is asked once, however many steps they are in."""

    def __init__(self, handoff: Handoff, now: int) -> None:
        self._handoff, self._now = handoff, now
        self._until: dict[str, int | None] = {}

    def until(self, contact: Contact) -> int | None:
        """As may_be_rung."""
        if contact.id not in self._until:
            self._until[contact.id] = may_be_rung(self._handoff, contact, self._now)
        return self._until[contact.id]

    def rings(self, contact: Contact) -> bool:
        """Whether they take calls, and may be rung."""
        return Channel.CALL in contact.channels and self.until(contact) is None

    def first_awake(self, steps: Iterable[Coming]) -> Coming | None:
        """The first of these steps in which somebody can be rung."""
        return next((one for one in steps if any(map(self.rings, one.step.contacts))), None)


def start(draft: Draft, rules: Rules, after: Position | None = None) -> bool:
    """Begins the step that follows `after`, or the first. False when there is none: nobody is left."""
    policy, night = rules.policy_for(draft.handoff), _Night(draft.handoff, draft.now)
    following = _following(policy, after, night)
    if following is None:
        return False
    _start_step(draft, policy, following, night)
    return True


def _following(policy: EscalationPolicy, after: Position | None, night: _Night) -> Coming | None:
    """The step that is to begin: the next one, or where the policy says so the next one in which somebody
    can be rung now, if there is any."""
    awake = night.first_awake(_soon(policy, after)) if policy.quiet == "skip" else None
    return awake or next(coming(policy, after), None)


def _soon(policy: EscalationPolicy, after: Position | None) -> Iterator[Coming]:
    """What is left of this round, and the next one: those after it hold nobody else."""
    last = after.round + 1 if after else 0
    for one in coming(policy, after):
        if one.position.round > last:
            return
        yield one


def _start_step(draft: Draft, policy: EscalationPolicy, begun: Coming, night: _Night) -> None:
    """Each contact gets a call, and a text unless they have one. Whoever has quiet hours gets the text alone.

    Where nobody can be rung now, the policy says what is done: the next step after a while, the same one in
    the morning, or somebody awake. A step without a call lasts, whatever it is: nothing is raced through.
    """
    position, step = begun
    asleep = {one.id: until for one in step.contacts if (until := night.until(one)) is not None}
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
    for contact in step.contacts:
        if night.rings(contact):
            place_call(draft, contact, position, step.ring_s)
        if Channel.TEXT in contact.channels:
            _send_text(draft, contact, position)
    if night.first_awake([begun]):
        return
    if policy.quiet == "wait" and asleep:
        _wait(draft, min(asleep.values()), again=True)
    else:
        _wait(draft, draft.now + max(step.wait_s, step.ring_s, 1) * SECOND)


def place_call(
    draft: Draft,
    contact: Contact,
    position: Position,
    ring_s: int,
    line: int = 0,
    *,
    back: CallsBack | None = None,
    due: int | None = None,
    call_id: str | None = None,
) -> str:
    """One more call to this contact, on the number at place `line`; not before `due` (ms). `back`: they were
    on the line before. `call_id`, where the record must have that one. The id of its attempt."""
    attempt_id, call_id = ids.new_id(ids.ATTEMPT), call_id or ids.new_id(ids.CALL)
    attempt = Attempt(
        id=attempt_id,
        channel=Channel.CALL,
        call=call_id,
        line=line,
        number=contact.numbers[line],
        back=back,
        **_about(draft, contact, position),
    )
    draft.calls.append(
        Call(
            id=call_id,
            contact=contact.id,
            contact_name=contact.name,
            number=contact.numbers[line],
            entries=(CallEntry(handoff=draft.handoff.id, attempt=attempt_id),),
            ring_s=ring_s,
            api_key=draft.handoff.api_key,
            back=back,
            created_at=draft.now,
            due_at=due,
        )
    )
    draft.effects.append(
        effects.place_call(call_id, draft.now if due is None else due, urgent=_critical(draft))
    )
    draft.set(attempts=(*draft.handoff.attempts, attempt))
    return attempt_id


#: The person was not there, or not on this number: their next number is tried.
NOT_THERE = frozenset(
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


def try_next_number(draft: Draft, rules: Rules, attempt: Attempt) -> bool:
    """Rings the contact of a call that came to nothing on a number that was not tried in this step, if they
    have one and may be rung now. The text they have is theirs already."""
    contact = rules.people.contact_for(draft.handoff, attempt.contact)
    line = _next_line(draft.handoff, attempt, contact, draft.now)
    if contact is None or line is None:
        return False
    assert draft.handoff.position is not None
    ring_s = step_at(rules.policy_for(draft.handoff), draft.handoff.position).ring_s
    place_call(draft, contact, draft.handoff.position, ring_s, line)
    return True


def _next_line(handoff: Handoff, attempt: Attempt, contact: Contact | None, now: int) -> int | None:
    """The place of the number to ring after this attempt; None when the step is another by now, or they have
    no other number, or must not be rung."""
    if contact is None or not _is_present(handoff, attempt) or not _Night(handoff, now).rings(contact):
        return None
    calls = (one for one in _present_calls(handoff) if one.contact == contact.id)
    return contact.number_besides([number_of(one, contact) for one in calls])


def number_of(attempt: Attempt, contact: Contact) -> str | None:
    """The number that was rung. Records of before it was kept have its place only."""
    if attempt.number is None and attempt.line < len(contact.numbers):
        return contact.numbers[attempt.line]
    return attempt.number


def _is_present(handoff: Handoff, attempt: Attempt) -> bool:
    """Whether it belongs to the present step. Positions come again, when people are rung again: what began
    before the step did is not of it."""
    at, began = handoff.position, handoff.step_started_at or 0
    return (
        at is not None
        and (at.round, at.step) == (attempt.round, attempt.step)
        and attempt.started_at >= began
    )


def _present_calls(handoff: Handoff) -> list[Attempt]:
    calls = (one for one in handoff.attempts if one.channel is Channel.CALL and not one.inbound)
    return [one for one in calls if _is_present(handoff, one)]


def anybody_rang(handoff: Handoff) -> bool:
    """Whether a phone rang, or may have, in the present step."""
    silent = (Disposition.WITHDRAWN, Disposition.OPTED_OUT)
    return any(one.disposition not in silent or one.opted_out for one in _present_calls(handoff))


def somebody_else(
    handoff: Handoff, attempt: Attempt, rules: Rules, now: int, *, other_number: bool = True
) -> bool:
    """Whether there is anybody to ring now if this call is given up: its contact on another number (with
    `other_number`), or another person in what is left of the ladder. Others of this step don't count, they
    are rung already."""
    contact = rules.people.contact_for(handoff, attempt.contact)
    if other_number and _next_line(handoff, attempt, contact, now) is not None:
        return True
    if handoff.position is None:
        return False
    night = _Night(handoff, now)
    left = _soon(rules.policy_for(handoff), handoff.position)
    return any(night.rings(one) for at in left for one in at.step.contacts if one.id != attempt.contact)


def next_name(handoff: Handoff, rules: Rules, now: int, passes: str | None = None) -> str | None:
    """Who has it next, for "passing it to Ben", when the contact `passes` (an id) does so: whoever is rung
    beside them, else the next step's people. None when nobody is left but themselves, who are not to be told
    that they are the next person."""
    others = [] if handoff.acknowledged or passes is None else open_calls(handoff)
    if rung := dict.fromkeys(one.contact_name for one in others if one.contact != passes):
        return " and ".join(rung)
    following = _following(rules.policy_for(handoff), handoff.position, _Night(handoff, now))
    people = following.step.contacts if following else ()
    return " and ".join(one.name for one in people) if any(one.id != passes for one in people) else None


def advance(draft: Draft, rules: Rules, *, at_once: bool = False, silent: bool = False) -> None:
    """Goes on to the next step when this one's wait is over, or `at_once`. A `silent` one, in which nobody
    was rung, gives people as long to read their texts as a phone would have rung. When all are used up the
    link stays good, or the handoff ends if the agent asked for that."""
    handoff = draft.handoff
    if handoff.position and not at_once:
        step = step_at(rules.policy_for(handoff), handoff.position)
        lasts_s = max(step.wait_s, step.ring_s) if silent else step.wait_s
        due = (handoff.step_started_at or draft.now) + lasts_s * SECOND
        if draft.now < due:
            _wait(draft, due)
            return
    if handoff.position is None or not start(draft, rules, handoff.position):
        exhaust(draft, rules)


def let_sleep(draft: Draft, rules: Rules) -> None:
    """A call of this step was not placed, as its contact must not be rung by now: what the policy says is
    done where nobody can be rung, if nothing of the step rings or rang."""
    handoff, policy = draft.handoff, rules.policy_for(draft.handoff)
    if open_calls(handoff):
        return
    if handoff.position is None or anybody_rang(handoff):
        advance(draft, rules)
        return
    night = _Night(handoff, draft.now)
    step = climbed_at(policy, handoff.position)[-1:]
    people = [one for ids_ in step for id_ in ids_ if (one := rules.people.contact_for(handoff, id_))]
    asleep = [until for one in people if (until := night.until(one)) is not None]
    if policy.quiet == "wait" and asleep:
        _wait(draft, min(asleep), again=True)
        return
    awake = night.first_awake(_soon(policy, handoff.position)) if policy.quiet == "skip" else None
    advance(draft, rules, at_once=awake is not None, silent=True)


def wait_is_over(draft: Draft, rules: Rules) -> None:
    """What was waited for has come: the next step, or the same one for people whose quiet hours are over.
    Who had us call them back meanwhile is not rung a second time beside that: its end goes on from here."""
    position = draft.handoff.position
    if draft.handoff.same_step_again and position is not None:
        draft.set(position=again(rules.policy_for(draft.handoff), position))
    if open_calls(draft.handoff):
        end_wait(draft)
    else:
        advance(draft, rules, at_once=True)


def _wait(draft: Draft, due: int, *, again: bool = False) -> None:
    """Nothing rings until then; `again`: the same step begins anew, instead of the next."""
    draft.set(next_step_at=due, same_step_again=again)
    draft.effects.append(effects.timer(EffectKind.NEXT_STEP, draft.handoff.id, due, revision=due))


def _send_text(draft: Draft, contact: Contact, position: Position) -> None:
    """A text with their link, unless they have one."""
    if any(_has_text(one, contact.id) for one in draft.handoff.attempts):
        return
    attempt = Attempt(id=ids.new_id(ids.ATTEMPT), channel=Channel.TEXT, **_about(draft, contact, position))
    draft.effects.append(effects.send_text(draft.handoff.id, attempt.id, draft.now, urgent=_critical(draft)))
    draft.set(attempts=(*draft.handoff.attempts, attempt))


def _critical(draft: Draft) -> bool:
    return draft.handoff.urgency is Urgency.CRITICAL


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
