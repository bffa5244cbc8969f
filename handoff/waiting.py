"""How a blocked agent is woken: one reader per process, one in-process event per waiter.

A waiter costs neither a thread nor a connection. The reader follows the stream of wake-ups on a
connection of its own, from a cursor, so that a broken connection loses nothing, and reads what changed
once for all whom it wakes; what this process commits itself wakes its own waiters at once. After every
break, and after falling behind the stream's end, every waiter reads the stored state again, since a silent
reconnect may have missed something (https://github.com/django/channels_redis/issues/256). The answer is
always what was committed.
Under gunicorn's gevent worker `threading` is gevent's: waiting threads are greenlets.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Self

import structlog

from handoff.models import Handoff
from handoff.store import Store, Wake, WakeReader
from handoff.store.connection import ConnectionBroken

log = structlog.get_logger(__name__)

#: In the place of a handoff's id: every change of every handoff. Such a waiter is woken without news.
ANY = "*"


class Waiter:
    """Waits for news of one handoff. `closed_only` waiters sleep through changes that leave it open.

    A lock that is held until there is news: an eighth of the memory of a threading.Event, and there are
    thousands. Leave it with `close`, or use it in a `with` block.
    """

    __slots__ = ("_news", "_silence", "_waiting", "closed_only", "handoff_id")

    def __init__(self, waiting: Waiting, handoff_id: str, closed_only: bool):
        self.handoff_id = handoff_id
        self.closed_only = closed_only
        self._waiting = waiting
        self._silence = threading.Lock()
        self._silence.acquire()
        self._news: Handoff | None = None

    def wait(self, timeout_s: float) -> bool:
        """True when there may be news, False when the time is over. Clears itself for the next wait."""
        return self._silence.acquire(timeout=timeout_s)

    def take_news(self) -> Handoff | None:
        """The handoff as it was read for the newest wake-up, once; None: read the store yourself."""
        news, self._news = self._news, None
        return news

    def wake(self, news: Handoff | None = None) -> None:
        """Ends the wait. `news`, if any, was read from the store after what it tells had happened. Called
        with the lock of `Waiting` held, so that nobody else ends the silence between the two steps."""
        self._news = news
        if self._silence.locked():
            self._silence.release()

    def close(self) -> None:
        """Nobody waits here any more. Leaving twice is leaving once."""
        self._waiting.leave(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Waiting:
    """All waiters of this process. `limit` bounds them, so that people and Twilio always get in."""

    def __init__(self, store: Store, limit: int):
        self.store = store
        self.limit = limit
        self.stopping = False
        self._waiters: dict[str, tuple[Waiter, ...]] = {}  # mostly one each; a set would be four times larger
        self._count = 0
        self._reader: threading.Thread | None = None
        self._lock = threading.Lock()
        store.on_commit(self._committed)

    @property
    def full(self) -> bool:
        """Whether the next waiter has to be turned away with the present state."""
        return self._count >= self.limit

    def register(self, handoff_id: str, *, closed_only: bool) -> Waiter:
        """A new waiter, who hears of every change of this handoff (or of all: ANY) from now on: read the
        stored state afterwards, never before."""
        waiter = Waiter(self, handoff_id, closed_only)
        with self._lock:
            self._start()
            self._waiters[handoff_id] = (*self._waiters.get(handoff_id, ()), waiter)
            self._count += 1
        return waiter

    def count(self, handoff_id: str) -> int:
        """How many wait for news of this handoff, in this process."""
        return len(self._waiters.get(handoff_id, ()))

    def leave(self, waiter: Waiter) -> None:
        """The end of one waiter; see `Waiter.close`."""
        with self._lock:
            everybody = self._waiters.pop(waiter.handoff_id, ())
            others = tuple(one for one in everybody if one is not waiter)
            self._count -= len(everybody) - len(others)
            if others:
                self._waiters[waiter.handoff_id] = others

    def stop(self) -> None:
        """The process is shutting down: every waiter answers with the present state, now."""
        self.stopping = True
        self._wake_all()

    def _start(self) -> None:
        if self._reader is None:
            self._reader = threading.Thread(target=self._read, name="wake-reader", daemon=True)
            self._reader.start()

    def _read(self) -> None:
        """Follows the stream for as long as the process lives."""
        cursor: str | None = None
        while not self.stopping:
            try:
                with self.store.reading_wakes() as wakes:
                    if cursor is None:
                        cursor = wakes.newest()
                    self._wake_all()
                    while not self.stopping:
                        changes = wakes.after(cursor)
                        if wakes.trimmed(cursor, changes):
                            self._wake_all()
                        self._deliver(wakes, [wake for _, wake in changes])
                        cursor = changes[-1][0] if changes else cursor
            except ConnectionBroken as broken:
                log.warning("wake_reader_lost_redis", why=str(broken))
                threading.Event().wait(0.05)
            except Exception as error:  # a reader that ends would leave every waiter of this process deaf
                log.error("wake_reader_failed", exc_info=error)
                threading.Event().wait(1)

    def _committed(self, handoff: Handoff) -> None:
        """This process itself made the change: its own waiters need no way round through the stream."""
        with self._lock:
            waiters = self._concerned(handoff.id, handoff.closed)
            for waiter in waiters:
                waiter.wake(handoff)
            self._wake_onlookers()
        if waiters:
            # What follows the commit takes longer than answering: let the agents go first.
            time.sleep(0)

    def _deliver(self, wakes: WakeReader, changes: Sequence[Wake]) -> None:
        """Wakes whom these changes concern, with one reading of the store for all of them."""
        with self._lock:
            concerned = {one.handoff for one in changes if self._concerned(one.handoff, one.closed)}
            if changes:
                self._wake_onlookers()
        if not concerned:
            return
        news = wakes.handoffs(concerned)
        with self._lock:
            for change in changes:
                for waiter in self._concerned(change.handoff, change.closed):
                    waiter.wake(news.get(change.handoff))

    def _concerned(self, handoff_id: str, closed: bool) -> list[Waiter]:
        return [one for one in self._waiters.get(handoff_id, ()) if closed or not one.closed_only]

    def _wake_onlookers(self) -> None:
        """Who waits for any change reads the list anew, so that nothing is read for them here."""
        for waiter in self._waiters.get(ANY, ()):
            waiter.wake()

    def _wake_all(self) -> None:
        with self._lock:
            for waiters in self._waiters.values():
                for waiter in waiters:
                    waiter.wake()
