"""The small frozen values that callers get to see: who did something, how reaching them went, a clearance.

No reading of replies (`_reply.py`) and no decisions (`_outcome.py`) live here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Actor:
    """Who did it. `kind` is `contact`, `operator`, `agent` or `clock`; `str()` gives the name, or the id."""

    kind: str
    id: str
    name: str | None = None

    def __str__(self) -> str:
        return self.name or self.id


@dataclass(frozen=True)
class Attempt:
    """Reaching one contact once, by `call` or `text`, and what that told (`voicemail`, `busy`, ...).

    `disposition` is None while the attempt has not ended. Times are aware datetimes in UTC.
    """

    id: str
    contact: str
    channel: str
    disposition: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True)
class Clearance:
    """The wall is gone: who cleared it, when, and how that was proven. Always truthy.

    `at` is an aware datetime in UTC. `proof` is how `by` is known (`keypress`, `link`, `console`,
    `observed`, ...). `close_reason` is `person`, or `observed` when the wall was only seen to be gone.
    """

    by: Actor
    at: datetime
    proof: str
    channel: str
    handoff_id: str
    close_reason: str
    comment: str | None = None

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True)
class FieldError:
    """One field that was refused, and why, in the words of whoever refused it."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"
