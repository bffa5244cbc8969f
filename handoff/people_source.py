"""The people of this moment: read from the file when it changes, shared with all machines through Redis.

A broken edit changes nothing: the last good version goes on; `handoff doctor` and the log say what is wrong.
What the file may say is people_file.py's business.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import structlog

from handoff import people_file
from handoff.moments import SECOND
from handoff.people_file import BadPeople
from handoff.policy import People
from handoff.store import SharedPeople, SharedText

log = structlog.get_logger(__name__)

#: How often the file and the shared version are looked at, at most.
LOOK_EVERY_MS = SECOND


def from_file(path: Path, not_number: str) -> People:
    """The people that the file at `path` names now. Raises BadPeople; each problem begins with its name."""
    try:
        data = path.read_bytes()[: people_file.MAX_BYTES + 1]
        text = data.decode()
    except OSError as error:
        raise BadPeople([f"{path}: can't be read ({error.strerror})"]) from None
    except UnicodeDecodeError:
        raise BadPeople([f"{path.name}: is not UTF-8 text"]) from None
    if len(data) > people_file.MAX_BYTES:
        raise BadPeople([f"{path.name}: is larger than {people_file.MAX_BYTES // 1_000:,} kB"])
    try:
        return people_file.parse(text, not_number=not_number)
    except BadPeople as error:
        raise BadPeople([f"{path.name}, {problem}" for problem in error.problems]) from None


def _seen(path: Path) -> tuple[int, int]:
    """When the file was written (ns) and its size: other ones mean another text. Zeros when there is none."""
    try:
        stat = path.stat()
    except OSError:
        return (0, 0)
    return (stat.st_mtime_ns, stat.st_size)


class PeopleFile:
    """The people of a set-up with a people file, as every process has them."""

    def __init__(
        self, path: Path, shared: SharedPeople, clock: Callable[[], int], *, not_number: str
    ) -> None:
        """`not_number` is the number that calls are placed from (E.164)."""
        self.path, self._shared, self._clock, self._not_number = path, shared, clock, not_number
        self._people: People | None = None
        self._looked_at: int | None = None
        self._seen: tuple[int, int] | None = None
        self._unreadable: str | None = None

    def present(self) -> People:
        """Everybody who can be reached now. Looks for news at most once a second.

        Raises BadPeople when no good version was ever seen, and redis.RedisError when Redis can't be asked.
        """
        now = self._clock()
        since = None if self._looked_at is None else now - self._looked_at
        if since is None or not 0 <= since < LOOK_EVERY_MS:
            self._looked_at = now
            problems = self._look_at_file(now)
            self._look_at_shared()
            if self._people is None:
                self._looked_at = None
                raise BadPeople(problems or [f"{self.path}: nothing was read from it yet"])
        assert self._people is not None
        return self._people

    def _look_at_file(self, now: int) -> list[str]:
        """Shares the file's text when it is new and good; else what is wrong with it."""
        first, seen = self._seen is None, _seen(self.path)
        if seen == self._seen:
            return []
        self._seen, stamp = seen, seen[0] // 1_000_000 if first else now
        try:
            people = from_file(self.path, self._not_number)
        except BadPeople as error:
            log.error("people_file_not_usable", path=str(self.path), problems=error.problems)
            self._shared.put_problems(self._place, error.problems)
            return error.problems
        # An edit that is seen to happen is of now, whatever date a copy gave the file.
        if not self._shared.publish(SharedText(people.source, people.version, stamp)):
            log.warning("people_file_is_older", path=str(self.path), version=people.version)
        self._shared.put_problems(self._place, [])
        return []

    def _look_at_shared(self) -> None:
        version = self._shared.version()
        if (
            version is None
            or version == self._unreadable
            or (self._people and self._people.version == version)
        ):
            return
        kept = self._shared.read()
        if kept is None:
            return
        try:
            self._people = people_file.parse(kept.text, not_number=self._not_number)
        except BadPeople as error:
            # Another version of this service may have taken it; what was good here stays.
            log.error("shared_people_not_usable", version=kept.version, problems=error.problems)
            self._unreadable = kept.version
            return
        log.info("people", version=kept.version, contacts=len(self._people.contacts))

    @property
    def _place(self) -> str:
        return f"{platform.node()}:{self.path}"
