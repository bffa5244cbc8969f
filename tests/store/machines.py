"""Machines that share one people file through Redis, each with a copy of its own. Redis may fail."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import redis

from handoff.moments import MINUTE, SECOND
from handoff.people_source import PeopleFile
from handoff.store import SharedPeople, SharedText, Store
from handoff.store.shared_people import Publication

ADA = '[contacts.ada]\nname = "Ada"\nnumbers = ["+12125550123"]\n'
BEN = '[contacts.ben]\nname = "Ben"\nnumbers = ["+12125550124"]\n'
CY = '[contacts.cy]\nname = "Cy"\nnumbers = ["+12125550125"]\n'
BROKEN = ADA.replace("numbers", "number")
NOW = 1_800_000_000_000


class Flaky(SharedPeople):
    """Reaches Redis, but for what `fails`, so many times."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.connections, store.keys)
        self.fails: dict[str, int] = {}

    def _reach(self, what: str) -> None:
        if self.fails.get(what):
            self.fails[what] -= 1
            raise redis.ConnectionError("away")

    def current(self) -> Publication | None:
        self._reach("current")
        return super().current()

    def read(self) -> SharedText | None:
        self._reach("read")
        return super().read()

    def publish(self, given: SharedText, over: Publication | None = None) -> Publication:
        self._reach("publish")
        return super().publish(given, over)

    def put_problems(self, where: str, problems: Sequence[str], now: int) -> None:
        self._reach("put_problems")
        super().put_problems(where, problems, now)


class Machines:
    """Copies of the file, processes that read them, and one clock for all, which only the test moves."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.now = NOW
        self.store, self._folder = store, folder
        self.shared = Flaky(store)
        self._processes: list[PeopleFile] = []

    def file(self, machine: str) -> Path:
        return self._folder / f"{machine}.toml"

    def edit(self, machine: str, text: str, *, dated: int | None = None) -> None:
        """A minute later, somebody writes the file; it gets a wrong date only if the test says so."""
        self.now += MINUTE
        self.file(machine).write_text(text)
        date = self.now if dated is None else dated
        os.utime(self.file(machine), ns=(date * 1_000_000, date * 1_000_000))
        self.now += 2 * SECOND

    def process(self, machine: str) -> PeopleFile:
        """One that has started there, and not looked yet."""
        self._processes.append(
            PeopleFile(self.file(machine), self.shared, lambda: self.now, not_number="+12125550100")
        )
        return self._processes[-1]

    def reaches(self, process: PeopleFile) -> str:
        """Whom it would ring, when it next has something to do."""
        self.now += 2 * SECOND
        return " ".join(one.id for one in process.present().contacts)

    def everywhere(self) -> set[str]:
        """The same of all, after each has looked twice."""
        return {self.reaches(one) for one in self._processes * 2}

    def problems(self, machine: str) -> list[str]:
        return self.shared.problems(self.now).get(
            self._processes[0].place.replace("a.toml", f"{machine}.toml"), []
        )

    def stamp(self) -> int:
        current = self.shared.current()
        assert current is not None
        return current.stamp
