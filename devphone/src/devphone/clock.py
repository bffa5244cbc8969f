"""The two clocks: real time, or a line that stands still until it is told to move.

The only module besides the journal and the web layer that reads the machine's time.
"""

from __future__ import annotations

import time
from typing import Protocol

from .engine.actions import Now


class Clock(Protocol):
    """Where the driver gets `now` from; `manual` says whether somebody has to move it."""

    manual: bool

    def now(self) -> Now:
        """The present moment."""
        ...


class RealClock:
    """Line time is the machine's time."""

    manual = False

    def now(self) -> Now:
        """Unix time, twice."""
        moment = time.time()
        return Now(moment, moment)


class ManualClock:
    """Line time starts at 0 and moves by `set` only; dates go on with the world, plus what was skipped."""

    manual = True

    def __init__(self) -> None:
        """Stand at 0."""
        self._s = 0.0

    def now(self) -> Now:
        """Line seconds, and a date that is never earlier than the world's."""
        return Now(self._s, time.time() + self._s)

    def set(self, line_s: float) -> None:
        """Move forward to `line_s`; a time in the past changes nothing."""
        self._s = max(self._s, line_s)

    def restart(self) -> None:
        """Stand at 0 again; only for a line on which nothing goes on."""
        self._s = 0.0
