"""Every way in which a call does not return a person's word.

    HumanError
    ├── NobodyAnswered       the time ran out, or
    │   └── Unreachable        every way of reaching someone was used up
    ├── Declined             a person said no (or the policy that the agent declared said it)
    ├── Cancelled            the agent or an operator withdrew it
    ├── Uncertain            it exists, it may be answered, and what was decided is not known here
    ├── ConnectionFailed     no Handoff server gave an answer; whether it exists is not known
    └── InvalidRequest       refused; asking again unchanged is refused again

Silence, no, cancelled and uncertain are never one another, and none of them is ever a return value.
What a reply means is decided in `_outcome.py` and `_conversation.py`, not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ._records import Actor, Attempt, FieldError


class HumanError(Exception):
    """Base of all errors of this package.

    `handoff_id` is None when no handoff is known to exist. `key` is the idempotency key of the call:
    the same call with `key=error.key` re-attaches to the same question and rings nobody twice.
    `attempts` are the calls and texts made so far. Every error survives pickling.
    """

    def __init__(
        self,
        message: str,
        *,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message)
        self.handoff_id = handoff_id
        self.key = key
        self.attempts = tuple(attempts)

    @property
    def dispositions(self) -> tuple[str, ...]:
        """What the ended attempts told, in their order, such as `("voicemail", "busy")`."""
        return tuple(attempt.disposition for attempt in self.attempts if attempt.disposition)


class NobodyAnswered(HumanError):
    """The deadline passed and no person decided. Not a no, and never a yes."""


class Unreachable(NobodyAnswered):
    """Every step of the escalation policy was used up (only with `on_exhausted="fail"`)."""


class Declined(HumanError):
    """The answer is no. `by` says who, `comment` why if they said so, `at` when (aware, UTC)."""

    def __init__(
        self,
        message: str,
        *,
        by: Actor | None = None,
        comment: str | None = None,
        at: datetime | None = None,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message, handoff_id=handoff_id, key=key, attempts=attempts)
        self.by = by
        self.comment = comment
        self.at = at


class Cancelled(HumanError):
    """It was withdrawn before anyone decided. `by` says by whom, `close_reason` why in the server's word."""

    def __init__(
        self,
        message: str,
        *,
        by: Actor | None = None,
        close_reason: str | None = None,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message, handoff_id=handoff_id, key=key, attempts=attempts)
        self.by = by
        self.close_reason = close_reason


class Uncertain(HumanError):
    """A handoff exists, and what became of it is not known here. Treat it as neither yes nor no.

    `state` is the last state the server named, None if it never named one.
    """

    def __init__(
        self,
        message: str,
        *,
        state: str | None = None,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message, handoff_id=handoff_id, key=key, attempts=attempts)
        self.state = state


class ConnectionFailed(HumanError):
    """No Handoff server answered the opening request. `status` is the last HTTP status, or None."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message, handoff_id=handoff_id, key=key, attempts=attempts)
        self.status = status


class InvalidRequest(HumanError):
    """Refused by the server, or here before anything was sent.

    `code` is the stable word for the reason (`invalid`, `unauthorized`, `idempotency_conflict`, ...),
    `errors` name the fields, `status` is the HTTP status, None when nothing was sent.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        errors: Sequence[FieldError] = (),
        status: int | None = None,
        handoff_id: str | None = None,
        key: str | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        super().__init__(message, handoff_id=handoff_id, key=key, attempts=attempts)
        self.code = code
        self.errors = tuple(errors)
        self.status = status
