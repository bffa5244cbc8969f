"""Which faults are still to come, and which of them befall the call or text that begins now.

A fault is still to come until it befalls something, which many do only later in a call, or never. Each
armed fault has a number of times, or a chance that is drawn from the seed, so that one seed gives the same
run again. What the faults are is `fault_catalogue.py`; doing them is the driver's and the web layer's.
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


@dataclass
class _Armed:
    """One fault still to come. `times` None = without end; `draws` decides when there is a `chance`.

    So many of the times are `promised` to plans in which it did not happen yet.
    """

    values: dict[str, Any]
    times: int | None
    chance: float | None
    draws: random.Random
    promised: int = 0

    def draw(self) -> bool:
        """Whether it is in the next plan. It always draws, so that what else goes on changes no draw."""
        drawn = self.chance is None or self.draws.random() < self.chance
        return drawn and (self.times is None or self.promised < self.times)


@dataclass(frozen=True)
class FaultPlan:
    """What is to go wrong with one call or text: names of the catalogue with their values.

    `luck` is for choices while it goes on, such as which callbacks change places; `open` are the faults that
    did not happen yet.
    """

    due: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    luck: random.Random = field(default_factory=lambda: random.Random(0))
    open: dict[str, _Armed] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def has(self, name: str) -> bool:
        """Whether this fault is due. Raises KeyError for a name in no catalogue."""
        return FAULTS[name].name in self.due

    def befalls(self, name: str) -> bool:
        """Whether this fault is due, and if so note that it happens now. Only where it befalls something."""
        if not self.has(name):
            return False
        with self.lock:
            if armed := self.open.pop(name, None):
                armed.promised -= 1
                if armed.times is not None:
                    armed.times -= 1
        return True

    def value(self, name: str, need: str) -> Any:
        """A value of a fault that is due."""
        return self.due[name][need]

    def seconds(self, name: str) -> float:
        """The seconds of a fault that is due."""
        return float(self.due[name]["seconds"])

    def give_back(self) -> None:
        """There will be no such call or text: what did not happen is for the next one."""
        with self.lock:
            for armed in self.open.values():
                armed.promised -= 1
            self.open.clear()


NO_FAULTS = FaultPlan()
"""All goes right."""


class Faults:
    """The faults still to come. Safe to use from any thread."""

    def __init__(self) -> None:
        """Nothing goes wrong."""
        self._lock = threading.Lock()
        self._armed: dict[tuple[Kind, str], _Armed] = {}
        self._seed = 0
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
        with self._lock:
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
        """What is to go wrong with the call or text that begins now."""
        with self._lock:
            self._begun[kind] += 1
            luck = f"{self._seed}/{kind}/{self._begun[kind]}"
            drawn = {name: armed for (on, name), armed in self._armed.items() if on == kind and armed.draw()}
            if not drawn:
                return NO_FAULTS
            for armed in drawn.values():
                armed.promised += 1
        due = {name: armed.values for name, armed in drawn.items()}
        return FaultPlan(due, random.Random(luck), drawn, self._lock)

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to come, for the control API; `times` None = without end."""
        with self._lock:
            return [
                {"name": name, "on": kind, "times": armed.times, "chance": armed.chance, **armed.values}
                for (kind, name), armed in self._armed.items()
                if armed.times != 0
            ]

    @property
    def seed(self) -> int:
        """What the draws start from."""
        with self._lock:
            return self._seed

    def clear(self) -> None:
        """Nothing goes wrong any more, and the seed is 0 again."""
        with self._lock:
            self._armed.clear()
            self._begun.clear()
            self._seed = 0


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
    if chance is not None and not (_is_number(chance) and 0 < chance <= 1):
        raise BadFault(f"{name}: chance must be a number above 0 and at most 1, not {chance!r}")
    times = entry.get("times", 1 if chance is None else None)
    if not (_is_whole(times) and times >= 0 if times is not None else chance is not None):
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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
