"""Requests that stay open: the agent's long poll and the live timeline, and their queries.

Neither holds a thread or a connection to Redis while it waits (waiting.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from flask import Response, request
from pydantic import Field, ValidationError
from werkzeug.datastructures import MultiDict

from handoff.bootstrap import Services
from handoff.effects import EffectKind, timer_id
from handoff.errors import Invalid, Unavailable
from handoff.messages import EventView, Message
from handoff.models import Handoff
from handoff.moments import SECOND
from handoff.states import State
from handoff.web.bodies import invalid

#: Under every common proxy's limit (nginx cuts at 60 s), whatever is asked for.
LONGEST_WAIT_S = 50.0
#: Proxies drop streams that say nothing; a comment this often keeps them open.
HEARTBEAT_S = 15.0


class WaitQuery(Message):
    """How long to wait."""

    wait: float | None = Field(
        None, description="Seconds, at most 50 (more counts as 50). `Prefer: wait=25` does the same."
    )


class ListQuery(Message):
    """Filters; each has an index behind it."""

    state: State | None = None
    agent: str | None = Field(None, max_length=64)
    cursor: str | None = Field(None, pattern=r"^[0-9]{13}:ho_[0-9A-Za-z]{22}$")
    limit: int = Field(50, ge=1, le=200)


def asked_for() -> float:
    """The wait that this request asks for, in seconds; 0 for none. Raises Invalid for nonsense.

    Nonsense in `Prefer` is no error: what a server can't make sense of there it ignores (RFC 7240, 2).
    """
    text = request.args.get("wait")
    if text is None:
        return next(
            (wait for wait in map(_preferred, request.headers.get("Prefer", "").split(",")) if wait), 0
        )
    if (wait_s := _seconds(text)) is None:
        raise Invalid.field("wait", "must be a number of seconds, 0 or more")
    return wait_s


def _preferred(preference: str) -> float:
    name, _, value = preference.partition(";")[0].partition("=")
    return (name.strip().lower() == "wait" and _seconds(value.strip().strip('"'))) or 0


def _seconds(text: str) -> float | None:
    try:
        wait_s = float(text) if text.isascii() and "_" not in text else -1
    except ValueError:
        return None
    return min(wait_s, LONGEST_WAIT_S) if 0 <= wait_s < float("inf") else None


def read_list_query(args: MultiDict[str, str]) -> ListQuery:
    """The list's filters. Raises Invalid."""
    try:
        return ListQuery.model_validate(args.to_dict(), strict=False)
    except ValidationError as error:
        raise invalid(error) from None


def until_closed(services: Services, handoff: Handoff, wait_s: float) -> tuple[Handoff, bool]:
    """The handoff when it closes, or as it is when the wait is over; True when there was no room to wait.

    Raises NotFound when it was deleted meanwhile.
    """
    _agent_is_here(services, handoff, wait_s)
    if services.waiting.full:
        return handoff, True
    ends = time.monotonic() + wait_s
    handoff_id = handoff.id
    # A parsed record is 7 kB; while it waits, a request holds none.
    del handoff
    with services.waiting.register(handoff_id, closed_only=True) as waiter:
        # Asked after subscribing: whatever happens from here on also wakes this waiter.
        while not (services.waiting.stopping or services.store.is_closed(handoff_id)):
            left = ends - time.monotonic()
            if left <= 0 or not waiter.wait(left):
                break
            if news := waiter.take_news():
                return news, False
    return services.handoffs.get(handoff_id), False


def _agent_is_here(services: Services, handoff: Handoff, for_s: float) -> None:
    """Puts off the moment at which a handoff that asked for it is cancelled for want of its agent."""
    if handoff.if_agent_gone == "cancel":
        due = services.clock() + round(for_s * SECOND) + services.handoffs.rules().agent_gone_ms
        services.store.keep_waiting(timer_id(EffectKind.AGENT_GONE, handoff.id), due)


def event_stream(services: Services, handoff: Handoff, after: int) -> Response:
    """The timeline as server-sent events, live until the handoff is closed and everything was said."""
    if handoff.closed and handoff.seq <= after:
        return Response(status=204)
    if services.waiting.full:
        raise Unavailable("Too many are waiting here already. Please come back.", retry_after_s=2)
    response = Response(_events(services, handoff.id, after), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _events(services: Services, handoff_id: str, after: int) -> Iterator[str]:
    with services.waiting.register(handoff_id, closed_only=False) as waiter:
        yield "retry: 1000\n\n"
        while not services.waiting.stopping:
            handoff = services.store.read(handoff_id)
            if handoff is not None:
                _agent_is_here(services, handoff, HEARTBEAT_S)
            for event in services.store.events(handoff_id, after=after):
                after = event.seq
                data = EventView.of(event).model_dump_json()
                yield f"id: {event.seq}\nevent: {event.type}\ndata: {data}\n\n"
            if handoff is None or (handoff.closed and after >= handoff.seq):
                return
            if not waiter.wait(HEARTBEAT_S):
                yield ": still here\n\n"
