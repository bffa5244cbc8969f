"""The life of a handoff: what each command does to it, and what that leaves to be done.

Pure functions of (handoff, command, rules, now). They answer with a `Decided`: the outcome to tell, and
the `Change` to commit, which is nothing at all when the command lost. They do not read, write, ring or
wait: commands.py commits a change in one atomic step, workers/ and voice/ perform its effects.
`now` and every moment are milliseconds since 1970, UTC.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from handoff import effects, ids
from handoff.effects import Effect, EffectKind
from handoff.errors import Invalid
from handoff.messages import HandoffView, OpenRequest
from handoff.models import (
    CLOCK,
    SERVICE,
    Actor,
    ActorKind,
    AskResult,
    Attempt,
    Call,
    CallEntry,
    Channel,
    ClearResult,
    Decision,
    Event,
    EventType,
    Handoff,
    Position,
    Proof,
    Record,
    Result,
)
from handoff.moments import DAY, SECOND, rfc3339
from handoff.outcomes import Outcome, lost, won
from handoff.policy import EscalationPolicy, first_position, next_name, next_position, step_at
from handoff.states import CloseReason, Disposition, Kind, State, Trigger, target

MAX_ANSWER = 10_000  # characters of a free-text answer
MAX_LATE_ANSWERS = 20  # late answers put on the record per handoff: a link must not be able to fill Redis


class Rules(Record):
    """What the operator set: who is reached, and how long things last."""

    policy: EscalationPolicy
    ack_ms: int = 300 * SECOND
    keep_closed_ms: int = 30 * DAY
    agent_gone_ms: int = 90 * SECOND


@dataclass(frozen=True)
class Change:
    """A new version of one handoff, with all that must be kept in the same atomic step."""

    handoff: Handoff
    events: tuple[Event, ...] = ()
    effects: tuple[Effect, ...] = ()
    drop: tuple[str, ...] = ()  # ids of effects that are not needed any more
    calls: tuple[Call, ...] = ()  # new call records


@dataclass(frozen=True)
class Decided:
    """What to tell, and what to commit before telling it."""

    outcome: Outcome
    change: Change | None = None


@dataclass
class _Draft:
    """A change in the making. Every event and every new version of the handoff goes through here."""

    handoff: Handoff
    now: int
    events: list[Event] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def move(self, trigger: Trigger, **fields: Any) -> None:
        to = target(self.handoff.state, trigger)
        if to is None:
            raise AssertionError(f"{trigger} may not happen in {self.handoff.state}")
        self.set(state=to, **fields)

    def set(self, **fields: Any) -> None:
        self.handoff = self.handoff.model_copy(update=fields)

    def note(self, type_: EventType, by: Actor, proof: Proof | None = None, **data: Any) -> None:
        seq = self.handoff.seq + 1
        self.set(seq=seq)
        kept = {name: value for name, value in data.items() if value is not None}
        self.events.append(
            Event(
                seq=seq, id=f"{self.handoff.id}.{seq}", type=type_, at=self.now, by=by, proof=proof, data=kept
            )
        )

    def change(self) -> Change:
        self.set(rev=self.handoff.rev + 1)
        return Change(
            self.handoff, tuple(self.events), tuple(self.effects), tuple(self.drop), tuple(self.calls)
        )


def open_handoff(request: OpenRequest, *, agent: str, api_key: str, rules: Rules, now: int) -> Change:
    """A new handoff, its deadline, and the first step of its policy (none with `notify: "none"`)."""
    deadline = now + round(request.timeout_s * SECOND)
    handoff = Handoff(
        id=ids.new_id(ids.HANDOFF),
        state=State.PENDING,
        agent=agent,
        api_key=api_key,
        policy=rules.policy.name,
        created_at=now,
        deadline=deadline,
        **request.recorded(),
    )
    draft = _Draft(handoff, now)
    draft.note(
        EventType.OPENED, Actor(kind=ActorKind.AGENT, id=api_key, name=agent), deadline=rfc3339(deadline)
    )
    draft.effects.append(effects.timer(EffectKind.DEADLINE, handoff.id, deadline))
    if handoff.if_agent_gone == "cancel":
        draft.effects.append(effects.timer(EffectKind.AGENT_GONE, handoff.id, now + rules.agent_gone_ms))
    if handoff.notify == "policy":
        _start_step(draft, rules, first_position(rules.policy))
    return draft.change()


def acknowledge(
    handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str | None = None
) -> Decided:
    """A person takes it on: escalation pauses for `rules.ack_ms`, at most until the deadline.

    Its owner may say so again, for more time. Anybody else is told who has it.
    """
    if over := _over(handoff, Trigger.ACKNOWLEDGE, decision, rules, now):
        return over
    holder = handoff.acknowledged
    if holder is not None and not _same(holder.by, decision.by):
        return Decided(lost(Trigger.ACKNOWLEDGE, handoff))
    until = min(now + rules.ack_ms, handoff.deadline)
    if holder is not None and until - (handoff.acknowledged_until or 0) < rules.ack_ms // 4:
        # Said again at once: they have it, and nothing worth keeping has changed.
        return Decided(won(Trigger.ACKNOWLEDGE, handoff))
    draft = _Draft(handoff, now)
    draft.move(Trigger.ACKNOWLEDGE, acknowledged=decision, acknowledged_until=until)
    _mark(draft, attempt, Disposition.ACKNOWLEDGED)
    draft.note(EventType.ACKNOWLEDGED, decision.by, decision.proof, until=rfc3339(until), attempt=attempt)
    draft.effects.append(effects.timer(EffectKind.LAPSE, handoff.id, until, revision=until))
    _hang_up_others(draft, attempt)
    return _won(Trigger.ACKNOWLEDGE, draft)


def pass_on(handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str) -> Decided:
    """A person hands it to the next one at once; it is no refusal, and nobody is woken twice for it."""
    if over := _over(handoff, Trigger.START_STEP, decision, rules, now):
        return over
    if handoff.acknowledged is not None and not _same(handoff.acknowledged.by, decision.by):
        return Decided(lost(Trigger.START_STEP, handoff))
    name = next_name(rules.policy, handoff.position)
    draft = _Draft(handoff, now)
    if handoff.state is State.ACKNOWLEDGED:
        _lapse(draft, decision.by, decision.proof)
    _mark(draft, attempt, Disposition.DECLINED)
    draft.note(
        EventType.ATTEMPT_ENDED,
        decision.by,
        decision.proof,
        attempt=attempt,
        disposition=Disposition.DECLINED,
        passed_to=name,
    )
    if not _open_calls(draft.handoff):
        _advance(draft, rules)
    return Decided(won(Trigger.START_STEP, draft.handoff, next_name=name), draft.change())


def resolve(
    handoff: Handoff,
    decision: Decision,
    rules: Rules,
    now: int,
    *,
    result: Result | None = None,
    attempt: str | None = None,
) -> Decided:
    """A person says that it is done, or answers. Raises Invalid for an answer that does not fit."""
    checked = _checked_result(handoff, result)
    if over := _over(handoff, Trigger.RESOLVE, decision, rules, now):
        return over
    draft = _Draft(handoff, now)
    _mark(draft, attempt, Disposition.RESOLVED)
    reason = CloseReason.OBSERVED if decision.proof is Proof.OBSERVED else CloseReason.PERSON
    _close(draft, Trigger.RESOLVE, reason, rules, decision=decision, result=checked, attempt=attempt)
    return _won(Trigger.RESOLVE, draft)


def decline(
    handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str | None = None
) -> Decided:
    """A person says no: the agent gets a refusal, which is neither silence nor an error."""
    if over := _over(handoff, Trigger.DECLINE, decision, rules, now):
        return over
    draft = _Draft(handoff, now)
    _mark(draft, attempt, Disposition.DECLINED)
    _close(draft, Trigger.DECLINE, CloseReason.PERSON, rules, decision=decision, attempt=attempt)
    return _won(Trigger.DECLINE, draft)


def cancel(handoff: Handoff, by: Actor, reason: CloseReason, rules: Rules, now: int) -> Decided:
    """The agent, an operator, or the agent's absence withdraws it."""
    if handoff.closed:
        return Decided(lost(Trigger.CANCEL, handoff))
    if now >= handoff.deadline:
        return _expired_first(handoff, Trigger.CANCEL, rules, now)
    draft = _Draft(handoff, now)
    _close(draft, Trigger.CANCEL, reason, rules, by=by)
    return _won(Trigger.CANCEL, draft)


