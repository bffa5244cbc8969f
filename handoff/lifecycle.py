"""The life of a handoff: what each command does to it, and what that leaves to be done.

Pure functions of (handoff, command, rules, now). They answer with a `Decided`: the outcome to tell, and
the `Change` to commit, which is nothing at all when the command lost. They do not read, write, ring or
wait: loop.py commits a change in one atomic step, workers/ and voice/ perform its effects.
`now` and every moment are milliseconds since 1970, UTC.
"""

from __future__ import annotations

from handoff import calling_back, effects, ids, routing
from handoff.changes import (
    Change,
    Decided,
    Draft,
    Rules,
    close,
    end_pause,
    end_wait,
    hang_up_others,
    mark,
    open_calls,
)
from handoff.effects import EffectKind
from handoff.errors import Invalid
from handoff.giving_up import exhaust
from handoff.ladder import advance, next_name, start, wait_is_over
from handoff.late import expired_first, too_late
from handoff.messages import OpenRequest
from handoff.models import (
    CLOCK,
    Actor,
    ActorKind,
    AskResult,
    Channel,
    ClearResult,
    Decision,
    EventType,
    Handoff,
    Proof,
    Result,
)
from handoff.moments import DAY, MINUTE, SECOND, rfc3339
from handoff.outcomes import lost, won
from handoff.rights import Rights
from handoff.states import CloseReason, Disposition, Kind, State, Trigger, target

MAX_ANSWER = 10_000  # characters of a free-text answer
#: By how much a person's "I need more time" puts the deadline off.
EXTENSION_MS = 10 * MINUTE
#: How far beyond its time-out people may put a handoff's deadline off when the agent did not say, in s.
MORE_TIME_S = 1_800
LONGEST_S = 90 * DAY / SECOND


def open_handoff(
    request: OpenRequest,
    *,
    agent: str,
    api_key: str,
    rules: Rules,
    now: int,
    rights: Rights = routing.EVERYTHING,
) -> Change:
    """A new handoff, its deadline, and the first step of its policy (none with `notify: "none"`).

    Raises Invalid for a policy or contact that there is not, and for a proof that nobody could give;
    Forbidden for what `rights` do not allow.
    """
    policy, urgency = routing.reached(request, rules.people, rights)
    deadline = now + round(request.timeout_s * SECOND)
    id_ = ids.new_id(ids.HANDOFF)
    asked = request.recorded() | {"proof": routing.proof(request, policy, rules.people)}
    asked["max_timeout_s"] = request.max_timeout_s or min(request.timeout_s + MORE_TIME_S, LONGEST_S)
    handoff = Handoff(
        id=id_,
        state=State.PENDING,
        agent=agent,
        api_key=api_key,
        policy=policy,
        no_default=not routing.reaches_default(rules.people, rights),
        urgency=urgency,
        created_at=now,
        deadline=deadline,
        page_url=f"{rules.public_url}/p/{id_}" if request.notify == "none" else None,
        **asked,
    )
    draft = Draft(handoff, now)
    draft.note(
        EventType.OPENED, Actor(kind=ActorKind.AGENT, id=api_key, name=agent), deadline=rfc3339(deadline)
    )
    draft.effects.append(effects.timer(EffectKind.DEADLINE, handoff.id, deadline))
    if handoff.if_agent_gone == "cancel":
        draft.effects.append(effects.timer(EffectKind.AGENT_GONE, handoff.id, now + rules.agent_gone_ms))
    if handoff.notify == "policy":
        start(draft, rules)
    return draft.change()


def acknowledge(
    handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str | None = None
) -> Decided:
    """A person takes it on: escalation pauses for `rules.ack_ms`, at most until the deadline.

    Its owner may say so again, for more time. Anybody else is told who has it.
    """
    if over := too_late(handoff, Trigger.ACKNOWLEDGE, decision, rules, now):
        return over
    holder = handoff.acknowledged
    if holder is not None and not _same(holder.by, decision.by):
        return Decided(lost(Trigger.ACKNOWLEDGE, handoff))
    until = min(now + rules.ack_ms, handoff.deadline)
    if holder is not None and until - (handoff.acknowledged_until or 0) < rules.ack_ms // 4:
        # Said again at once: they have it, and nothing worth keeping has changed.
        return Decided(won(Trigger.ACKNOWLEDGE, handoff))
    draft = Draft(handoff, now)
    _pause(draft, decision, until, attempt)
    return _won(Trigger.ACKNOWLEDGE, draft)


