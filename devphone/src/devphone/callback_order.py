"""The fault `reorder_callbacks`: which status callback of one call or text waits for the next one. Pure."""

from __future__ import annotations

import random

from .engine.actions import SendCallback

MAY_WAIT = frozenset({"initiated", "ringing", "in-progress", "accepted", "scheduled", "queued", "sending"})
"""Statuses that something follows. No other callback waits, since it may be the last."""


class CallbackOrder:
    """Swaps neighbours: the first callback always waits, each later one by `luck`, for one other at most."""

    def __init__(self, luck: random.Random) -> None:
        """`luck` decides, so that one seed gives one order."""
        self._luck, self._waiting, self._begun = luck, list[SendCallback](), False

    def put(self, callback: SendCallback) -> list[SendCallback]:
        """The callbacks to send now, in their order; none while this one waits."""
        status = callback.fields.get("CallStatus") or callback.fields.get("MessageStatus")
        waits = not self._waiting and status in MAY_WAIT and (not self._begun or self._luck.random() < 0.5)
        self._begun = True
        if waits:
            self._waiting.append(callback)
            return []
        return [callback, *self.rest()]

    def rest(self) -> list[SendCallback]:
        """What still waits, because nothing will follow."""
        waiting, self._waiting = self._waiting, []
        return waiting
