"""Requests that stay open: the agent's long poll and the live timeline, and their queries.

Neither holds a thread or a connection to Redis while it waits (waiting.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from flask import Response, request
from pydantic import Field, ValidationError
from werkzeug.datastructures import MultiDict

from handoff.bootstrap import Services
from handoff.effects import EffectKind, timer_id
from handoff.errors import Invalid, Unavailable
from handoff.messages import Message
from handoff.models import Handoff
from handoff.moments import SECOND
from handoff.states import State
from handoff.views import EventView, HandoffView
from handoff.waiting import Waiter
from handoff.web import context, problems
from handoff.web.bodies import invalid, said

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

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


def long_poll(handoff_id: str, wait_s: float) -> Response:
    """The handoff when it closes, or as it is when the wait is over. Raises what `caller_and_handoff` does.

    Registered before the first look at the store: whatever happens after that look wakes this waiter.
    """
    services = context.services()
    if services.waiting.full:
        _, handoff = context.caller_and_handoff(handoff_id)
        response = said(HandoffView.of(handoff))
        response.headers["Retry-After"] = "2"
        return response
    waiter = services.waiting.register(handoff_id, closed_only=True)
    try:
        _, handoff = context.caller_and_handoff(handoff_id)
        if handoff.closed:
            waiter.close()
            return said(HandoffView.of(handoff))
        _agent_is_here(services, handoff, wait_s)
    except BaseException:
        waiter.close()
        raise
    return LongPoll(services, waiter, wait_s)


class LongPoll(Response):
    """An answer that is made when its wait is over, after Flask has let go of the request.

    Thousands of agents wait, so that what one of them holds is what the service weighs: contexts, request
    and a deep stack were 20 kB of 35 (bench/wake.py). The WSGI server asks this for its body; only then the
    wait begins, and what is sent is decided when it ends (PEP 3333 allows that until the first byte).
    """

    def __init__(self, services: Services, waiter: Waiter, wait_s: float):
        super().__init__()
        self._services = services
        self._waiter = waiter
        self._wait_s = wait_s
        self._ends = time.monotonic() + wait_s

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def wait_and_answer() -> Iterable[bytes]:
            environ.pop("werkzeug.request", None)
            return self._answer()(environ, start_response)

        return _Later(wait_and_answer, self._waiter.close)

    def _answer(self) -> Response:
        try:
            with self._waiter:  # its place is free before the answer is on its way
                handoff = self._handoff()
            answer = self._tell(handoff)
        except Exception as error:  # it is outside of Flask, whose handlers would have taken it
            answer = problems.answer_to(error)
        for name, value in self.headers:  # what every answer of this application carries
            answer.headers.setdefault(name, value)
        return answer

    def _handoff(self) -> Handoff:
        waiting = self._services.waiting
        while not waiting.stopping:
            left = self._ends - time.monotonic()
            if left <= 0 or not self._waiter.wait(left):
                break
            handoff = self._waiter.take_news() or self._services.handoffs.get(self._waiter.handoff_id)
            if self._is_news(handoff):
                return handoff
        return self._services.handoffs.get(self._waiter.handoff_id)

    def _is_news(self, handoff: Handoff) -> bool:
        return handoff.closed

    def _tell(self, handoff: Handoff) -> Response:
        answer = said(HandoffView.of(handoff))
        answer.headers["Preference-Applied"] = f"wait={self._wait_s:g}"
        return answer


class NewsPoll(LongPoll):
    """The same for who looks at a page that shows version `seen`: any other version ends the wait. `tell`
    makes the answer, outside of the request."""

    def __init__(
        self,
        services: Services,
        waiter: Waiter,
        wait_s: float,
        seen: int,
        tell: Callable[[Handoff], Response],
    ):
        super().__init__(services, waiter, wait_s)
        self._seen = seen
        self._teller = tell

    def _is_news(self, handoff: Handoff) -> bool:
        return handoff.rev != self._seen

    def _tell(self, handoff: Handoff) -> Response:
        return self._teller(handoff)


class _Later:
    """A WSGI body that is made when it is asked for. `close` is called by the server in any case, also when
    the agent has gone."""

    def __init__(self, make: Callable[[], Iterable[bytes]], done: Callable[[], None]):
        self._make: Callable[[], Iterable[bytes]] | None = make
        self._done = done

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        make, self._make = self._make, None
        if make is None:
            raise StopIteration
        return b"".join(make())

    def close(self) -> None:
        self._done()


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
