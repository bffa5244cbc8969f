"""Counts beginnings of calls in one atomic step (lua/pace.lua): who may begin now, who waits, and why.

What the limits are is limits.py's business, what becomes of a call that waits calls.py's.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from handoff.limits import RESERVE, Held, Limits
from handoff.models import Urgency
from handoff.moments import DAY
from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace

_LUA = Path(__file__).parent / "lua"
#: Keeps the urgencies apart in the order of those that wait: more than any moment in ms.
_A_CLASS = 10**14


@dataclass(frozen=True)
class Hold:
    """A call is not to begin before `until` (ms), for this reason."""

    why: Held
    until: int


class Pacer:
    """The counters of one installation. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis = connections.commands
        self._keys = keys
        self._pace = self._redis.register_script((_LUA / "pace.lua").read_text())

    def hold(
        self, call_id: str, number: str, urgency: Urgency, since: int, limits: Limits, now: int
    ) -> Hold | None:
        """None: it may begin now, and is counted, once. Of those that wait the more urgent come first, then
        those that are due the longest (`since`, ms)."""
        if limits.none:
            return None
        answer = self._pace(
            keys=[self._keys.pace, self._keys.pace_waiting, self._beginnings(number), self._today(now)],
            args=[
                call_id,
                now,
                (Urgency.CRITICAL.rank - urgency.rank) * _A_CLASS + since,
                limits.interval_ms,
                json.dumps([[cap.count, cap.window_ms] for cap in limits.number_caps]),
                limits.calls_a_day,
                round(limits.money_a_day * 100),
                limits.price_a_minute * 100,
                "1" if urgency is Urgency.CRITICAL else "0",
                RESERVE,
                (now // DAY + 1) * DAY,
            ],
        )
        return None if answer[0] == "go" else Hold(Held(answer[1]), int(answer[2]))

    def leave(self, call_id: str) -> None:
        """It waits no more: nothing needs it any longer."""
        self._redis.zrem(self._keys.pace_waiting, call_id)

    def did_not_begin(self, call_id: str, number: str) -> None:
        """It was told to go, and provably did not: it is no call to that number."""
        self._redis.zrem(self._beginnings(number), call_id)

    def spent(self, more: float, now: int) -> None:
        """A call cost this much more than its first minute."""
        self._redis.hincrbyfloat(self._today(now), "cents", more * 100)

    def _beginnings(self, number: str) -> str:
        return self._keys.beginnings(hashlib.sha256(number.encode()).hexdigest()[:32])

    def _today(self, now: int) -> str:
        return self._keys.day(datetime.fromtimestamp(now / 1000, UTC).date().isoformat())
