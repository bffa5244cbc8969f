"""Faults on demand: what shall go wrong with the next creates. The driver asks, tests and demos set.

Each fault has a number of times; every create of its kind uses one up. Reordered and late callbacks are
not here yet.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["calls", "messages"]


@dataclass(frozen=True)
class RestError:
    """A refusal instead of a 201: `code` of the error dictionary, HTTP `status`. Nothing is created."""

    code: int
    status: int
    message: str


@dataclass(frozen=True)
class CreateFaults:
    """What goes wrong with one create.

    `lose_201`: accepted, connection cut. `status_after_accept`: accepted, answered with 500 or 503.
    `early_callback`: the first status callback is answered before the 201 is sent. `delay_201_s` and
    `fetch_lag_s` in seconds, the first in the world's time, the second in the line's.
    """

    rest_error: RestError | None = None
    lose_201: bool = False
    status_after_accept: int = 0
    early_callback: bool = False
    lose_callbacks: bool = False
    duplicate_callbacks: bool = False
    fetch_lag_s: float = 0.0
    delay_201_s: float = 0.0


_SWITCHES = (
    "lose_201",
    "500_after_accept",
    "503_after_accept",
    "early_callback",
    "lose_callbacks",
    "duplicate_callbacks",
)
_SECONDS = ("fetch_lag_s", "delay_201_s")


class BadFault(ValueError):
    """A fault that does not exist, or with values that make no sense."""


class Faults:
    """The faults still to come. Safe to use from any thread."""

    def __init__(self) -> None:
        """Nothing goes wrong."""
        self._lock = threading.Lock()
        self._waiting: dict[tuple[Kind, str], tuple[int, Any]] = {}

    def set(self, wanted: dict[str, Any]) -> None:
        """Take `{"name": times}` or `{"name": {"times": 1, "on": "calls", ...}}`; 0 times takes a fault back.

        The seconds faults need `seconds`, `rest_error` needs `code` and may have `status` and `message`.
        Raises BadFault and then changes nothing.
        """
        changes = [self._read(name, value) for name, value in wanted.items()]
        with self._lock:
            self._waiting.update(changes)

    def take(self, kind: Kind) -> CreateFaults:
        """What goes wrong with the create that is being handled now."""
        with self._lock:
            due = {name: self._use_up(kind, name) for on, name in list(self._waiting) if on == kind}
        due = {name: value for name, value in due.items() if value is not None}
        after = 500 if "500_after_accept" in due else 503 if "503_after_accept" in due else 0
        return CreateFaults(
            rest_error=due.get("rest_error"),
            lose_201="lose_201" in due,
            status_after_accept=after,
            early_callback="early_callback" in due,
            lose_callbacks="lose_callbacks" in due,
            duplicate_callbacks="duplicate_callbacks" in due,
            fetch_lag_s=due.get("fetch_lag_s", 0.0),
            delay_201_s=due.get("delay_201_s", 0.0),
        )

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to come, for the control API."""
        with self._lock:
            waiting = self._waiting.items()
            return [{"name": name, "on": kind, "times": times} for (kind, name), (times, _) in waiting]

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        with self._lock:
            self._waiting.clear()

    def _use_up(self, kind: Kind, name: str) -> Any:
        times, value = self._waiting.pop((kind, name))
        if times <= 0:
            return None
        if times > 1:
            self._waiting[kind, name] = (times - 1, value)
        return value

    @staticmethod
    def _read(name: str, value: Any) -> tuple[tuple[Kind, str], tuple[int, Any]]:
        """One entry of `set`, checked."""
        given = value if isinstance(value, dict) else {"times": value}
        times, kind = given.get("times", 1), given.get("on", "calls")
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:
            raise BadFault(f"{name}: times must be a whole number, not {times!r}")
        if kind not in ("calls", "messages"):
            raise BadFault(f"{name}: on must be calls or messages, not {kind!r}")
        if name in _SWITCHES:
            return (kind, name), (times, True)
        if name in _SECONDS:
            seconds = given.get("seconds")
            if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 600:
                raise BadFault(f"{name}: needs seconds, more than 0 and at most 600")
            return (kind, name), (times, float(seconds))
        if name == "rest_error":
            code, status = given.get("code"), given.get("status", 400)
            if not isinstance(code, int) or not isinstance(status, int) or not 400 <= status <= 599:
                raise BadFault("rest_error: needs code, and a status from 400 to 599")
            message = str(given.get("message", "This error was asked for"))
            return (kind, name), (times, RestError(code, status, message))
        raise BadFault(f"no fault is called {name!r}")