def extend(handoff: Handoff, decision: Decision, rules: Rules, now: int) -> Decided:
    """A person needs more time: the deadline is put off by `EXTENSION_MS`, as far as the agent allows.

    Who says so has it, unless somebody else does: escalation pauses for as long. Lost when the deadline is
    where it can at most be.
    """
    if over := too_late(handoff, Trigger.EXTEND, decision, rules, now):
        return over
    deadline = min(handoff.deadline + EXTENSION_MS, handoff.latest_deadline)
    if deadline <= handoff.deadline:
        return Decided(lost(Trigger.EXTEND, handoff))
    draft = Draft(handoff, now)
    draft.move(Trigger.EXTEND, deadline=deadline)
    draft.note(EventType.EXTENDED, decision.by, decision.proof, deadline=rfc3339(deadline))
    draft.effects.append(effects.timer(EffectKind.DEADLINE, handoff.id, deadline))
    if handoff.acknowledged is None or _same(handoff.acknowledged.by, decision.by):
        _pause(draft, decision, min(now + max(rules.ack_ms, EXTENSION_MS), deadline))
    return _won(Trigger.EXTEND, draft)


def ring_again(handoff: Handoff, decision: Decision, rules: Rules, now: int) -> Decided:
    """An operator wants people rung again, from the first step on. Lost while a phone may still ring, and
    while a person has it."""
    if over := too_late(handoff, Trigger.RING_AGAIN, decision, rules, now):
        return over
    if target(handoff.state, Trigger.RING_AGAIN) is None or open_calls(handoff):
        return Decided(lost(Trigger.RING_AGAIN, handoff))
    draft = Draft(handoff, now)
    draft.move(Trigger.RING_AGAIN)
    draft.note(EventType.RUNG_AGAIN, decision.by, decision.proof)
    if not start(draft, rules):
        exhaust(draft, rules)
    return _won(Trigger.RING_AGAIN, draft)


def pass_on(handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str) -> Decided:
    """A person hands it to the next one at once; it is no refusal, and nobody is woken twice for it."""
    if over := too_late(handoff, Trigger.PASS_ON, decision, rules, now):
        return over
    if target(handoff.state, Trigger.PASS_ON) is None or (
        handoff.acknowledged is not None and not _same(handoff.acknowledged.by, decision.by)
    ):
        return Decided(lost(Trigger.PASS_ON, handoff))
    name = next_name(handoff, rules, now, decision.by.id)
    draft = Draft(handoff, now)
    if handoff.state is State.ACKNOWLEDGED:
        end_pause(draft, Trigger.PASS_ON, decision.by, decision.proof)
    else:
        draft.move(Trigger.PASS_ON)
    mark(draft, attempt, Disposition.DECLINED)
    draft.note(
        EventType.ATTEMPT_ENDED,
        decision.by,
        decision.proof,
        attempt=attempt,
        disposition=Disposition.DECLINED,
        passed_to=name,
    )
    if not open_calls(draft.handoff):
        advance(draft, rules, at_once=True)
    return Decided(won(Trigger.PASS_ON, draft.handoff, next_name=name), draft.change())


