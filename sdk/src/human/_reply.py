"""What came back, read but not yet judged: a handoff document, a refusal, or no usable answer.

Pure and tolerant: unknown fields are ignored and malformed ones become None, so that a newer server does
not break an older SDK. What a document means to the caller is `_outcome.py`.
"""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from ._records import Actor, Attempt, FieldError

CLOSED_STATES = frozenset({"resolved", "declined", "expired", "cancelled"})

# Everything a server or something before it says when it cannot answer now, 52x of a CDN included.
# https://www.rfc-editor.org/rfc/rfc9110#section-15 ; 501 and 505 do not get better by asking again.
_LATER = frozenset({408, 425, 429}) | (frozenset(range(500, 600)) - {501, 505})
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


FailureKind = Literal["transport", "untrusted", "closed"]


@dataclass(frozen=True)
class Reply:
    """An HTTP reply in full. `at` is when it was read, `took_s` how long that took (monotonic seconds)."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    at: float
    took_s: float


@dataclass(frozen=True)
class Failed:
    """No HTTP reply. `untrusted`: a certificate that does not check out; `closed`: the client was closed."""

    error: Exception
    at: float
    took_s: float
    kind: FailureKind


Event = Reply | Failed


@dataclass(frozen=True)
class Settlement:
    """Who settled a handoff, and how that is known."""

    by: Actor
    channel: str
    proof: str
    at: datetime | None
    comment: str | None


@dataclass(frozen=True)
class Handoff:
    """The handoff document, as far as this SDK understands it."""

    id: str
    state: str
    closed: bool
    close_reason: str | None
    #: Seconds from its creation to its deadline, by the server's own clock; None if that cannot be read.
    span_s: float | None
    result: Mapping[str, Any]
    closed_by: Actor | None
    settlement: Settlement | None
    attempts: tuple[Attempt, ...]
    #: Seconds the server asks for before the next question about an open handoff.
    retry_after_s: float | None
    #: Where people say who they are, when nobody is rung.
    page_url: str | None = None


@dataclass(frozen=True)
class Refusal:
    """The server itself says no, in a problem document; or a 401 from anyone."""

    status: int
    code: str
    detail: str
    errors: tuple[FieldError, ...]


@dataclass(frozen=True)
class NoAnswer:
    """Nothing that could be used. `what` says so in a clause; `worth_a_retry` when time may mend it.

    `closed` means that no more requests can be sent at all.
    """

    what: str
    worth_a_retry: bool
    status: int | None = None
    retry_after_s: float | None = None
    error: Exception | None = None
    closed: bool = False


def read(event: Event, *, expected_id: str | None = None) -> Handoff | Refusal | NoAnswer:
    """Sorts what came back. A document about another handoff than `expected_id` is no answer."""
    if isinstance(event, Failed):
        what = f"{type(event.error).__name__}: {event.error}".removesuffix(": ")
        worth_a_retry, closed = event.kind == "transport", event.kind == "closed"
        return NoAnswer(what, worth_a_retry, error=event.error, closed=closed)
    document = _object(event.body)
    if event.status in _LATER:
        _, words = _problem_words(document)
        what = f"HTTP {event.status}" + (f" ({words})" if words else "")
        return NoAnswer(what, True, event.status, retry_after_s(event.headers))
    refusal = _refusal(event, document) if event.status >= 400 else None
    if refusal:
        return refusal
    if 200 <= event.status < 300:
        handoff = _handoff(document, retry_after_s(event.headers)) if document else None
        if handoff and expected_id in (None, handoff.id):
            return handoff
    return NoAnswer(_foreign(event), False, event.status)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The pause that `Retry-After` asks for, in seconds; None if there is none or it makes no sense.

    A date is measured against the reply's own `Date`, so that a wrong local clock does not matter.
    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value):
        return float(value)
    try:
        until = email.utils.parsedate_to_datetime(value)
        since = email.utils.parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - since).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refusal(reply: Reply, document: dict[str, Any] | None) -> Refusal | None:
    code, words = _problem_words(document)
    if code is None and reply.status != 401:
        return None
    raw = document.get("errors") if document else None
    errors = [
        FieldError(str(item.get("field", "")), str(item.get("message", "")))
        for item in (raw if isinstance(raw, list) else [])
        if isinstance(item, dict)
    ]
    return Refusal(reply.status, code or "unauthorized", words or _foreign(reply), tuple(errors))


def _problem_words(document: dict[str, Any] | None) -> tuple[str | None, str]:
    """The code and the words of a problem document (https://www.rfc-editor.org/rfc/rfc9457)."""
    if document is None:
        return None, ""
    code, words = _text(document, "code"), _text(document, "detail") or _text(document, "title")
    return code, (words or "").strip().rstrip(".")


def _foreign(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"HTTP {reply.status}, a redirect to {_origin(reply.headers.get('location', ''))}"
    media = reply.headers.get("content-type", "no content type").split(";")[0].strip()
    return f"HTTP {reply.status} with {len(reply.body)} bytes of {media}, which is no handoff document"


def _origin(location: str) -> str:
    # Only the origin: the rest of a log-in redirect may carry a token.
    try:
        parts = urlsplit(location)
        host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        return "an address that is no URL"
    return f"{parts.scheme}://{host}" if parts.scheme and host else "another path of the same server"


def _handoff(document: dict[str, Any], pause_s: float | None) -> Handoff | None:
    handoff_id, state = _text(document, "id"), _text(document, "state")
    if not handoff_id or not state or not _ID.fullmatch(handoff_id):
        return None
    created, deadline = _time(document, "created_at"), _time(document, "deadline")
    result, settlement, attempts = (document.get(name) for name in ("result", "settlement", "attempts"))
    tried = [item for item in attempts if isinstance(item, dict)] if isinstance(attempts, list) else []
    return Handoff(
        id=handoff_id,
        state=state,
        closed=document.get("closed_at") is not None or state in CLOSED_STATES,
        close_reason=_text(document, "close_reason"),
        span_s=(deadline - created).total_seconds() if created and deadline else None,
        result=result if isinstance(result, dict) else {},
        closed_by=_actor(document.get("closed_by")),
        settlement=_settlement(settlement) if isinstance(settlement, dict) else None,
        attempts=tuple(_attempt(item) for item in tried),
        retry_after_s=pause_s,
        page_url=_text(document, "page_url"),
    )


def _settlement(raw: dict[str, Any]) -> Settlement | None:
    by = _actor(raw.get("by"))
    if by is None:
        return None
    return Settlement(
        by=by,
        channel=_text(raw, "channel") or "",
        proof=_text(raw, "proof") or "",
        at=_time(raw, "at"),
        comment=_text(raw, "comment"),
    )


def _actor(raw: Any) -> Actor | None:
    kind = _text(raw, "kind") if isinstance(raw, dict) else None
    if not isinstance(raw, dict) or not kind:
        return None
    return Actor(kind, _text(raw, "id") or "", _text(raw, "name"))


def _attempt(raw: dict[str, Any]) -> Attempt:
    return Attempt(
        id=_text(raw, "id") or "",
        contact=_text(raw, "contact") or "",
        channel=_text(raw, "channel") or "",
        disposition=_text(raw, "disposition"),
        started_at=_time(raw, "started_at"),
        ended_at=_time(raw, "ended_at"),
    )


def _text(source: dict[str, Any], name: str) -> str | None:
    value = source.get(name)
    return value if isinstance(value, str) else None


def _time(source: dict[str, Any], name: str) -> datetime | None:
    """A moment with its offset (https://www.rfc-editor.org/rfc/rfc3339); one without says nothing."""
    try:
        value = datetime.fromisoformat(_text(source, name) or "")
    except ValueError:
        return None
    return value if value.tzinfo else None
