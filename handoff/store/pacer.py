"""Counts calls and texts in one atomic step (lua/pace.lua): which may begin now, which wait, and why.

What the limits are is limits.py's business, what becomes of a call that waits calls.py's.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from handoff.limits import RESERVE, Held, Limits
from handoff.models import Call, CallsBack, Urgency
from handoff.moments import DAY
from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace
from handoff.store.store import CLOCKS_DIFFER_MS

_LUA = Path(__file__).parent / "lua"
#: Keeps the urgencies apart in the order of those that wait: more than any moment in ms.
_A_CLASS = 10**14


@dataclass(frozen=True)
class Hold:
    """A call, or a text, is not to begin before `until` (ms), for this reason."""

    why: Held
    until: int


class Pacer:
    """The counters of one installation. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace, limits: Limits):
        """`limits` are those of the operator; where there are none nothing is counted."""
        self._redis, self._keys, self._limits = connections.commands, keys, limits
        self._pace = self._redis.register_script((_LUA / "pace.lua").read_text())

    @property
    def has_caps(self) -> bool:
        """Whether it is limited how often one number may be called."""
        return bool(self._limits.number_caps)

    def hold(self, call: Call, urgency: Urgency, now: int, *, share: int = 100) -> Hold | None:
        """None: this call may begin now, and is counted, once. Of those that wait the more urgent come first,
        then those that are due the longest. `share`: per cent of the number's caps that calls of the API key
        which asked for this one may use up; one call in each window at least."""
        if self._limits.none:
            return None
        answer = self._ask(call, urgency, now, "ask", share)
        return None if answer[0] == "go" else Hold(Held(answer[1]), int(answer[2]))

    def leave(self, call: Call, now: int) -> None:
        """It waits no more, and the next one is asked to take its place."""
        if self._limits.calls_per_second:
            self._ask(call, Urgency.NORMAL, now, "leave")

    def did_not_begin(self, call: Call) -> None:
        """It was told to go, and provably did not: it is no call to that number, and none of the day on which
        it was counted."""
        if self._limits.none:
            return
        counted = self._redis.zscore(self._beginnings(call.number), call.id)
        if call.api_key:
            self._redis.zrem(self._beginnings(call.number, call.api_key), call.id)
        if counted is None or not self._redis.zrem(self._beginnings(call.number), call.id):
            return
        day = self._today(int(counted))
        pipe = self._redis.pipeline(transaction=True)
        pipe.hincrby(day, "n", -1)
        pipe.hincrbyfloat(day, "cents", -self._limits.price_a_minute * 100)
        pipe.execute()

    def lasted(self, minutes: int, now: int) -> None:
        """A call went on for so many begun minutes, the first of which was counted when it began."""
        if self._limits.money_a_day and minutes > 1:
            more = (minutes - 1) * self._limits.price_a_minute * 100
            self._redis.hincrbyfloat(self._today(now), "cents", more)

    def hold_text(self, attempt: str, number: str, urgency: Urgency, now: int) -> Hold | None:
        """None: the text of this attempt may be sent to this number (E.164) now, and is counted, once."""
        if not self._limits.text_caps:
            return None
        caps = Limits(number_caps=self._limits.text_caps)
        texted = self._keys.texted(_hash(number))
        answer = self._run(attempt, urgency, now, now, "ask", 100, caps, texted, texted)
        return None if answer[0] == "go" else Hold(Held.TEXTS, int(answer[2]))

    def was_not_sent(self, attempt: str, number: str) -> None:
        """A text was told to go, and provably did not: it is none to that number."""
        if self._limits.text_caps:
            self._redis.zrem(self._keys.texted(_hash(number)), attempt)

    def _ask(self, call: Call, urgency: Urgency, now: int, what: str, share: int = 100) -> list[str]:
        begun = self._beginnings(call.number)
        own = self._beginnings(call.number, call.api_key) if call.api_key and share < 100 else begun
        # A call back goes on with one that was begun: the caps are there for new ones. But for one that
        # nobody has shown to be theirs.
        more = 1 if call.back in (CallsBack.ASKED, CallsBack.DROPPED) else 0
        return self._run(
            call.id, urgency, call.created_at, now, what, share, self._limits, begun, own, more=more
        )

    def _run(
        self,
        id_: str,
        urgency: Urgency,
        since: int,
        now: int,
        what: str,
        share: int,
        limits: Limits,
        begun: str,
        own: str,
        *,
        more: int = 0,
    ) -> list[str]:
        keys = self._keys
        answer: list[str] = self._pace(
            keys=[
                keys.pace,
                keys.pace_waiting,
                keys.pace_asks,
                begun,
                self._today(now),
                keys.due,
                keys.effects,
                own,
            ],
            args=[
                id_,
                now,
                (Urgency.CRITICAL.rank - urgency.rank) * _A_CLASS + since,
                limits.interval_ms,
                json.dumps([[cap.count + more, cap.window_ms] for cap in limits.number_caps]),
                limits.calls_a_day,
                math.ceil(limits.money_a_day * 100),
                limits.price_a_minute * 100,
                "1" if urgency is Urgency.CRITICAL else "0",
                RESERVE,
                (now // DAY + 1) * DAY,
                CLOCKS_DIFFER_MS,
                what,
                share if own != begun else 100,
                "1" if limits is self._limits else "0",
            ],
        )
        return answer

    def _beginnings(self, number: str, api_key: str | None = None) -> str:
        return self._keys.beginnings(_hash(number), api_key)

    def _today(self, at: int) -> str:
        return self._keys.day(datetime.fromtimestamp(at / 1000, UTC).date().isoformat())


def _hash(number: str) -> str:
    """No number is in a key's name in clear."""
    return hashlib.sha256(number.encode()).hexdigest()[:32]
