"""What goes out over HTTP: the answers' shapes. What comes in is messages.py's, what is kept models.py's.

The OpenAPI document is generated from these models as well (web/openapi.py).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from handoff.messages import Message
from handoff.models import (
    Actor,
    AskResult,
    Attempt,
    Channel,
    ClearResult,
    Decision,
    Event,
    Handoff,
    Proof,
    ProofAsked,
    Urgency,
)
from handoff.moments import Timestamp
from handoff.notices import Concern, OptOut, Stopped, Warning, sentence
from handoff.states import CloseReason, Disposition, Kind, State


class ActorView(Message):
    """Who did it."""

    kind: str
    id: str
    name: str | None = None

    @classmethod
    def of(cls, actor: Actor | None) -> ActorView | None:
        """As it is shown."""
        return None if actor is None else cls(kind=actor.kind, id=actor.id, name=actor.name)


class DecisionView(Message):
    """A decision, by whom, how and when."""

    by: ActorView
    channel: Channel
    proof: Proof
    at: Timestamp
    comment: str | None = None

    @classmethod
    def of(cls, decision: Decision | None) -> DecisionView | None:
        if decision is None:
            return None
        by = ActorView(kind=decision.by.kind, id=decision.by.id, name=decision.by.name)
        return cls(
            by=by, channel=decision.channel, proof=decision.proof, at=decision.at, comment=decision.comment
        )


class AttemptView(Message):
    """One try to reach one contact, and what it told us."""

    id: str
    contact: str
    channel: Channel
    call: str | None
    round: int
    step: int
    disposition: Disposition | None
    started_at: Timestamp
    ended_at: Timestamp | None
    held: str | None = None
    held_until: Timestamp | None = None

    @classmethod
    def of(cls, attempt: Attempt) -> AttemptView:
        return cls(**{name: getattr(attempt, name) for name in cls.model_fields})


class HandoffView(Message):
    """A handoff as its agent and an operator see it."""

    id: str
    kind: Kind
    state: State
    close_reason: CloseReason | None
    reason: str
    agent: str
    label: str | None
    live_view_url: str | None
    resume_url: str | None
    outcome_url: str | None
    timeout_s: float
    max_timeout_s: float
    notify: str
    policy: str
    contact: str | None
    urgency: Urgency
    proof: ProofAsked
    page_url: str | None
    if_agent_gone: str
    on_exhausted: str
    created_at: Timestamp
    deadline: Timestamp
    closed_at: Timestamp | None
    acknowledged: DecisionView | None
    acknowledged_until: Timestamp | None
    closed_by: ActorView | None
    settlement: DecisionView | None
    result: Annotated[ClearResult | AskResult, Field(discriminator="kind")] | None
    attempts: tuple[AttemptView, ...]
    metadata: dict[str, JsonValue]

    @classmethod
    def of(cls, handoff: Handoff) -> HandoffView:
        fields = {name: getattr(handoff, name) for name in cls.model_fields}
        fields |= {
            "acknowledged": DecisionView.of(handoff.acknowledged),
            "closed_by": ActorView.of(handoff.closed_by),
            "settlement": DecisionView.of(handoff.settlement),
            "max_timeout_s": handoff.max_timeout_s or handoff.timeout_s,
            "attempts": tuple(AttemptView.of(attempt) for attempt in handoff.attempts),
        }
        return cls.model_construct(**fields)


class HandoffList(Message):
    """Newest first. `next_cursor` asks for the page after this one; null on the last."""

    handoffs: tuple[HandoffView, ...]
    next_cursor: str | None


class EventView(Message):
    """One line of a handoff's timeline."""

    v: int
    seq: int
    id: str
    type: str
    at: Timestamp
    by: ActorView
    proof: Proof | None
    data: dict[str, JsonValue]

    @classmethod
    def of(cls, event: Event) -> EventView:
        fields = {name: getattr(event, name) for name in cls.model_fields}
        fields["by"] = ActorView(kind=event.by.kind, id=event.by.id, name=event.by.name)
        return cls.model_construct(**fields)


class EventList(Message):
    """The timeline so far, oldest first."""

    events: tuple[EventView, ...]


class OptOutView(Message):
    """Somebody wants no more calls to a number, or no more texts from `sender`."""

    id: str
    channel: Channel
    contact: str
    number: str
    sender: str | None
    how: Stopped
    at: Timestamp

    @classmethod
    def of(cls, opt_out: OptOut) -> OptOutView:
        return cls(**{name: getattr(opt_out, name) for name in cls.model_fields})


class OptOutList(Message):
    """Newest first."""

    opt_outs: tuple[OptOutView, ...]


class WarningView(Message):
    """Something that an operator must act on: what, in words, and how often it was seen."""

    id: str
    kind: Concern
    contact: str | None
    number: str | None
    sender: str | None
    code: int | None
    words: str
    opt_out: str | None
    first: Timestamp
    last: Timestamp
    count: int

    @classmethod
    def of(cls, warning: Warning) -> WarningView:
        own = {name: getattr(warning, name) for name in ("id", "opt_out", "first", "last", "count")}
        about = {
            name: getattr(warning.about, name) for name in ("kind", "contact", "number", "sender", "code")
        }
        return cls(**own, **about, words=sentence(warning.about))


class WarningList(Message):
    """What was seen last first."""

    warnings: tuple[WarningView, ...]


class ProblemField(Message):
    """A field that is wrong."""

    field: str
    message: str


class Problem(Message):
    """An error, by RFC 9457. `code` is stable; `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    errors: tuple[ProblemField, ...] = ()
    state: State | None = None
    close_reason: CloseReason | None = None
    closed_at: Timestamp | None = None
    closed_by: ActorView | None = None
    settlement: DecisionView | None = None
