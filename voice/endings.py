"""How it ended and who did it, in words for the ear. When they are said is scripts.py's business. Pure."""

from __future__ import annotations

from handoff.models import ActorKind, Decision, Handoff
from handoff.outcomes import Outcome
from handoff.states import CloseReason, Kind, State
from voice.speech import ago, clean

_NAME_LIMIT = 40  # characters of an agent's or a person's name: "who calls" must be over in seconds


def what_happened(end: Outcome | Handoff, handoff: Handoff, now: int, contact: str | None) -> str:
    """How it was closed, by whom and when; `contact` is who listens."""
    agent, when = agent_name(handoff), ago(now - (end.closed_at or now))
    by = who(end.settlement, contact)
    match end.close_reason:
        case CloseReason.PERSON if end.state is State.RESOLVED:
            deed = {Kind.CLEAR: "did it", Kind.ASK: "answered", Kind.APPROVE: "approved it"}[handoff.kind]
            return f"{by} {deed} {when}."
        case CloseReason.PERSON:
            return f"{by} said no {when}."
        case CloseReason.OBSERVED:
            return f"{agent} saw {when} that it is gone."
        case CloseReason.DEFAULT:
            return f"Nobody answered in time. {agent} took its default answer {when}."
        case CloseReason.POLICY:
            return f"It counted as a no {when}, because nobody answered."
        case CloseReason.NOBODY:
            return f"Time ran out {when}."
        case CloseReason.UNREACHABLE:
            return f"Nobody was reached. It ended {when}."
        case CloseReason.AGENT:
            return f"{agent} withdrew it {when}."
        case CloseReason.OPERATOR:
            return f"{by} withdrew it {when}."
        case CloseReason.AGENT_GONE:
            return f"{agent} is gone, so it was withdrawn {when}."
        case None:
            return "It is over."


def who(decision: Decision | None, contact: str | None) -> str:
    """Whose decision it was, to the ear of this contact: "You", "Ben", "An operator"."""
    if decision is None:
        return "An operator"
    if contact is not None and is_contact(decision, contact):
        return "You"
    fallback = "An operator" if decision.by.kind is ActorKind.OPERATOR else "Somebody"
    return name(decision.by.name or "") or fallback


def is_contact(decision: Decision, contact: str) -> bool:
    """Whether this very contact decided it."""
    return decision.by.kind is ActorKind.CONTACT and decision.by.id == contact


def name(given: str) -> str:
    """A person's name as it may be said, no longer than an ear bears."""
    return clean(given)[:_NAME_LIMIT].strip()


def agent_name(handoff: Handoff) -> str:
    """Whom a handoff is for."""
    return clean(handoff.agent)[:_NAME_LIMIT].strip() or "an agent"
