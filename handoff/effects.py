"""What a change leaves to be done: frozen values, decided by the domain and done by someone else.

Each effect is one row with a due time in the store (the outbox). `Timer` kinds are decided by the
clock process itself, since they only change records; the others reach outside and go through RQ.
An effect's id is derived from what it is about, so that writing it twice writes one row, and a later
change can move or drop it without a look-up. Ids have letters, digits, `_` and `-` only, because RQ's
job ids allow nothing else.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from handoff.models import StoredRecord


class EffectKind(StrEnum):
    """What is to be done."""

    PLACE_CALL = "place_call"
    SEND_TEXT = "send_text"
    HANG_UP = "hang_up"
    RESUME = "resume"
    DEADLINE = "deadline"
    LAPSE = "lapse"
    RECONCILE_CALL = "reconcile_call"
    AGENT_GONE = "agent_gone"
    NEXT_STEP = "next_step"
    PURGE = "purge"
    STOP_CALLS = "stop_calls"
    ENROL = "enrol"
    SEND_CARD = "send_card"


#: Decided by the clock process: they read and change records and touch nothing outside.
TIMERS = frozenset(
    {
        EffectKind.DEADLINE,
        EffectKind.LAPSE,
        EffectKind.AGENT_GONE,
        EffectKind.NEXT_STEP,
        EffectKind.PURGE,
        EffectKind.STOP_CALLS,
        EffectKind.ENROL,
    }
)


class Effect(StoredRecord):
    """One row of the outbox. `subject` is the id of the handoff, call or contact it is about."""

    v: Literal[1] = 1
    id: str
    kind: EffectKind
    subject: str
    due: int
    tries: int = 0
    attempt: str | None = None  # SEND_TEXT: which attempt; ENROL: the one in which they said so
    urgent: bool = False  # done before what waits in the queue: what is critical, and every HANG_UP
    revision: int | None = None  # LAPSE, NEXT_STEP: the end of the pause that it was meant for
    even_ended: bool = False  # HANG_UP: although the record says that the call is over
    url: str | None = None  # RESUME: where to
    body: str | None = None  # RESUME: the exact bytes to send each time, as text


def place_call(call: str, due: int, *, urgent: bool = False) -> Effect:
    """Ask the provider for this call, unless nothing needs it any more."""
    return Effect(id=f"place_call-{call}", kind=EffectKind.PLACE_CALL, subject=call, due=due, urgent=urgent)


def send_text(handoff: str, attempt: str, due: int, *, urgent: bool = False) -> Effect:
    """Send the text of this attempt."""
    return Effect(
        id=f"send_text-{attempt}",
        kind=EffectKind.SEND_TEXT,
        subject=handoff,
        attempt=attempt,
        due=due,
        urgent=urgent,
    )


def hang_up(call: str, due: int, *, even_ended: bool = False) -> Effect:
    """End a call that is not needed any more, telling who is on the line why; before all that waits in the
    queue, since a phone rings for nothing. `even_ended`: it counts as over already, and was found to exist
    after all."""
    id_ = f"hang_up-{call}"
    return Effect(id=id_, kind=EffectKind.HANG_UP, subject=call, due=due, urgent=True, even_ended=even_ended)


def reconcile_call(call: str, due: int) -> Effect:
    """Look the call up if no callback has ended it by then."""
    return Effect(id=f"reconcile_call-{call}", kind=EffectKind.RECONCILE_CALL, subject=call, due=due)


def resume(handoff: str, url: str, body: str, due: int) -> Effect:
    """Tell the agent at its `resume_url` or `outcome_url`."""
    return Effect(
        id=f"resume-{handoff}", kind=EffectKind.RESUME, subject=handoff, url=url, body=body, due=due
    )


def enrol(handoff: str, attempt: str, due: int) -> Effect:
    """Put on a contact's record what they said in this attempt, when they were asked whether they may be
    called."""
    return Effect(id=f"enrol-{handoff}", kind=EffectKind.ENROL, subject=handoff, attempt=attempt, due=due)


def send_card(contact: str, due: int) -> Effect:
    """Text this contact where our contact card is. Sent once, if at all."""
    return Effect(id=f"send_card-{contact}", kind=EffectKind.SEND_CARD, subject=contact, due=due)


def timer(kind: EffectKind, handoff: str, due: int, revision: int | None = None) -> Effect:
    """A due time of a handoff (STOP_CALLS: of a call); one row per kind and subject, the newest counts."""
    return Effect(id=timer_id(kind, handoff), kind=kind, subject=handoff, due=due, revision=revision)


def timer_id(kind: EffectKind, handoff: str) -> str:
    """The row id of that timer, to drop it."""
    return f"{kind}-{handoff}"
