"""What a closed handoff means to the caller: a clearance, an answer, or one of the errors.

Fail closed: whatever this SDK does not fully understand is `Uncertain`, never a success.
Pure; how the document was fetched is `_conversation.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from ._errors import Cancelled, Declined, HumanError, NobodyAnswered, Uncertain, Unreachable
from ._records import Clearance
from ._reply import Handoff, Settlement

# `default` is an answer that the agent declared when it asked.
_RESOLVED_BECAUSE = frozenset({"person", "observed", "default"})


class _Word(NamedTuple):
    reason: str
    settlement: Settlement
    at: datetime


def clearance(handoff: Handoff, *, key: str) -> Clearance:
    """The clearance in a closed handoff. Raises every error below `HumanError` that a close can mean."""
    word = _resolved(handoff, key)
    if handoff.result.get("kind") != "clear" or handoff.result.get("cleared") is not True:
        raise _unclear(handoff, key, "its result does not say that the wall was cleared")
    return Clearance(
        by=word.settlement.by,
        at=word.at,
        proof=word.settlement.proof,
        channel=word.settlement.channel,
        handoff_id=handoff.id,
        close_reason=word.reason,
        comment=word.settlement.comment,
    )


def answer(handoff: Handoff, *, key: str) -> str:
    """The bare answer in a closed handoff. Raises like `clearance`."""
    _resolved(handoff, key)
    value = handoff.result.get("answer")
    if handoff.result.get("kind") != "ask" or not isinstance(value, str):
        raise _unclear(handoff, key, "its result holds no text answer")
    return value


def _resolved(handoff: Handoff, key: str) -> _Word:
    if handoff.state != "resolved":
        raise _not_resolved(handoff, key)
    word = handoff.settlement
    if word is None or word.at is None or not word.proof:
        raise _unclear(handoff, key, "it does not say who settled it, when and how")
    if handoff.close_reason not in _RESOLVED_BECAUSE:
        raise _unclear(handoff, key, f"its close_reason is {handoff.close_reason!r}")
    return _Word(handoff.close_reason, word, word.at)


def _not_resolved(handoff: Handoff, key: str) -> HumanError:
    known: dict[str, Any] = {"handoff_id": handoff.id, "key": key, "attempts": handoff.attempts}
    word = handoff.settlement
    by = word.by if word else handoff.closed_by
    if handoff.state == "declined":
        comment = word.comment if word else None
        return Declined(_declined(handoff), by=by, comment=comment, at=word.at if word else None, **known)
    if handoff.state == "cancelled":
        return Cancelled(_cancelled(handoff), by=by, close_reason=handoff.close_reason, **known)
    if handoff.state == "expired":
        if handoff.close_reason == "unreachable":
            return Unreachable(
                f"No one could be reached for {handoff.id}: every step of the escalation policy was used up. "
                f"{_reached(handoff)} This is not a no. To ask once more, use a new key.",
                **known,
            )
        within = f" within {handoff.span_s:g} s" if handoff.span_s else ""
        return NobodyAnswered(
            f"Nobody answered {handoff.id}{within}. {_reached(handoff)} "
            "This is neither yes nor no. To ask once more, use a new key, or give more time with timeout_s=.",
            **known,
        )
    return _unclear(handoff, key, f"it closed as {handoff.state!r}, which this version does not know")


def _declined(handoff: Handoff) -> str:
    word = handoff.settlement
    if handoff.close_reason == "policy":
        return f"Nobody answered {handoff.id}, and the policy given with it says that this means no."
    if word is None:
        return f"{handoff.id} was declined. Do not go on as if it had been allowed."
    because = f": {word.comment}" if word.comment else ", without a comment"
    return f"{word.by} declined {handoff.id}{because}. Do not go on as if it had been allowed."


def _cancelled(handoff: Handoff) -> str:
    if handoff.close_reason == "agent_gone":
        return (
            f"{handoff.id} was cancelled because no agent was waiting for it (if_agent_gone='cancel'). "
            "Ask with if_agent_gone='keep' if it should outlive its agent."
        )
    actor = handoff.settlement.by if handoff.settlement else handoff.closed_by
    by = str(actor or handoff.close_reason or "someone")
    return f"{handoff.id} was withdrawn by {by} before anyone decided. Nothing was decided either way."


def _reached(handoff: Handoff) -> str:
    told = [f"{at.contact} by {at.channel}: {at.disposition or 'not ended'}" for at in handoff.attempts]
    return f"Attempts: {', '.join(told)}." if told else "No attempt was made."


def _unclear(handoff: Handoff, key: str, why: str) -> Uncertain:
    return Uncertain(
        f"{handoff.id} is closed ({handoff.state}), but {why}. It counts as neither yes nor no. "
        "Look at it on the server; a newer human-sdk may understand it.",
        state=handoff.state,
        handoff_id=handoff.id,
        key=key,
        attempts=handoff.attempts,
    )
