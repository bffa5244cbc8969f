"""Who was reached for a handoff, when, and what came of it: its attempts, one row each.

Pure: records in, values out. The order of everything that happened is timeline.py's. Moments are ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handoff.models import Attempt, Call, Channel, Event, EventType, Handoff
from handoff.people import mask
from handoff.states import CallState, Disposition, Trigger
from handoff.web import words
from handoff.web.timeline import KEY_PROOFS, KEYS, WHY_HELD, Story


@dataclass(frozen=True)
class Reached:
    """One attempt as an operator asks for it: whom, when, and what came of it. Moments in ms."""

    attempt: str
    name: str
    channel: Channel
    number: str | None  # masked
    asked_at: int | None  # when the provider was asked
    rang_at: int | None
    answered_at: int | None
    ended_at: int | None
    pressed: str
    told: str
    good: bool | None  # None: nothing is decided yet
    provider_id: str | None
    detail: str | None

    @property
    def lasted_ms(self) -> int | None:
        """How long somebody, or something, was on the line."""
        return self.ended_at - self.answered_at if self.ended_at and self.answered_at else None


def reached(handoff: Handoff, events: Sequence[Event], calls: Mapping[str, Call]) -> list[Reached]:
    """Every attempt, in the order in which they began."""
    story = Story(handoff, calls)
    rang = {event.data.get("attempt"): event.at for event in events if event.type is EventType.CALL_RINGING}
    return [_reached(story, one, rang.get(one.id), _keys_of(story, events, one)) for one in handoff.attempts]


def _keys_of(story: Story, events: Sequence[Event], attempt: Attempt) -> str:
    """The keys that counted in this attempt. The call's record has them all, a moment after the decision."""
    call = story.call(attempt)
    if call is not None and call.pressed:
        return call.pressed
    mine = [one for one in events if one.data.get("attempt") == attempt.id and one.proof in KEY_PROOFS]
    return "".join(KEYS[_TRIGGERS[one.type]] for one in mine if one.type in _TRIGGERS)


_TRIGGERS = {
    EventType.RESOLVED: Trigger.RESOLVE,
    EventType.DECLINED: Trigger.DECLINE,
    EventType.ACKNOWLEDGED: Trigger.ACKNOWLEDGE,
    EventType.ATTEMPT_ENDED: Trigger.PASS_ON,
    EventType.CALLS_BACK: Trigger.CALL_BACK,
}
#: Proofs of which the first part is a key of the menu. What follows it, a code or a PIN, is kept nowhere.

#: Where a call is that has not ended, for people.
_CALL_STATES = {
    CallState.DUE: "waits to be placed",
    CallState.PLACING: "being placed",
    CallState.UNKNOWN: "not known whether it was placed",
    CallState.PLACED: "placed",
    CallState.RINGING: "ringing now",
    CallState.ANSWERED: "on the line now",
    CallState.ENDED: "ended",
}

_GOOD = frozenset(
    {Disposition.ACKNOWLEDGED, Disposition.RESOLVED, Disposition.DECLINED, Disposition.DELIVERED}
)
_NEITHER = frozenset({Disposition.SENT, Disposition.WITHDRAWN, Disposition.CALL_BACK})


def _reached(story: Story, attempt: Attempt, rang_at: int | None, pressed: str) -> Reached:
    call = story.call(attempt)
    ends = words.CALL_ENDS if attempt.channel is Channel.CALL else words.TEXT_ENDS
    if attempt.disposition is Disposition.DECLINED and pressed.endswith(KEYS[Trigger.PASS_ON]):
        told = "passed it on"
    elif (
        attempt.disposition is Disposition.WITHDRAWN
        and attempt.detail
        and (call is None or not call.placing_at)
    ):
        told = f"not called: {attempt.detail}"
    elif attempt.disposition is not None:
        told = ends[attempt.disposition]
    elif call is not None and call.state is CallState.DUE and attempt.held:
        told = f"waits: {WHY_HELD.get(attempt.held, 'a limit is reached')}"
    elif call is not None:
        told = _CALL_STATES[call.state]
    elif attempt.held:
        told = f"waits: {WHY_HELD.get(attempt.held, 'a limit is reached')}"
    else:
        told = "on its way" if attempt.provider_id or attempt.asked_at else "waits to be sent"
    neither = attempt.disposition is None or attempt.disposition in _NEITHER
    return Reached(
        attempt=attempt.id,
        name=attempt.contact_name,
        channel=attempt.channel,
        number=mask(call.number) if call else None,
        asked_at=call.placing_at
        if call
        else attempt.asked_at or (attempt.started_at if attempt.provider_id else None),
        rang_at=rang_at,
        answered_at=call.answered_at if call else None,
        ended_at=attempt.ended_at,
        pressed=pressed,
        told=told,
        good=None if neither else attempt.disposition in _GOOD,
        provider_id=(call.provider_id if call else None) or attempt.provider_id,
        detail=attempt.detail,
    )
