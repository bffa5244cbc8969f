"""Tells what happens on the dev phone, as it happens. Watches only; pressing keys is for person.py."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import httpx2

from demo.story import Story

_WAIT_S = 2


class PhoneStory:
    """Follows the dev phone's events from the start until `close`."""

    def __init__(self, devphone_url: str, story: Story, name_of: Callable[[str], str]) -> None:
        """`name_of` gives the name behind a number."""
        self._story, self._name_of = story, name_of
        self._http = httpx2.Client(base_url=devphone_url, timeout=_WAIT_S + 10, trust_env=False)
        self._closing = threading.Event()
        self._quiet = threading.Condition()
        self._seen: list[str] = []
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def saw(self, kind: str, timeout_s: float) -> bool:
        """Whether an event of this type was told, waiting up to `timeout_s` seconds for it."""
        with self._quiet:
            return self._quiet.wait_for(lambda: kind in self._seen, timeout_s)

    def close(self) -> None:
        """Stops following."""
        self._closing.set()
        self._http.close()

    def _follow(self) -> None:
        newest = 0
        while not self._closing.is_set():
            try:
                asked = self._http.get(
                    "/_devphone/events",
                    params={"after": newest, "wait_s": _WAIT_S},
                    headers={"Accept": "application/json"},
                )
            except (httpx2.HTTPError, RuntimeError):
                # The dev phone was stopped or started again, or we were closed in the middle of a request.
                newest = 0
                self._closing.wait(0.5)
                continue
            answer = asked.json()
            newest = answer["seq"]
            for event in answer["events"]:
                self._tell(event)

    def _tell(self, event: dict[str, Any]) -> None:
        who, what = _words(event, self._name_of(event["number"]))
        if what:
            self._story.tell(who, what)
        with self._quiet:
            self._seen.append(event["type"])
            self._quiet.notify_all()


def _words(event: dict[str, Any], name: str) -> tuple[str, str]:
    """Who did what, for the events that belong to the story; nothing for the others."""
    data = event["data"]
    match event["type"]:
        case "call.ringing":
            return "phone", f"{name}'s phone rings"
        case "call.answered":
            return "person", f"{name} answers"
        case "call.said":
            return "voice", f'"{data["text"]}"'
        case "call.pressed":
            return "person", f"{name} presses {data['key']}"
        case "call.hung_up":
            return "person", f"{name} hangs up"
        case "call.ended":
            return "phone", f"the call is over ({data['status']}, {data['duration_s']} s)"
        case "message.received":
            return "text", f'{name} gets: "{data["body"]}"'
        case _:
            return "", ""
