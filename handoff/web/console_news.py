"""How an operator's page hears that what it shows has changed: a long poll with the token of what it saw.

A token stands for what a page shows. The answer comes when it has become another, or when the wait is
over (204). Nothing that a page shows is in the answer: the page asks for its own address again.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence

from flask import Response

from handoff.bootstrap import Services
from handoff.models import Handoff
from handoff.store import sha256
from handoff.waiting import Waiter
from handoff.web import problems, waits

#: Under every common proxy's limit; a page that was told nothing asks again.
WAIT_S = 25.0
#: Many changes within this time are looked at once: on a busy day a list is read this often, and no more.
PAUSE_S = 0.3


def list_token(shown: Sequence[Handoff], following: str | None) -> str:
    """The token of a page of the list: which handoffs it shows, each in which version, and what follows."""
    return sha256("|".join([*(f"{one.id}:{one.rev}" for one in shown), following or ""]))[:20]


def news(services: Services, watched: str, seen: str, look: Callable[[], str], wait_s: float) -> Response:
    """Waits for a change of `watched` (a handoff's id, or waiting.ANY) after which `look` finds another token
    than `seen`."""
    if services.waiting.full:
        response = Response(status=204)
        response.headers["Retry-After"] = "2"
        return response
    return _News(services, services.waiting.register(watched, closed_only=False), wait_s, seen, look)


class _News(waits.LongPoll):
    """The same way of waiting, for a token instead of an agent's answer."""

    def __init__(self, services: Services, waiter: Waiter, wait_s: float, seen: str, look: Callable[[], str]):
        super().__init__(services, waiter, wait_s)
        self._seen = seen
        self._look = look

    def _answer(self) -> Response:
        try:
            with self._waiter:
                token = self._changed()
            answer = Response(status=204)
            if token is not None:
                answer = Response(json.dumps({"seen": token}), content_type="application/json")
        except Exception as error:  # it is outside of Flask, whose handlers would have taken it
            answer = problems.answer_to(error)
        answer.headers["Cache-Control"] = "no-store"
        for name, value in self.headers:  # what every answer of this application carries
            answer.headers.setdefault(name, value)
        return answer

    def _changed(self) -> str | None:
        while (token := self._look()) == self._seen:
            left = self._ends - time.monotonic()
            if self._services.waiting.stopping or left <= 0 or not self._waiter.wait(left):
                return None
            threading.Event().wait(min(PAUSE_S, left))
        return token