def expire(handoff: Handoff, rules: Rules, now: int) -> Decided:
    """The deadline came. Before it, or after the end, nothing happens."""
    if handoff.closed or now < handoff.deadline:
        return Decided(lost(Trigger.EXPIRE, handoff))
    draft = _Draft(handoff, now)
    _close(draft, Trigger.EXPIRE, CloseReason.NOBODY, rules, by=CLOCK)
    return _won(Trigger.EXPIRE, draft)


def lapse(handoff: Handoff, meant_for: int | None, rules: Rules, now: int) -> Decided:
    """The pause of an acknowledgement ran out: the ladder goes on, or begins again when it was used up.

    `meant_for` is the end of the pause that the timer was set for; an older timer changes nothing.
    """
    until = handoff.acknowledged_until
    if handoff.closed or until is None or until != meant_for or now < until:
        return Decided(lost(Trigger.LAPSE, handoff))
    if now >= handoff.deadline:
        return expire(handoff, rules, now)
    draft = _Draft(handoff, now)
    _lapse(draft, CLOCK, None)
    position = handoff.position
    following = next_position(rules.policy, position) if position else None
    # Whoever said "I'm on it" may have fallen asleep again: with nobody left to try, the first step is
    # rung again. It takes a person's key to get here, so this cannot go on by itself.
    _start_step(draft, rules, following or first_position(rules.policy))
    return _won(Trigger.LAPSE, draft)


