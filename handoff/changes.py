"""A change in the making: what every command on a handoff is put together from.

A `Change` is a new version of one handoff with all that must be kept in the same atomic step. Which
command makes which change is lifecycle.py's and attempts.py's business. Pure: `now` is an argument.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from handoff import effects
from handoff.effects import Effect, EffectKind
from handoff.models import (
    SERVICE,
    Actor,
    Attempt,
    Call,
    Channel,
    Decision,
    Event,
    EventType,
    Handoff,
    Proof,
    Record,
    Result,
)
from handoff.moments import DAY, SECOND, rfc3339
from handoff.notices import Notices
from handoff.outcomes import Outcome
from handoff.policy import EscalationPolicy, People
from handoff.states import CloseReason, Disposition, Trigger, target
from handoff.views import HandoffView


class Rules(Record):
    """What the operator set: who is reached, and how long things last."""

    people: People
    ack_ms: int = 300 * SECOND
    keep_closed_ms: int = 30 * DAY
    agent_gone_ms: int = 90 * SECOND
    public_url: str = ""  # where this service answers, for the addresses that it gives out

    def policy_for(self, handoff: Handoff) -> EscalationPolicy:
        """Who is reached for this handoff."""
        return self.people.policy_for(handoff)


@dataclass(frozen=True)
class Change:
    """A new version of one handoff, with all that must be kept in the same atomic step."""

    handoff: Handoff
    events: tuple[Event, ...] = ()
    effects: tuple[Effect, ...] = ()
    drop: tuple[str, ...] = ()  # ids of effects that are not needed any more
    calls: tuple[Call, ...] = ()  # new call records
    notices: tuple[Notices, ...] = ()  # what is kept for operators
    reached: tuple[str, ...] = ()  # ids of contacts who are reached for it from now on
    let_go: tuple[str, ...] = ()  # those whom it concerns no more, as it is closed


@dataclass(frozen=True)
class Decided:
    """What to tell, and what to commit before telling it."""

    outcome: Outcome
    change: Change | None = None


@dataclass
class Draft:
    """A change in the making. Every event and every new version of the handoff goes through here."""

    handoff: Handoff
    now: int
    events: list[Event] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    notices: list[Notices] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._before = self.handoff

    def move(self, trigger: Trigger, **fields: Any) -> None:
        """Changes the state as states.py says. A trigger that may not happen here is a fault of ours."""
        to = target(self.handoff.state, trigger)
        if to is None:
            raise AssertionError(f"{trigger} may not happen in {self.handoff.state}")
        self.set(state=to, **fields)

    def set(self, **fields: Any) -> None:
        """Changes fields of the handoff."""
        self.handoff = self.handoff.model_copy(update=fields)

    def note(self, type_: EventType, by: Actor, proof: Proof | None = None, **data: Any) -> None:
        """A line on the timeline; data without a value is left out."""
        seq = self.handoff.seq + 1
        self.set(seq=seq)
        kept = {name: value for name, value in data.items() if value is not None}
        self.events.append(
            Event(
                seq=seq, id=f"{self.handoff.id}.{seq}", type=type_, at=self.now, by=by, proof=proof, data=kept
            )
        )

    def change(self) -> Change:
        """What to commit: the next revision, with everything collected here."""
        self.set(rev=self.handoff.rev + 1)
        before, now = _contacts(self._before), _contacts(self.handoff)
        closes = self.handoff.closed and not self._before.closed
        return Change(
            self.handoff,
            tuple(self.events),
            tuple(self.effects),
            tuple(self.drop),
            tuple(self.calls),
            tuple(self.notices),
            reached=() if self.handoff.closed else tuple(sorted(now - before)),
            let_go=tuple(sorted(before)) if closes else (),
        )


def _contacts(handoff: Handoff) -> set[str]:
    return {one.contact for one in handoff.attempts}


def end_wait(draft: Draft) -> None:
    """Nothing is waited for between two steps any more."""
    if draft.handoff.next_step_at is not None:
        draft.set(next_step_at=None, same_step_again=False)
        draft.drop.append(effects.timer_id(EffectKind.NEXT_STEP, draft.handoff.id))


def end_pause(draft: Draft, trigger: Trigger, by: Actor, proof: Proof | None) -> None:
    """Ends an acknowledgement: nobody has it any more, and the ladder may go on."""
    draft.move(trigger, acknowledged=None, acknowledged_until=None)
    draft.note(EventType.LAPSED, by, proof)
    draft.drop.append(effects.timer_id(EffectKind.LAPSE, draft.handoff.id))


_CLOSED_EVENT = {
    Trigger.RESOLVE: EventType.RESOLVED,
    Trigger.DECLINE: EventType.DECLINED,
    Trigger.EXPIRE: EventType.EXPIRED,
    Trigger.CANCEL: EventType.CANCELLED,
}


def close(
    draft: Draft,
    trigger: Trigger,
    reason: CloseReason,
    rules: Rules,
    *,
    decision: Decision | None = None,
    by: Actor | None = None,
    result: Result | None = None,
    attempt: str | None = None,
) -> None:
    """Closes it: says why, drops its timers, hangs up every other call, and tells the agent at its URL."""
    actor = decision.by if decision else by or SERVICE
    draft.move(
        trigger,
        close_reason=reason,
        closed_at=draft.now,
        closed_by=actor,
        settlement=decision,
        result=result,
    )
    draft.note(
        _CLOSED_EVENT[trigger],
        actor,
        decision.proof if decision else None,
        close_reason=reason,
        channel=decision.channel if decision else None,
        comment=decision.comment if decision else None,
        attempt=attempt,
        result=result.model_dump(mode="json") if result else None,
    )
    hang_up_others(draft, attempt)
    handoff = draft.handoff
    # A text that a cap holds is not needed any more: its row, which then withdraws it, need not wait so long.
    held = [
        one for one in handoff.attempts if one.channel is Channel.TEXT and one.held and one.ended_at is None
    ]
    draft.effects += [effects.send_text(handoff.id, one.id, draft.now) for one in held]
    kinds = (EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.AGENT_GONE, EffectKind.NEXT_STEP)
    draft.drop += [effects.timer_id(kind, handoff.id) for kind in kinds]
    draft.effects.append(effects.timer(EffectKind.PURGE, handoff.id, draft.now + rules.keep_closed_ms))
    if handoff.enrols and attempt:
        draft.effects.append(effects.enrol(handoff.id, attempt, draft.now))
    url = handoff.resume_url if trigger is Trigger.RESOLVE else handoff.outcome_url
    if url:
        draft.effects.append(effects.resume(handoff.id, url, _callback_body(handoff), draft.now))


def _callback_body(handoff: Handoff) -> str:
    """The callback's body, made once: every retry sends these bytes, so that a signature can be checked."""
    assert handoff.closed_at is not None
    view = HandoffView.of(handoff).model_dump(mode="json")
    body = {
        "type": f"handoff.{handoff.state}",
        "timestamp": rfc3339(handoff.closed_at),
        "data": {"handoff": view},
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def mark(draft: Draft, attempt_id: str | None, disposition: Disposition) -> None:
    """Puts down what a person made of an attempt, if there is one; it ends when its call does, also where it
    counted as over because they were taken for a machine."""
    attempt = draft.handoff.attempt(attempt_id) if attempt_id is not None else None
    if attempt is not None:
        ended_at = None if attempt.disposition is Disposition.VOICEMAIL else attempt.ended_at
        update_attempt(draft, attempt.id, disposition=disposition, ended_at=ended_at)


def update_attempt(draft: Draft, attempt_id: str, **fields: Any) -> None:
    """Changes one attempt."""
    draft.set(
        attempts=tuple(
            one.model_copy(update=fields) if one.id == attempt_id else one for one in draft.handoff.attempts
        )
    )


def open_calls(handoff: Handoff) -> list[Attempt]:
    """Calls of ours that may still bring a decision, and that the ladder waits for."""
    return [
        one
        for one in handoff.attempts
        if one.channel is Channel.CALL
        and not one.inbound
        and one.ended_at is None
        and one.disposition is None
    ]


#: Whoever pressed the key for one of these is hearing what was done and goodbye.
_LEAVING = frozenset({Disposition.DECLINED, Disposition.OPTED_OUT, Disposition.CALL_BACK})


def hang_up_others(draft: Draft, deciding: str | None) -> None:
    """End every call that has not ended, but for the one in which the decision was just made, and those that
    end by themselves: to be told more would cut off the answer to their own key. A machine may still be
    listening to a message when its attempt is over."""
    for one in draft.handoff.attempts:
        on = one.ended_at is None or one.disposition is Disposition.VOICEMAIL
        on = on and one.disposition not in _LEAVING
        if one.channel is Channel.CALL and one.call and on and one.id != deciding:
            draft.effects.append(effects.hang_up(one.call, draft.now))
