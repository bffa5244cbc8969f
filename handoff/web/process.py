"""How a web process lives under gunicorn's gevent worker: signs of life, slow senders, and a quick end.

gunicorn.conf.py calls this from its hooks. The only module that knows gevent; views and the waiting of
agents work the same with threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Self, cast

import gevent
import redis
from flask import Flask
from werkzeug.exceptions import RequestTimeout

from handoff.bootstrap import Services

#: How long a request's body may take to arrive, in seconds. Without a limit a stranger who sends a byte now
#: and then keeps a place among the connections for as long as they like.
BODY_S = 15.0
#: How often a process says that it lives, in seconds.
BEAT_S = 5.0
#: What was sent just before the end is still read and answered within this time, in seconds.
LAST_WORDS_S = 0.5

_answering: set[Any] = set()  # gunicorn's requests that are being answered
_idle: dict[Any, gevent.Timeout] = {}  # greenlet -> the limit under which it waits for a next request


def answering(request: Any) -> None:
    """gunicorn began to answer this request."""
    _answering.add(request)


def answered(request: Any) -> None:
    """It was answered."""
    _answering.discard(request)


def begin(worker: Any) -> None:
    """Makes a worker that just started fit for its life, and watches for its end."""
    app: Flask = worker.wsgi
    app.wsgi_app = _limited(app.wsgi_app)  # type: ignore[method-assign]  # Flask's documented way
    keepalive = worker.cfg.keepalive
    # False: the wait ends without an error; the stubs know only exceptions here.
    worker.timeout_ctx = lambda: _Idle(keepalive if worker.alive else 1, cast(Any, False))
    gevent.spawn(_watch, worker, app)


def _watch(worker: Any, app: Flask) -> None:
    """Says that the process lives; when it is told to stop, wakes every waiter and lets go of every
    connection, so that a deploy takes seconds. Without that a kept connection on which nothing is asked holds
    gunicorn for all of graceful_timeout, and an agent that was answered asks the stopping process again."""
    services: Services = app.extensions["handoff"]
    next_beat = 0.0
    while worker.alive:
        if time.monotonic() >= next_beat:
            next_beat = time.monotonic() + BEAT_S
            gevent.spawn(_beat, services)
        gevent.sleep(0.1)
    for request in _answering:
        request.force_close()
    services.waiting.stop()
    gevent.sleep(LAST_WORDS_S)
    for greenlet, limit in tuple(_idle.items()):
        greenlet.kill(limit, block=False)


def _beat(services: Services) -> None:
    with suppress(redis.RedisError):  # its being away is said by whoever needs it
        services.store.beat("web", services.clock())


class _Idle(gevent.Timeout):
    """gunicorn's wait for the next request on a connection, where `_watch` can find it."""

    def __enter__(self) -> Self:
        _idle[gevent.getcurrent()] = self
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        _idle.pop(gevent.getcurrent(), None)
        return super().__exit__(*error)


class _Body:
    """A request's body that must arrive in time."""

    def __init__(self, stream: Any):
        self._stream = stream
        self._left = BODY_S

    def _in_time(self, read: Callable[..., Any], *args: Any) -> Any:
        began = time.monotonic()
        with gevent.Timeout(max(self._left, 0.001), RequestTimeout("The body took too long to arrive.")):
            try:
                return read(*args)
            finally:
                self._left -= time.monotonic() - began

    def read(self, *args: Any) -> bytes:
        return bytes(self._in_time(self._stream.read, *args))

    def readline(self, *args: Any) -> bytes:
        return bytes(self._in_time(self._stream.readline, *args))

    def readlines(self, *args: Any) -> list[bytes]:
        return list(self._in_time(self._stream.readlines, *args))

    def __iter__(self) -> Iterable[bytes]:
        return iter(self.readlines())


def _limited(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    def limited(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.input"] = _Body(environ["wsgi.input"])
        return application(environ, start_response)

    return limited
