"""The limits of one webhook: Twilio's own, or those that the fragment of its URL asks for.

Pure: a URL in, limits out. Who obeys them is `webhooks.py`.
https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

CONNECT_FAILS, READ_FAILS, BROKEN = "ct", "rt", "broken"
POLICIES = frozenset({"4xx", "5xx", CONNECT_FAILS, READ_FAILS})
ALL = POLICIES | {BROKEN}
"""What `rp=all` retries: also a connection that breaks before any part of the answer; that is our reading."""
RANGES = {"ct": (100, 10_000), "rt": (100, 15_000), "tt": (100, 15_000), "rc": (0, 5)}
LONGEST_NUMBER = 9
WITHOUT_EFFECT = ("e", "sni")


class BadPolicy(ValueError):
    """An `rp` with a word that is no retry policy; Twilio's 11243."""


@dataclass(frozen=True)
class Limits:
    """How one webhook is sent: seconds to connect, to wait for the next bytes, and in all, retries included.

    `retries` come after the first try, and only for what `retry_on` names: 4xx, 5xx, ct (connecting
    fails), rt (no answer begins in time), broken (cut before an answer begins).
    """

    connect_s: float = 5.0
    read_s: float = 15.0
    total_s: float = 15.0
    retries: int = 1
    retry_on: frozenset[str] = frozenset({CONNECT_FAILS})

    def retries_status(self, status: int) -> bool:
        """Whether an answer with this HTTP status is reason enough for another try."""
        return f"{status // 100}xx" in self.retry_on


TWILIO = Limits()
"""What holds for a URL without a fragment."""


def read_limits(url: str, default: Limits) -> tuple[Limits, list[str]]:
    """What the fragment of `url` asks for, and a sentence for each part of it that is not obeyed.

    A value outside Twilio's range, or a name that is not Twilio's, changes nothing: our reading, since the
    page says no more than the ranges. Raises BadPolicy for a bad `rp`
    (https://www.twilio.com/docs/api/errors/11243).
    """
    limits, ignored = default, []
    for part in filter(None, urlsplit(url).fragment.split("&")):
        name, _, value = part.partition("=")
        if name == "rp":
            limits = replace(limits, retry_on=_policy(value))
        elif name not in RANGES:
            if name not in WITHOUT_EFFECT:
                ignored.append(f"{part} is no connection override")
        elif (number := _within(value, *RANGES[name])) is None:
            low, high = RANGES[name]
            ignored.append(f"{name}={value} is no whole number from {low} to {high}")
        elif name == "ct":
            limits = replace(limits, connect_s=number / 1000)
        elif name == "rt":
            limits = replace(limits, read_s=number / 1000)
        elif name == "tt":
            limits = replace(limits, total_s=number / 1000)
        else:
            limits = replace(limits, retries=number)
    return limits, ignored


def _within(value: str, low: int, high: int) -> int | None:
    """`value` as a number; None also for more digits than int() takes."""
    is_short = value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER
    return int(value) if is_short and low <= int(value) <= high else None


def _policy(value: str) -> frozenset[str]:
    words = value.split(",")
    if "all" in words and set(words) <= POLICIES | {"all"}:
        return ALL
    if bad := [word for word in words if word not in POLICIES]:
        raise BadPolicy(f"rp={value}: {', '.join(repr(word) for word in bad)} is no retry policy")
    return frozenset(words)
