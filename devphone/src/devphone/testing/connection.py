"""The wire to a running dev phone, and waiting on it. What people do with phones is `devices.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import httpx2

__tracebackhide__ = True
"""For pytest: a failure is shown at the line of the test, not in here."""

Found = TypeVar("Found")
POLL_S = 2.0
NOBODY = "+10000000000"
"""A number that has no phone, to ask for nothing but the newest event's number."""


class Connection:
    """Requests to the control API, waits with a deadline, and the list of what was expected.

    `timeout_s` is how long each wait lasts, in the world's seconds.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        """`url` is what the program printed when it began to listen."""
        self.url, self.timeout_s = url.rstrip("/"), timeout_s
        self._http = httpx2.Client(base_url=f"{self.url}/_devphone", timeout=90, trust_env=False)
        self._expected: set[str] = set()

    def send(
        self, method: str, path: str, body: dict[str, Any] | None = None, params: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """One request to the control API. Raises AssertionError when it refuses."""
        headers = {"Accept": "application/json"}
        response = self._http.request(method, path, json=body, params=params, headers=headers)
        answer: dict[str, Any] = response.json()
        assert response.status_code < 400, f"{method} {path}: {answer.get('error', response.status_code)}"
        return answer

    def state(self, number: str | None = None) -> dict[str, Any]:
        """Everything that is known, or what concerns one number."""
        return self.send("GET", "/state", params={"number": number} if number else None)

    def wait_for(
        self, check: Callable[[], Found | None], failure: Callable[[], str], timeout_s: float | None = None
    ) -> Found:
        """What `check` finds; it is asked again after every event. Raises AssertionError at the deadline."""
        deadline = time.monotonic() + (self.timeout_s if timeout_s is None else timeout_s)
        seq = self.state(NOBODY)["seq"]
        while (found := check()) is None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise AssertionError(failure())
            query = {"after": seq, "wait_s": min(POLL_S, left_s)}
            seq = self.send("GET", "/events", params=query)["seq"]
        return found

    def expected(self, sid: str) -> bool:
        """Whether an expectation took this call or text."""
        return sid in self._expected

    def expect(self, sid: str) -> None:
        """Count this call or text as expected, whatever becomes of it."""
        self._expected.add(sid)

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()