def end_attempt(
    handoff: Handoff,
    attempt_id: str,
    disposition: Disposition,
    rules: Rules,
    now: int,
    *,
    detail: str | None = None,
) -> Change | None:
    """An attempt has ended: put down what it told us, and go on with the ladder when nothing rings.

    What a person pressed in it stays what it was. None when the attempt had ended before.
    """
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.ended_at is not None:
        return None
    draft = _Draft(handoff, now)
    decided = attempt.disposition is not None
    _update_attempt(
        draft,
        attempt_id,
        ended_at=now,
        disposition=attempt.disposition or disposition,
        detail=detail or attempt.detail,
    )
    if not decided:
        draft.note(
            EventType.ATTEMPT_ENDED,
            SERVICE,
            attempt=attempt_id,
            contact=attempt.contact,
            channel=attempt.channel,
            disposition=disposition,
            detail=detail,
        )
    waiting = draft.handoff.state is State.ESCALATING and not draft.handoff.exhausted
    if waiting and not decided and attempt.channel is Channel.CALL and not _open_calls(draft.handoff):
        if now < handoff.deadline:
            _advance(draft, rules)
    return draft.change()


def text_asked(handoff: Handoff, attempt_id: str, run: str, now: int) -> Change | None:
    """The provider is about to be asked for this text, by this run. None when it was asked before: never
    twice."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.asked_at is not None:
        return None
    draft = _Draft(handoff, now)
    _update_attempt(draft, attempt_id, asked_at=now, asked_run=run)
    return draft.change()


def text_not_processed(handoff: Handoff, attempt_id: str, now: int) -> Change | None:
    """The provider provably did not process the text: it may be asked again, unless it was heard of."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.text_rank > 0:
        return None
    draft = _Draft(handoff, now)
    _update_attempt(draft, attempt_id, asked_at=None, asked_run=None)
    return draft.change()


