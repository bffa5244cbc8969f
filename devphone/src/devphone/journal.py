"""What happened, for those who watch: events, REST requests, the debugger's entries, faulty answers of ours.

Bounded lists with a number for each entry; readers wait for the next one. Nothing is decided here.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from .engine.actions import Happened, Warned

KEPT = 20_000
DICTIONARY = "https://www.twilio.com/docs/errors/"


@dataclass(frozen=True)
class Event:
    """One thing that happened: `seq` from 1, `at_ms` in Unix milliseconds, `line_s` on the line's clock."""

    seq: int
    at_ms: float
    line_s: float
    type: str
    sid: str
    number: str
    data: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Journal:
    """Four bounded lists. Safe to use from any thread."""

    def __init__(self) -> None:
        """Empty."""
        self._changed = threading.Condition()
        self._events: deque[Event] = deque(maxlen=KEPT)
        self._requests: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._debugger: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._violations: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._seq = self._checked = 0

    def happened(self, what: Happened, line_s: float) -> None:
        """Note an event now and wake those who wait."""
        with self._changed:
            self._seq += 1
            at_ms = time.time() * 1000
            self._events.append(Event(self._seq, at_ms, line_s, what.type, what.sid, what.number, what.data))
            self._changed.notify_all()

    def warned(self, what: Warned) -> None:
        """Note a debugger entry."""
        entry = {
            "code": what.code,
            "sid": what.sid,
            "text": what.text,
            "at_ms": time.time() * 1000,
            "more_info": f"{DICTIONARY}{what.code}",
        }
        with self._changed:
            self._debugger.append(entry)
            self._changed.notify_all()

    def requested(self, entry: dict[str, Any]) -> None:
        """Note a REST request; the dictionary may still be completed by its owner."""
        with self._changed:
            self._requests.append(entry)

    def checked(self, request: str, problems: list[str]) -> None:
        """Note that the answer to this request was compared with the contract, and what was wrong with it."""
        with self._changed:
            self._checked += 1
            if problems:
                self._violations.append(
                    {"request": request, "problems": problems, "at_ms": time.time() * 1000}
                )

    def events_after(self, seq: int, wait_s: float = 0.0) -> list[Event]:
        """The events with a greater number; waits up to `wait_s` seconds for the first."""
        with self._changed:
            self._changed.wait_for(lambda: self._seq > seq, wait_s)
            newest = self._seq
            missed = min(newest - seq, len(self._events))
            return [self._events[index] for index in range(len(self._events) - missed, len(self._events))]

    def wait_for(self, met: Callable[[Event], bool], after: int, wait_s: float) -> bool:
        """Whether an event that `met` accepts came after number `after` within `wait_s` seconds."""
        deadline = time.monotonic() + wait_s
        while (left_s := deadline - time.monotonic()) > 0:
            events = self.events_after(after, left_s)
            if any(met(event) for event in events):
                return True
            after = events[-1].seq if events else after
        return False

    @property
    def seq(self) -> int:
        """The number of the newest event; 0 before the first."""
        with self._changed:
            return self._seq

    def requests(self) -> list[dict[str, Any]]:
        """REST requests, oldest first."""
        with self._changed:
            return list(self._requests)

    def debugger(self) -> list[dict[str, Any]]:
        """Debugger entries, oldest first."""
        with self._changed:
            return list(self._debugger)

    def contract(self) -> tuple[int, list[dict[str, Any]]]:
        """How many answers were compared with the contract, and those that break it, oldest first."""
        with self._changed:
            return self._checked, list(self._violations)

    def clear(self) -> None:
        """Forget all four lists; event numbers go on."""
        with self._changed:
            self._events.clear()
            self._requests.clear()
            self._debugger.clear()
            self._violations.clear()
            self._checked = 0
