"""The queue that outbound calls wait in, so that no more start in a second than the account may.

Pure but for the timer it sets. One call starts every 1 / rate seconds, in the order of the creates.
https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource (Calls Per Second)
"""

from __future__ import annotations

from collections.abc import Callable

from .account import Account
from .actions import Now
from .timers import Timers

TURN = ("queue", "turn")


class CallQueue:
    """Who waits, and from when on the next may start."""

    def __init__(self, timers: Timers, account: Account, begins: Callable[[str, Now], None]) -> None:
        """`account` has the rate; `changed` must be called after it changed. `begins` starts a call."""
        self._timers, self._account, self._begins = timers, account, begins
        self._line: dict[str, bool] = {}
        self._free_s = 0.0

    def join(self, sid: str, now: Now) -> float:
        """Take a place for a call that was created; the seconds it will probably wait there."""
        wait_s = max(0.0, self._free_s - now.s) + len(self._line) * self._step_s if self._step_s else 0.0
        self._line[sid] = False
        return wait_s

    def ready(self, sid: str, now: Now) -> None:
        """The create was answered: the call may start when it is its turn."""
        if sid in self._line:
            self._line[sid] = True
            self._go_on(now)

    def leave(self, sid: str) -> None:
        """The call waits no more; those behind it move up."""
        self._line.pop(sid, None)

    def changed(self, now: Now) -> None:
        """The rate is another one."""
        self._free_s = min(self._free_s, now.s + self._step_s)
        self._go_on(now)

    def clear(self) -> None:
        """Nobody waits, and nobody ever started."""
        self._line.clear()
        self._timers.cancel(TURN)
        self._free_s = 0.0

    @property
    def _step_s(self) -> float:
        rate = self._account.calls_per_second
        return 1 / rate if rate else 0.0

    def _go_on(self, now: Now) -> None:
        """Start whom the rate allows now; set the timer for the next one."""
        while first := next((sid for sid, is_ready in self._line.items() if is_ready), None):
            if self._free_s > now.s and self._step_s:
                self._timers.set(TURN, self._free_s, self._go_on)
                return
            del self._line[first]
            self._free_s = now.s + self._step_s
            self._begins(first, now)
