"""Handoffs in every state, made by the commands that lead there; what tests of their life share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handoff import lifecycle
from handoff.changes import Change, Decided, Rules
from handoff.effects import EffectKind, timer_id
from handoff.messages import OpenRequest
from handoff.models import Actor, ActorKind, AskResult, Attempt, Channel, Decision, Handoff, Proof
from handoff.moments import DAY, SECOND
from handoff.policy import Contact, EscalationPolicy, People, Step
from handoff.states import CLOSE_REASONS, CloseReason, Kind, State

NOW = 1_800_000_000_000
TIMEOUT_S = 600
DEADLINE = NOW + TIMEOUT_S * SECOND

ADA = Contact(id="ada", name="Ada", numbers=("+12125550123",))
BEN = Contact(id="ben", name="Ben", numbers=("+12125550124",))
AGENT = Actor(kind=ActorKind.AGENT, id="ak_1", name="checkout-bot")


def rules(*steps: tuple[Contact, ...], rounds: int = 1, wait_s: int = 0) -> Rules:
    ladder = tuple(Step(contacts=contacts, ring_s=25, wait_s=wait_s) for contacts in steps)
    return Rules(
        people=People(
            contacts=tuple(one for step in ladder for one in step.contacts),
            policies=(EscalationPolicy(name="default", steps=ladder, rounds=rounds),),
        )
    )


RULES = rules((ADA,), (BEN,))
NOBODY_TO_REACH = rules()


def word(
    who: str = "ada", at: int = NOW, proof: Proof = Proof.KEYPRESS, comment: str | None = None
) -> Decision:
    """What a contact says."""
    by = Actor(kind=ActorKind.CONTACT, id=who, name=who.title())
    return Decision(by=by, channel=Channel.CALL, proof=proof, at=at, comment=comment)


def opening(kind: Kind = Kind.CLEAR, *, by: Rules = RULES, **fields: Any) -> Change:
    request = OpenRequest.model_validate(
        {"kind": kind, "reason": "A checkbox is in the way", "timeout_s": TIMEOUT_S, **fields}
    )
    return lifecycle.open_handoff(request, agent="checkout-bot", api_key="ak_1", rules=by, now=NOW)


def opened(kind: Kind = Kind.CLEAR, **fields: Any) -> Handoff:
    return opening(kind, **fields).handoff


def after(decided: Decided) -> Handoff:
    assert decided.change is not None
    return decided.change.handoff


def calls_of(handoff: Handoff) -> list[Attempt]:
    return [one for one in handoff.attempts if one.channel is Channel.CALL]


def text_of(handoff: Handoff) -> Attempt:
    return next(one for one in handoff.attempts if one.channel is Channel.TEXT)


def attempt(handoff: Handoff, attempt_id: str) -> Attempt:
    found = handoff.attempt(attempt_id)
    assert found is not None
    return found


def settled_by(handoff: Handoff) -> Decision:
    assert handoff.settlement is not None
    return handoff.settlement


def until(handoff: Handoff) -> int:
    """When the pause of its acknowledgement ends."""
    assert handoff.acknowledged_until is not None
    return handoff.acknowledged_until


def answer(handoff: Handoff) -> AskResult | None:
    return AskResult(answer="1 Ada Street") if handoff.kind is Kind.ASK else None


def resolve(handoff: Handoff, now: int, who: str = "ada") -> Decided:
    return lifecycle.resolve(handoff, word(who, now), RULES, now, result=answer(handoff))


ENDS: dict[State, Callable[[Handoff], Decided]] = {
    State.RESOLVED: lambda handoff: resolve(handoff, NOW + 1),
    State.DECLINED: lambda handoff: lifecycle.decline(handoff, word(), RULES, NOW + 1),
    State.EXPIRED: lambda handoff: lifecycle.expire(handoff, RULES, handoff.deadline),
    State.CANCELLED: lambda handoff: lifecycle.cancel(handoff, AGENT, CloseReason.AGENT, RULES, NOW + 1),
}


def handoff_in(state: State, kind: Kind = Kind.CLEAR, **fields: Any) -> Handoff:
    """A handoff that came into `state` by commands."""
    if state is State.PENDING:
        return opened(kind, by=NOBODY_TO_REACH, **fields)
    escalating = opened(kind, **fields)
    if state is State.ESCALATING:
        return escalating
    if state is State.ACKNOWLEDGED:
        return after(lifecycle.acknowledge(escalating, word(), RULES, NOW))
    return after(ENDS[state](escalating))


def check(before: Handoff | None, change: Change) -> None:
    """What is true of every change."""
    handoff = change.handoff
    old_rev, old_seq = (before.rev, before.seq) if before else (0, 0)
    assert handoff.rev == old_rev + 1
    assert [event.seq for event in change.events] == list(range(old_seq + 1, handoff.seq + 1))
    assert len({event.id for event in change.events}) == len(change.events)
    assert len({effect.id for effect in change.effects}) == len(change.effects)
    assert not {effect.id for effect in change.effects} & set(change.drop), "written and dropped in one step"
    assert handoff.closed == (handoff.closed_at is not None) == (handoff.close_reason is not None)
    if handoff.close_reason is not None:
        assert handoff.close_reason in CLOSE_REASONS[handoff.state]
    assert (handoff.result is not None) == (handoff.state is State.RESOLVED)
    assert (handoff.acknowledged is None) == (handoff.acknowledged_until is None)
    if handoff.state is State.ACKNOWLEDGED:
        assert handoff.acknowledged is not None
    if before is not None:
        kept = ("id", "kind", "reason", "agent", "created_at", "deadline", "policy")
        assert all(getattr(handoff, name) == getattr(before, name) for name in kept)


def check_closed(before: Handoff, change: Change) -> None:
    """What closing leaves to be done, however it was closed."""
    handoff = change.handoff
    kinds = [effect.kind for effect in change.effects]
    assert kinds.count(EffectKind.PURGE) == 1
    purge = next(effect for effect in change.effects if effect.kind is EffectKind.PURGE)
    assert handoff.closed_at is not None and purge.due == handoff.closed_at + 30 * DAY
    for kind in (EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.AGENT_GONE):
        assert timer_id(kind, handoff.id) in change.drop
    ringing = {one.call for one in calls_of(before) if one.ended_at is None}
    hung_up = {effect.subject for effect in change.effects if effect.kind is EffectKind.HANG_UP}
    assert hung_up == ringing
    assert not change.calls and EffectKind.PLACE_CALL not in kinds
    assert change.events[-1].type.value == handoff.state.value
