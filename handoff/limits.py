"""How often and how much people are called and texted: the rate, each number's caps, a day's ceiling. Pure.

The operator's word, read from the environment. What is counted, and in which step, is store/lua/pace.lua's
business; what becomes of a call that is held is calls.py's.
"""

from __future__ import annotations

import re
from enum import StrEnum

from handoff.models import Record
from handoff.moments import DAY, HOUR, MINUTE, SECOND

#: What target/goalert allows an alert's voice calls to one phone (engine/message/ratelimit.go).
DEFAULT_CAPS = "1/1m 3/15m 7/1h 15/3h"
#: What it allows an alert's texts to one phone, without its one a minute: the link has to be there at once.
DEFAULT_TEXT_CAPS = "5/15m 11/1h 21/3h"
#: A window has to be kept in Redis for as long as it is, so that a week is the longest.
LONGEST_WINDOW_MS = 7 * DAY
_CAP = re.compile(r"(\d{1,4})/(\d{1,3})([smhd])")
_UNIT = {"s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
#: The part of a day's ceiling that only what is critical may use: a tenth.
RESERVE = 10


class Held(StrEnum):
    """Why a call is not placed yet, or a text not sent."""

    RATE = "rate"  #: more calls are due than the account may begin in a second
    NUMBER = "number"  #: this number was rung as often as it may be
    SHARE = "share"  #: this agent's calls to this number have used up its share of the number's caps
    TEXTS = "texts"  #: this number was texted as often as it may be
    DAY = "day"  #: the ceiling for a day is reached, in calls or in money
    LINE = "line"  #: another call of ours is on this number


class Cap(Record):
    """At most `count` calls, or texts, to one number begin within any `window_ms`."""

    count: int
    window_ms: int


class Limits(Record):
    """What the operator allows. None, 0 or an empty tuple is no limit."""

    calls_per_second: float = 0.0
    number_caps: tuple[Cap, ...] = ()
    text_caps: tuple[Cap, ...] = ()
    calls_a_day: int = 0
    money_a_day: float = 0.0  # in the currency of `price_a_minute`
    price_a_minute: float = 0.0  # what each begun minute of a call is taken to cost

    @property
    def none(self) -> bool:
        """Whether no call is limited, so that none has to be counted."""
        return not (self.calls_per_second or self.number_caps or self.calls_a_day or self.money_a_day)

    @property
    def interval_ms(self) -> float:
        """How far apart calls begin, on average."""
        return SECOND / self.calls_per_second if self.calls_per_second else 0.0


def parse_caps(text: str) -> tuple[Cap, ...]:
    """`1/1m 30/1d`: one a minute and thirty in a day; `none` for no cap. Raises ValueError."""
    if text == "none":
        return ()
    caps = []
    for word in text.split():
        found = _CAP.fullmatch(word)
        if found is None or not int(found[1]) or not int(found[2]):
            raise ValueError(f"must be like {DEFAULT_CAPS}, or none; not {word!r}")
        cap = Cap(count=int(found[1]), window_ms=int(found[2]) * _UNIT[found[3]])
        if cap.window_ms > LONGEST_WINDOW_MS:
            raise ValueError(f"must have no window longer than 7d; not {word!r}")
        caps.append(cap)
    if not caps:
        raise ValueError(f"must be like {DEFAULT_CAPS}, or none")
    return tuple(caps)