def call_back(handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str) -> Decided:
    """A person on the line wants to be called again in a while. Lost where calling_back.py offers none."""
    if over := too_late(handoff, Trigger.CALL_BACK, decision, rules, now):
        return over
    draft = Draft(handoff, now)
    if not calling_back.as_asked(draft, attempt, decision, rules):
        return Decided(lost(Trigger.CALL_BACK, handoff))
    return _won(Trigger.CALL_BACK, draft)


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
    if handoff.enrols and decision.channel is not Channel.CALL:
        raise Invalid("Only the person can say that they may be called, by key 1 in the call that asks them.")
    checked = _checked_result(handoff, result)
    if over := too_late(handoff, Trigger.RESOLVE, decision, rules, now):
        return over
    draft = Draft(handoff, now)
    mark(draft, attempt, Disposition.RESOLVED)
    reason = CloseReason.OBSERVED if decision.proof is Proof.OBSERVED else CloseReason.PERSON
    close(draft, Trigger.RESOLVE, reason, rules, decision=decision, result=checked, attempt=attempt)
    return _won(Trigger.RESOLVE, draft)


def decline(
    handoff: Handoff, decision: Decision, rules: Rules, now: int, *, attempt: str | None = None
) -> Decided:
    """A person says no: the agent gets a refusal, which is neither silence nor an error."""
    if over := too_late(handoff, Trigger.DECLINE, decision, rules, now):
        return over
    draft = Draft(handoff, now)
    mark(draft, attempt, Disposition.DECLINED)
    close(draft, Trigger.DECLINE, CloseReason.PERSON, rules, decision=decision, attempt=attempt)
    return _won(Trigger.DECLINE, draft)


def cancel(handoff: Handoff, by: Actor, reason: CloseReason, rules: Rules, now: int) -> Decided:
    """The agent, an operator, or the agent's absence withdraws it."""
    if handoff.closed:
        return Decided(lost(Trigger.CANCEL, handoff))
    if now >= handoff.deadline:
        return expired_first(handoff, Trigger.CANCEL, rules, now)
    draft = Draft(handoff, now)
    close(draft, Trigger.CANCEL, reason, rules, by=by)
    return _won(Trigger.CANCEL, draft)


def expire(handoff: Handoff, rules: Rules, now: int) -> Decided:
    """The deadline came. Before it, or after the end, nothing happens."""
    if handoff.closed or now < handoff.deadline:
        return Decided(lost(Trigger.EXPIRE, handoff))
    draft = Draft(handoff, now)
    close(draft, Trigger.EXPIRE, CloseReason.NOBODY, rules, by=CLOCK)
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
    draft = Draft(handoff, now)
    end_pause(draft, Trigger.LAPSE, CLOCK, None)
    position = handoff.position
    # Whoever said "I'm on it" may have fallen asleep again: with nobody left to try, the first step is
    # rung again. It takes a person's key to get here, so this cannot go on by itself. Where nobody was to be
    # rung, and no operator had anybody rung, nobody is.
    if handoff.notify == "policy" or position is not None:
        if not (start(draft, rules, position) or start(draft, rules)):
            exhaust(draft, rules)
    return _won(Trigger.LAPSE, draft)


def next_step(handoff: Handoff, meant_for: int | None, rules: Rules, now: int) -> Change | None:
    """The wait between two steps is over. None when it is not, or was another one."""
    due = handoff.next_step_at
    if handoff.state is not State.ESCALATING or due is None or due != meant_for or now < due:
        return None
    if now >= handoff.deadline:
        return None  # the deadline's own row closes it
    draft = Draft(handoff, now)
    wait_is_over(draft, rules)
    return draft.change()


def _pause(draft: Draft, decision: Decision, until: int, attempt: str | None = None) -> None:
    """A person has it until then: nobody else is rung meanwhile."""
    end_wait(draft)
    draft.move(Trigger.ACKNOWLEDGE, acknowledged=decision, acknowledged_until=until)
    mark(draft, attempt, Disposition.ACKNOWLEDGED)
    draft.note(EventType.ACKNOWLEDGED, decision.by, decision.proof, until=rfc3339(until), attempt=attempt)
    draft.effects.append(effects.timer(EffectKind.LAPSE, draft.handoff.id, until, revision=until))
    hang_up_others(draft, attempt)


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


def _same(one: Actor, other: Actor) -> bool:
    return (one.kind, one.id) == (other.kind, other.id)


def _won(asked: Trigger, draft: Draft) -> Decided:
    change = draft.change()
    return Decided(won(asked, change.handoff), change)
