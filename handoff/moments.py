"""Moments in time: whole milliseconds since 1970 in UTC, everywhere inside the service.

Only the edges turn them into text. Nothing here reads a clock but `now_ms`, which only the wiring
(bootstrap.py) hands out: the domain takes `now` as an argument.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def now_ms() -> int:
    """The present moment."""
    return time.time_ns() // 1_000_000


def rfc3339(moment: int) -> str:
    """`2026-11-30T03:02:01.500Z`: UTC, always three decimals (RFC 3339)."""
    return (
        datetime.fromtimestamp(moment / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


#: A moment that reads as RFC 3339 text in what goes out, and is an integer in what is kept.
Timestamp = Annotated[
    int,
    PlainSerializer(rfc3339, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}, mode="serialization"),
]
