"""The people of this moment: read from the file when it changes, shared with all machines through Redis.

What the file may say is people_file.py's business. A broken edit changes nothing: the last good version goes
on. Whatever keeps the file here from being the one in use is on record at the place it concerns, until it is
over: `handoff doctor`, `/readyz` and the log tell it.

Each machine may have a copy of its own, and several processes, any of which may look at it late. So that the
newest *edit* counts, and not whoever looked last:

1. An edit is dated by its file, never by when a process saw it. A date in the future says nothing; such an
   edit is dated from when this process last saw the file as it was before, or not at all.
2. It replaces what is shared if its date is later than that of the shared one (its stamp).
3. It also replaces what is shared if this process knows that it came after that: because its own file was
   that very text when it last looked (an older file was put back with its date: `cp -p`, `rsync -t`; or the
   clock was set back), or because its date is later than when this process first saw that publication (which
   was stamped by a clock that is ahead).
4. Every publication has a later stamp than the one before, so that one is never taken for another with the
   same text. A stamp that is more than a day ahead comes from a clock that was wrong, and becomes "now".
5. What does not replace it stays unused, and that is said.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import structlog

from handoff import people_file
from handoff.moments import DAY, MINUTE, SECOND
from handoff.people_file import BadPeople
from handoff.policy import People
from handoff.store import SharedPeople, SharedText
from handoff.store.shared_people import Publication

log = structlog.get_logger(__name__)

#: How often the file and the shared version are looked at, at most.
LOOK_EVERY_MS = SECOND
#: How often it is said again what is wrong, or that nothing is.
NOTE_EVERY_MS = 5 * MINUTE
#: How far a file's date may be ahead of our clock without being a wrong one: a file server has its own.
SKEW_MS = 10 * SECOND
#: How far the shared stamp may be ahead before it is taken for a mistake.
MOST_AHEAD_MS = DAY


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


def place(path: Path) -> str:
    """Where problems with the file of this machine are on record."""
    return f"{platform.node()}:{path}"


def not_in_use(path: Path, here: str, used: str) -> str:
    """What is wrong when the file of version `here` is good, and `used` is shared."""
    return (
        f"{path.name} is not the one in use (version {used}; this one is {here}): there is a later edit, "
        "or this file's date is wrong. To use this one, save it again"
    )


@dataclass(frozen=True)
class _Seen:
    """What tells one state of a file from another, whatever date it was given. Zeros: there is none."""

    written_ns: int = 0
    changed_ns: int = 0  # also by a copy that keeps the date, or another file under this name
    inode: int = 0
    size: int = 0

    @classmethod
    def at(cls, path: Path) -> _Seen:
        try:
            stat = path.stat()
        except OSError:
            return cls()
        return cls(stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size)


@dataclass(frozen=True)
class _Reading:
    """One state of the file: its people, or what is wrong with it; when it was edited (ms), as far as its
    date tells; and when the state before it was seen last (0: never)."""

    seen: _Seen
    people: People | None
    problems: tuple[str, ...]
    edited: int
    not_before: int


class PeopleFile:
    """The people of a set-up with a people file, as every process has them."""

    def __init__(
        self, path: Path, shared: SharedPeople, clock: Callable[[], int], *, not_number: str
    ) -> None:
        """`not_number` is the number that calls are placed from (E.164)."""
        self.path, self._shared, self._clock, self._not_number = path, shared, clock, not_number
        self.place = place(path)
        self._people: People | None = None
        self._looking = threading.Lock()
        self._looked_at: int | None = None
        self._reading: _Reading | None = None
        self._read_at = 0
        self._known: Publication | None = None  # what is shared, as far as this process knows
        self._known_since = 0  # when it first saw that
        self._ours: Publication | None = None  # the last of those that was the text of the file here
        self._unreadable: tuple[str, list[str]] | None = None  # version, and what is wrong with it here
        self._noted: list[str] = []
        self._noted_at = -NOTE_EVERY_MS

    def present(self, *, fresh: bool = False) -> People:
        """Everybody who can be reached now. Looks for news at most once a second, or at once for `fresh`.

        Raises BadPeople when no good version was ever seen, and redis.RedisError when Redis can't be asked.
        """
        now = self._clock()
        wrong: list[str] = []
        # One looks, the others go on with what there is.
        wait = fresh or self._people is None
        if (fresh or self._due(now)) and self._looking.acquire(blocking=wait):
            try:
                wrong = self._look(now)
            finally:
                self._looking.release()
        if self._people is None:
            raise BadPeople(wrong or [f"{self.path}: nothing was read from it yet"])
        return self._people

    def _due(self, now: int) -> bool:
        if self._people is None or self._looked_at is None:
            return True
        return not 0 <= now - self._looked_at < LOOK_EVERY_MS

    def _look(self, now: int) -> list[str]:
        """What is wrong. Whatever Redis did not take is given to it again by the next look."""
        self._looked_at = now
        shared = self._shared.current()
        if shared and shared.stamp > now + MOST_AHEAD_MS:
            log.warning("people_stamp_redated", version=shared.version, ahead_ms=shared.stamp - now)
            shared = self._shared.redate(shared, now)
        self._know(shared, now)
        reading = self._read(now)
        if reading.people is not None:
            if shared is None or shared.version != reading.people.version:
                shared = self._publish(reading, reading.people, shared, now)
                self._know(shared, now)
            if shared.version == reading.people.version:
                self._ours = shared
        self._take(shared, reading)
        wrong = self._wrong(shared, reading)
        self._note(wrong, now)
        return wrong

    def _know(self, shared: Publication | None, now: int) -> None:
        if shared != self._known:
            self._known, self._known_since = shared, now

    def _read(self, now: int) -> _Reading:
        """The file as it is now; reads it only if it is another than before."""
        seen, before = _Seen.at(self.path), self._read_at
        self._read_at = now
        if self._reading is None or self._reading.seen != seen:
            people: People | None = None
            problems: tuple[str, ...] = ()
            try:
                people = from_file(self.path, self._not_number)
            except BadPeople as error:
                problems = tuple(error.problems)
            dated = seen.written_ns // 1_000_000
            edited = min(dated, now) if dated <= now + SKEW_MS else before
            self._reading = _Reading(seen, people, problems, edited, before)
        return self._reading

    def _publish(
        self, reading: _Reading, people: People, shared: Publication | None, now: int
    ) -> Publication:
        """Shares the file's text if it is the newest edit. What is shared then."""
        stamp, over = reading.edited, None
        if shared is None:
            stamp = stamp or now
        elif shared == self._ours:
            stamp, over = max(stamp, reading.not_before), shared
        elif stamp > self._known_since:
            over = shared
        return self._shared.publish(SharedText(people.source, people.version, stamp), over)

    def _take(self, shared: Publication | None, reading: _Reading) -> None:
        """Goes over to the shared version, if it is another one and can be used."""
        if shared is None or (self._people and self._people.version == shared.version):
            return
        if reading.people and reading.people.version == shared.version:
            self._people = reading.people
        elif self._unreadable is None or self._unreadable[0] != shared.version:
            kept = self._shared.read()
            if kept is None:
                return
            try:
                self._people = people_file.parse(kept.text, not_number=self._not_number)
            except BadPeople as error:
                # Another version of this service may have taken it; what was good here stays.
                self._unreadable = (kept.version, error.problems)
                return
        else:
            return
        log.info("people", version=self._people.version, contacts=len(self._people.contacts))

    def _wrong(self, shared: Publication | None, reading: _Reading) -> list[str]:
        """Why the file here is not the one in use, or the one in use is not in use here."""
        wrong = list(reading.problems)
        if reading.people and shared and shared.version != reading.people.version:
            wrong.append(not_in_use(self.path, reading.people.version, shared.version))
        if self._unreadable and shared and self._unreadable[0] == shared.version:
            wrong.append(f"version {shared.version}, which is shared, can't be used here:")
            wrong += self._unreadable[1]
        return wrong

    def _note(self, wrong: list[str], now: int) -> None:
        """Puts on record what is wrong, or that nothing is: at once when that is news, else now and then."""
        news = wrong != self._noted
        if news and wrong:
            log.error("people_file_not_in_use", path=str(self.path), problems=wrong)
        if news or not 0 <= now - self._noted_at < NOTE_EVERY_MS:
            self._shared.put_problems(self.place, wrong, now)
            self._noted, self._noted_at = wrong, now
