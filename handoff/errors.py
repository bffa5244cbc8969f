"""Every error the service tells anyone, in one tree. Each has a stable `code` and an HTTP `status`.

    HandoffError
    ├── BadRequest            400  not JSON, or not a request at all
    ├── Unauthorized          401  no key, a wrong key, a revoked key
    ├── Forbidden             403  a key that may not do this; a form that was not loaded from us
    ├── NotFound              404  no such thing, or not yours
    ├── Settled               409  somebody settled it before (410 when it had expired)
    ├── IdempotencyConflict   409  the same Idempotency-Key with another body
    ├── Conflict              409  what there is stands against it
    ├── AnswerDeleted         410  the key's handoff was deleted after its retention time
    ├── TooLarge              413
    ├── Invalid               422  names the fields
    ├── TooManyRequests       429
    └── Unavailable           503  Redis can't be reached, or too much is going on; nothing was done

How they look on the wire (RFC 9457) is web/problems.py's business; what the voice says is voice/'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FieldError:
    """One field that is wrong: its path with dots, and what is wrong in words for whoever sent it."""

    field: str
    message: str


class HandoffError(Exception):
    """The root. `detail` is a sentence for whoever asked; it never holds a secret or a full number."""

    status = 500
    code = "error"
    title = "Something went wrong"

    def __init__(self, detail: str, *, errors: tuple[FieldError, ...] = (), retry_after_s: int | None = None):
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.retry_after_s = retry_after_s
        self.extra: dict[str, Any] = {}


class BadRequest(HandoffError):
    """The request can't be read."""

    status, code, title = 400, "bad_request", "The request can't be read"


class Unauthorized(HandoffError):
    """No key, a wrong key, or a revoked one; which of them is not told."""

    status, code, title = 401, "unauthorized", "A valid API key is needed"


class Forbidden(HandoffError):
    """The key or the form is good, but not for this."""

    status, code, title = 403, "forbidden", "Not allowed"


class NotFound(HandoffError):
    """There is no such thing, or it belongs to someone else; which of them is not told."""

    status, code, title = 404, "not_found", "Not found"


class Settled(HandoffError):
    """The command lost: `extra` says to whom and when."""

    status, code, title = 409, "already_settled", "Already settled"


class Expired(Settled):
    """The command came after the deadline."""

    status, code, title = 410, "expired", "Expired"


class IdempotencyConflict(HandoffError):
    """The Idempotency-Key names another request; the handoff it names is untouched."""

    status, code, title = 409, "idempotency_conflict", "The idempotency key was used for another request"


class Conflict(HandoffError):
    """What there is already stands against it; `detail` says what."""

    status, code, title = 409, "conflict", "It can't be done as things are"


class AnswerDeleted(HandoffError):
    """The key named a handoff that was deleted after its retention time. It never rings again."""

    status, code, title = 410, "answer_deleted", "The handoff was deleted after its retention time"


class TooLarge(HandoffError):
    """The body is over the limit."""

    status, code, title = 413, "too_large", "The request is too large"


class Invalid(HandoffError):
    """The request is well formed but can't be accepted; `errors` names the fields."""

    status, code, title = 422, "invalid", "The request can't be accepted"

    @classmethod
    def field(cls, field: str, message: str) -> Invalid:
        """One field is wrong."""
        return cls(f"{field}: {message}", errors=(FieldError(field, message),))


class TooManyRequests(HandoffError):
    """A rate was exceeded; `retry_after_s` says when to come back."""

    status, code, title = 429, "too_many_requests", "Too many requests"


class Unavailable(HandoffError):
    """Not now: nothing was done, and the same request may be sent again."""

    status, code, title = 503, "unavailable", "Not available right now"
