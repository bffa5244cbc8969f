"""Timers by name: set, cancel, take the next due one. Who waits for them is not decided here."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from .actions import Now

Key = tuple[str, str]
"""(sid, name): at most one timer runs under each."""


@dataclass(frozen=True)
class Timer:
    """A function to call at `due_s` on the line's clock."""

    key: Key
    due_s: float
    run: Callable[[Now], None]


class Timers:
    """A heap with lazy removal; ties run in the order they were set."""

    def __init__(self) -> None:
        """Nothing is due."""
        self._heap: list[tuple[float, int, Timer]] = []
        self._live: dict[Key, Timer] = {}
        self._order = count()

    def set(self, key: Key, due_s: float, run: Callable[[Now], None]) -> None:
        """Start a timer, or start it anew if `key` already runs."""
        timer = Timer(key, due_s, run)
        self._live[key] = timer
        heapq.heappush(self._heap, (due_s, next(self._order), timer))

    def cancel(self, key: Key) -> None:
        """Stop one timer; none running is fine."""
        self._live.pop(key, None)

    def runs(self, key: Key) -> bool:
        """Whether a timer runs under `key`."""
        return key in self._live

    def cancel_all(self, sid: str) -> None:
        """Stop every timer of one call or message."""
        for name in [key for key in self._live if key[0] == sid]:
            del self._live[name]

    def clear(self) -> None:
        """Stop everything."""
        self._heap.clear()
        self._live.clear()

    def next_due(self) -> float | None:
        """When the earliest running timer is due, or None."""
        while self._heap:
            due_s, _, timer = self._heap[0]
            if self._live.get(timer.key) is timer:
                return due_s
            heapq.heappop(self._heap)
        return None

    def pop_due(self, now_s: float) -> Timer | None:
        """Take the earliest timer that is due at `now_s`, or None."""
        due_s = self.next_due()
        if due_s is None or due_s > now_s:
            return None
        timer = heapq.heappop(self._heap)[2]
        del self._live[timer.key]
        return timer
