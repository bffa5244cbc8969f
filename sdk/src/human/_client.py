"""The blocking client: sends what a conversation yields, sleeps when it says so, and nothing else.

When to retry, what a reply means and what to raise is in `_conversation.py`, `_reply.py` and `_outcome.py`.
"""

from __future__ import annotations

import logging
import os
import platform
import random
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self, Unpack

import httpx2

from . import _outcome, _request, _settings
from ._conversation import Terms, Timing, converse
from ._records import Clearance
from ._reply import Event, Failed, FailureKind, Handoff, Reply
from ._request import Opening, Options, Send
from ._version import __version__

_log = logging.getLogger("human")


@dataclass(frozen=True)
class Clock:
    """Where a client gets time and chance from. Seconds; `now` must never run backwards."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    luck: Callable[[], float] = random.random


class Client:
    """Asks people through one Handoff server. Blocking, and safe to share between threads.

    `url` and `api_key`: the argument, else `human.configure()`, else `HANDOFF_URL` and `HANDOFF_API_KEY`,
    read when the client is made. `max_retries` is how often opening a question is tried again
    (10: about a minute); an opened one is waited for until it closes. `transport` replaces the network.
    Raises `InvalidRequest` when the address or the key is missing or cannot work.
    After a fork make a new client: two processes cannot share its connections.
    """

    def __init__(
        self,
        url: str | None = None,
        api_key: str | None = None,
        *,
        transport: httpx2.BaseTransport | None = None,
        max_retries: int = 10,
        _clock: Clock | None = None,
        _timing: Timing | None = None,
    ) -> None:
        settings = _settings.resolve(url, api_key, environ=os.environ)
        self._clock = _clock or Clock()
        self._terms = Terms(settings, _timing or Timing(), max_retries, self._clock.luck)
        self._http = httpx2.Client(
            headers={
                "Authorization": f"Bearer {settings.api_key}",
                "Accept": "application/json, application/problem+json",
                "User-Agent": f"human-sdk/{__version__} python/{platform.python_version()}",
            },
            # Each blocked call holds a connection; a cap would make calls wait for each other.
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
            transport=transport,
        )

    def clear_wall(self, reason: str, **options: Unpack[Options]) -> Clearance:
        """Has a person clear what blocks the agent. Blocks until they did, and says who, when and how.

        `reason` is what is blocking, in words a voice can read; for the keywords see `human.Options`
        (`timeout_s` in seconds, default 600). Raises `NobodyAnswered` (`Unreachable`), `Declined`,
        `Cancelled`, `Uncertain`, `ConnectionFailed` or `InvalidRequest`. An interrupt (KeyboardInterrupt, a
        signal) leaves the handoff open; `key=` re-attaches to it.
        """
        opening = _request.opening("clear", reason, **options)
        return _outcome.clearance(self._closed(opening), key=opening.key)

    def ask(self, question: str, **options: Unpack[Options]) -> str:
        """Asks a person, blocks until they answered, and returns the bare answer.

        Keywords, errors and interrupts as with `clear_wall`.
        """
        opening = _request.opening("ask", question, **options)
        return _outcome.answer(self._closed(opening), key=opening.key)

    def close(self) -> None:
        """Closes the connections.

        A call that another thread is blocked in ends with `Uncertain`, as soon as its present request does.
        """
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"human.Client({self._terms.settings.url!r})"

    def _closed(self, opening: Opening) -> Handoff:
        steps = converse(opening, self._terms, now=self._clock.now())
        send = next(steps)
        try:
            while True:
                send = steps.send(self._perform(send))
        except StopIteration as done:
            handoff: Handoff = done.value
            return handoff

    def _perform(self, send: Send) -> Event:
        if send.why:
            _log.warning("%s: %s; next try in %.1f s", self._terms.settings.url, send.why, send.after_s)
        if send.after_s:
            self._clock.sleep(send.after_s)
        timing, started = self._terms.timing, self._clock.now()
        try:
            response = self._http.request(
                send.method,
                self._terms.settings.url + send.path,
                content=send.body,
                headers=dict(send.headers),
                timeout=httpx2.Timeout(send.read_s, connect=timing.connect_s),
            )
        except httpx2.RequestError as error:
            return self._failed(error, started)
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            return self._failed(error, started)
        at = self._clock.now()
        return Reply(response.status_code, response.headers, response.content, at, at - started)

    def _failed(self, error: Exception, started: float) -> Failed:
        kind: FailureKind = "transport"
        if self._http.is_closed:
            kind = "closed"
        elif any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
            kind = "untrusted"
        at = self._clock.now()
        return Failed(error, at, at - started, kind)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
