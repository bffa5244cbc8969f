"""Which faults are still to come, and which of them befall the call or text that begins now.

Each armed fault has a number of times, or a chance that is drawn from the seed, so that one seed gives the
same run again. What the faults are is `fault_catalogue.py`; doing them is the driver's and the web layer's.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .fault_catalogue import FAULTS, Kind

OWN_KEYS = ("times", "on", "chance")


class BadFault(ValueError):
    """A fault that does not exist, or with values that make no sense."""


@dataclass(frozen=True)
class FaultPlan:
    """What goes wrong with one call or text: names of the catalogue with their values.

    `luck` is for choices while it goes on, such as which callbacks change places.
    """

    due: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    luck: random.Random = field(default_factory=lambda: random.Random(0))

    def has(self, name: str) -> bool:
        """Whether this fault is due. Raises KeyError for a name that is in no catalogue."""
        return FAULTS[name].name in self.due

    def value(self, name: str, need: str) -> Any:
        """A value of a fault that is due."""
        return self.due[name][need]

    def seconds(self, name: str) -> float:
        """The seconds of this fault, 0 when it is not due."""
        return float(self.due[name]["seconds"]) if self.has(name) else 0.0

    @property
    def fetch_lag_s(self) -> float:
        """How far reads lag behind, in seconds of the line."""
        return self.seconds("fetch_lag_s")


NO_FAULTS = FaultPlan()
"""All goes right."""


@dataclass
class _Armed:
    """One fault still to come. `times` None = without end; `draws` decides when there is a `chance`."""

    values: dict[str, Any]
    times: int | None
    chance: float | None
    draws: random.Random


class Faults:
    """The faults still to come. Safe to use from any thread."""

    def __init__(self) -> None:
        """Nothing goes wrong."""
        self._changed = threading.Condition()
        self._armed: dict[tuple[Kind, str], _Armed] = {}
        self._seed, self._resets = 0, 0
        self._begun: Counter[Kind] = Counter()

    def set(self, wanted: Mapping[str, Any]) -> None:
        """Take `{"name": times}`, or `{"name": {"times": 1, "chance": 0.3, "on": "calls", ...values}}`.

        0 times takes a fault back. With a chance each call or text draws, without end unless `times` limits
        it. The key `seed` starts all draws anew. Raises BadFault and then changes nothing.
        """
        seed = wanted.get("seed", self._seed)
        if not _is_whole(seed):
            raise BadFault(f"seed must be a whole number, not {seed!r}")
        changes = [_read(name, value, seed) for name, value in wanted.items() if name != "seed"]
        with self._changed:
            if "seed" in wanted:
                self._seed = seed
                self._begun.clear()
                for (kind, name), armed in self._armed.items():
                    armed.draws = _draws(seed, kind, name)
            for key, armed in changes:
                if armed.times == 0:
                    self._armed.pop(key, None)
                else:
                    self._armed[key] = armed

    def take(self, kind: Kind) -> FaultPlan:
        """What goes wrong with the call or text that begins now."""
        with self._changed:
            self._begun[kind] += 1
            drawn = {name: self._use_up(on, name) for on, name in list(self._armed) if on == kind}
            due = {name: values for name, values in drawn.items() if values is not None}
            luck = f"{self._seed}/{kind}/{self._begun[kind]}"
        return FaultPlan(due, random.Random(luck)) if due else NO_FAULTS

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to come, for the control API; `times` None = without end."""
        with self._changed:
            return [
                {"name": name, "on": kind, "times": armed.times, "chance": armed.chance, **armed.values}
                for (kind, name), armed in self._armed.items()
            ]

    @property
    def seed(self) -> int:
        """What the draws start from."""
        with self._changed:
            return self._seed

    def hold(self, seconds: float | None) -> bool:
        """Wait so many seconds of the world, or for ever; True when `clear` ended the wait before."""
        with self._changed:
            since = self._resets
            return self._changed.wait_for(lambda: self._resets != since, seconds)

    def clear(self) -> None:
        """Nothing goes wrong any more, the seed is 0 again, and whoever is held goes on."""
        with self._changed:
            self._armed.clear()
            self._begun.clear()
            self._seed = 0
            self._resets += 1
            self._changed.notify_all()

    def _use_up(self, kind: Kind, name: str) -> dict[str, Any] | None:
        armed = self._armed[kind, name]
        if armed.chance is not None and armed.draws.random() >= armed.chance:
            return None
        if armed.times is not None:
            armed.times -= 1
            if armed.times == 0:
                del self._armed[kind, name]
        return armed.values


def _read(name: str, given: Any, seed: int) -> tuple[tuple[Kind, str], _Armed]:
    """One entry of `Faults.set`, checked."""
    fault = FAULTS.get(name)
    if fault is None:
        raise BadFault(f"no fault is called {name!r}; there are {', '.join(FAULTS)}")
    entry = given if isinstance(given, dict) else {"times": given}
    if unknown := sorted(set(entry) - {*OWN_KEYS, *(need.name for need in fault.needs)}):
        raise BadFault(f"{name}: has no {', '.join(unknown)}")
    on, chance = entry.get("on", fault.on[0]), entry.get("chance")
    if on not in fault.on:
        raise BadFault(f"{name}: on is one of {', '.join(fault.on)}, not {on!r}")
    if chance is not None and not (isinstance(chance, int | float) and 0 < chance <= 1):
        raise BadFault(f"{name}: chance must be a number above 0 and at most 1, not {chance!r}")
    times = entry.get("times", 1 if chance is None else None)
    if times is not None and not (_is_whole(times) and times >= 0):
        raise BadFault(f"{name}: times must be a whole number from 0, not {times!r}")
    values = {need.name: entry.get(need.name, need.default) for need in fault.needs}
    if times != 0 and (bad := [str(need) for need in fault.needs if not need.fits(values[need.name])]):
        raise BadFault(f"{name}: needs {', '.join(bad)}")
    return (on, name), _Armed(values, times, chance, _draws(seed, on, name))


def _draws(seed: int, kind: Kind, name: str) -> random.Random:
    """Independent of every other fault, so that one more fault does not change when the others come."""
    return random.Random(f"{seed}/{kind}/{name}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