def text_accepted(handoff: Handoff, attempt_id: str, provider_id: str, now: int) -> Change | None:
    """The provider took it; a callback may have said more already, and that stays."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or attempt.provider_id is not None:
        return None
    draft = _Draft(handoff, now)
    _update_attempt(draft, attempt_id, provider_id=provider_id)
    draft.note(EventType.TEXT_SENT, SERVICE, attempt=attempt_id, contact=attempt.contact)
    return draft.change()


def text_moved(
    handoff: Handoff,
    attempt_id: str,
    now: int,
    *,
    rank: int,
    disposition: Disposition | None,
    detail: str | None = None,
) -> Change | None:
    """A text has come as far as `rank`. A late or repeated report of no more than that changes nothing."""
    attempt = handoff.attempt(attempt_id)
    if attempt is None or rank <= attempt.text_rank:
        return None
    draft = _Draft(handoff, now)
    final = disposition is not None and disposition is not Disposition.SENT
    _update_attempt(
        draft,
        attempt_id,
        text_rank=rank,
        disposition=disposition or attempt.disposition,
        detail=detail or attempt.detail,
        ended_at=attempt.ended_at or (now if final else None),
    )
    if disposition is not None and disposition is not attempt.disposition:
        draft.note(
            EventType.TEXT_MOVED,
            SERVICE,
            attempt=attempt_id,
            contact=attempt.contact,
            disposition=disposition,
            detail=detail,
        )
    return draft.change()


def note(handoff: Handoff, type_: EventType, now: int, **data: Any) -> Change:
    """Put a line on the timeline that changes no state: a call rang, a callback was delivered."""
    draft = _Draft(handoff, now)
    draft.note(type_, SERVICE, **data)
    return draft.change()


def _start_step(draft: _Draft, rules: Rules, position: Position | None) -> None:
    if position is None:
        return
    step = step_at(rules.policy, position)
    draft.move(Trigger.START_STEP, position=position, exhausted=False)
    draft.note(
        EventType.STEP_STARTED,
        SERVICE,
        round=position.round,
        step=position.step,
        contacts=[contact.id for contact in step.contacts],
    )
    for contact in step.contacts:
        common: dict[str, Any] = {
            "contact": contact.id,
            "contact_name": contact.name,
            "round": position.round,
            "step": position.step,
            "started_at": draft.now,
        }
        attempt_id, call_id = ids.new_id(ids.ATTEMPT), ids.new_id(ids.CALL)
        attempts = [Attempt(id=attempt_id, channel=Channel.CALL, call=call_id, **common)]
        draft.calls.append(
            Call(
                id=call_id,
                contact=contact.id,
                contact_name=contact.name,
                number=contact.number,
                entries=(CallEntry(handoff=draft.handoff.id, attempt=attempt_id),),
                ring_s=step.ring_s,
                created_at=draft.now,
            )
        )
        draft.effects.append(effects.place_call(call_id, draft.now))
        if not any(_has_text(one, contact.id) for one in draft.handoff.attempts):
            text_id = ids.new_id(ids.ATTEMPT)
            attempts.append(Attempt(id=text_id, channel=Channel.TEXT, **common))
            draft.effects.append(effects.send_text(draft.handoff.id, text_id, draft.now))
        draft.set(attempts=(*draft.handoff.attempts, *attempts))


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


def _advance(draft: _Draft, rules: Rules) -> None:
    position = draft.handoff.position
    following = next_position(rules.policy, position) if position else None
    if following is not None:
        _start_step(draft, rules, following)
        return
    draft.set(exhausted=True)
    draft.note(EventType.POLICY_EXHAUSTED, SERVICE)
    if draft.handoff.on_exhausted == "fail":
        _close(draft, Trigger.EXPIRE, CloseReason.UNREACHABLE, rules, by=CLOCK)


def _lapse(draft: _Draft, by: Actor, proof: Proof | None) -> None:
    draft.move(Trigger.LAPSE, acknowledged=None, acknowledged_until=None)
    draft.note(EventType.LAPSED, by, proof)
    draft.drop.append(effects.timer_id(EffectKind.LAPSE, draft.handoff.id))


_CLOSED_EVENT = {
    Trigger.RESOLVE: EventType.RESOLVED,
    Trigger.DECLINE: EventType.DECLINED,
    Trigger.EXPIRE: EventType.EXPIRED,
    Trigger.CANCEL: EventType.CANCELLED,
}


def _close(
    draft: _Draft,
    trigger: Trigger,
    reason: CloseReason,
    rules: Rules,
    *,
    decision: Decision | None = None,
    by: Actor | None = None,
    result: Result | None = None,
    attempt: str | None = None,
) -> None:
    draft.move(trigger, close_reason=reason, closed_at=draft.now, settlement=decision, result=result)
    actor = decision.by if decision else by or SERVICE
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
    _hang_up_others(draft, attempt)
    handoff = draft.handoff
    kinds = (EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.AGENT_GONE)
    draft.drop += [effects.timer_id(kind, handoff.id) for kind in kinds]
    draft.effects.append(effects.timer(EffectKind.PURGE, handoff.id, draft.now + rules.keep_closed_ms))
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


def _over(handoff: Handoff, asked: Trigger, decision: Decision, rules: Rules, now: int) -> Decided | None:
    """The answer to a decision that came too late, with a line on the timeline; None when it is in time."""
    if not handoff.closed:
        return _expired_first(handoff, asked, rules, now, decision) if now >= handoff.deadline else None
    outcome = lost(asked, handoff)
    if handoff.late_answers >= MAX_LATE_ANSWERS:
        return Decided(outcome)
    draft = _Draft(handoff, now)
    _note_late(draft, asked, decision)
    return Decided(outcome, draft.change())


def _expired_first(
    handoff: Handoff, asked: Trigger, rules: Rules, now: int, decision: Decision | None = None
) -> Decided:
    """The deadline has passed and the clock has not said so yet: say it now, and refuse what was asked."""
    draft = _Draft(handoff, now)
    _close(draft, Trigger.EXPIRE, CloseReason.NOBODY, rules, by=CLOCK)
    if decision is not None:
        _note_late(draft, asked, decision)
    return Decided(lost(asked, draft.handoff), draft.change())


def _note_late(draft: _Draft, asked: Trigger, decision: Decision) -> None:
    draft.set(late_answers=draft.handoff.late_answers + 1)
    draft.note(
        EventType.LATE_ANSWER_REFUSED,
        decision.by,
        decision.proof,
        asked=asked,
        channel=decision.channel,
        standing=draft.handoff.state,
    )


def _checked_result(handoff: Handoff, result: Result | None) -> Result:
    if handoff.kind is Kind.CLEAR:
        return ClearResult()
    if not isinstance(result, AskResult) or not isinstance(result.answer, str):
        raise Invalid.field("answer", "An answer is needed, as text.")
    answer = result.answer.strip()
    if not answer:
        raise Invalid.field("answer", "Please write an answer first.")
    if len(answer) > MAX_ANSWER:
        raise Invalid.field("answer", f"At most {MAX_ANSWER:,} characters, please; this has {len(answer):,}.")
    return AskResult(answer=answer)


def _mark(draft: _Draft, attempt_id: str | None, disposition: Disposition) -> None:
    if attempt_id is not None and draft.handoff.attempt(attempt_id) is not None:
        _update_attempt(draft, attempt_id, disposition=disposition)


def _update_attempt(draft: _Draft, attempt_id: str, **fields: Any) -> None:
    draft.set(
        attempts=tuple(
            one.model_copy(update=fields) if one.id == attempt_id else one for one in draft.handoff.attempts
        )
    )


def _open_calls(handoff: Handoff) -> list[Attempt]:
    """Calls that may still bring a decision."""
    return [
        one
        for one in handoff.attempts
        if one.channel is Channel.CALL and one.ended_at is None and one.disposition is None
    ]


def _hang_up_others(draft: _Draft, deciding: str | None) -> None:
    """End every call that has not ended, but for the one in which the decision was just made."""
    for one in draft.handoff.attempts:
        if one.channel is Channel.CALL and one.call and one.ended_at is None and one.id != deciding:
            draft.effects.append(effects.hang_up(one.call, draft.now))


def _same(one: Actor, other: Actor) -> bool:
    return (one.kind, one.id) == (other.kind, other.id)


def _won(asked: Trigger, draft: _Draft) -> Decided:
    change = draft.change()
    return Decided(won(asked, change.handoff), change)
