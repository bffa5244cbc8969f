"""The control API as the terminal uses it: one request, and waiting for the next happening."""

from __future__ import annotations

import json
from typing import Any

import httpx2

WAIT_S = 20.0
"""How long one request for news waits; the dev phone allows 30."""
ANSWER_S = 10.0


class Gone(Exception):
    """No dev phone answers at this address; the text says why."""


class Refusal(Exception):
    """The dev phone does not do that; the text is its own sentence."""


class Wire:
    """Requests to one running dev phone. Safe to use from two threads."""

    def __init__(self, url: str) -> None:
        """`url` is what the dev phone printed when it began to listen."""
        self.url = url.rstrip("/")
        self._http = httpx2.Client(timeout=httpx2.Timeout(ANSWER_S, read=WAIT_S + ANSWER_S), trust_env=False)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request below `/_devphone/`. Raises Refusal and Gone."""
        try:
            response = self._http.request(
                method, f"{self.url}/_devphone/{path}", json=body, headers={"Accept": "application/json"}
            )
            answer = response.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise Gone(str(error) or type(error).__name__) from error
        if not isinstance(answer, dict):
            raise Gone("what answers there is no dev phone")
        if response.status_code >= 400:
            raise Refusal(str(answer.get("error", response.status_code)))
        return answer

    def state(self) -> dict[str, Any]:
        """Everything that is known. Raises Gone, also when something else answers there."""
        try:
            state = self.ask("GET", "state")
        except Refusal as refusal:
            raise Gone(str(refusal)) from refusal
        if state.get("simulated") is not True:
            raise Gone("what answers there is no dev phone")
        return state

    def next_happening(self, after: int) -> int:
        """Wait up to 20 seconds for an event after number `after`; answers with the newest. Raises Gone."""
        try:
            return int(self.ask("GET", f"events?after={after}&wait_s={WAIT_S:g}")["seq"])
        except Refusal as refusal:
            raise Gone(str(refusal)) from refusal
