"""The enrolled contacts as one process knows them: it looks for changes once a second, and reads no more than
what has changed. What is kept is store/contacts.py's business, what they may be called for enrolment.py's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from handoff.people_source import LOOK_EVERY_MS
from handoff.policy import Enrolled, People
from handoff.store import EnrolledContacts


class EnrolledPeople:
    """Those who were enrolled, beside those whom the operator has given."""

    def __init__(self, store: EnrolledContacts, clock: Callable[[], int]) -> None:
        """`clock` tells the present, in ms."""
        self._store, self._clock = store, clock
        self._looking = threading.Lock()
        self._looked_at: int | None = None
        self._last: str | None = None
        self._known: Mapping[str, Enrolled] = {}
        self._made: tuple[People, Mapping[str, Enrolled], People] | None = None

    def beside(self, given: People, *, fresh: bool = False) -> People:
        """The given people and the enrolled ones of now. Looks for news at most once a second, or at once
        for `fresh`. Raises redis.RedisError when Redis can't be asked."""
        now = self._clock()
        # One looks, the others go on with what there is; at first there is nothing to go on with.
        wait = fresh or self._looked_at is None
        if (fresh or self._due(now)) and self._looking.acquire(blocking=wait):
            try:
                self._look()
                self._looked_at = now
            finally:
                self._looking.release()
        known = self._known
        if not known:
            return given
        made = self._made
        if made is None or made[0] is not given or made[1] is not known:
            made = self._made = (given, known, given.with_enrolled(known))
        return made[2]

    def _due(self, now: int) -> bool:
        return self._looked_at is None or not 0 <= now - self._looked_at < LOOK_EVERY_MS

    def _look(self) -> None:
        news = self._store.news(self._last)
        if news is None:
            return
        # A new mapping each time: whoever decides by the old one goes on with it.
        known = {} if news.whole else dict(self._known)
        for contact_id, record in news.records.items():
            if record is None:
                known.pop(contact_id, None)
            else:
                known[contact_id] = record.enrolled
        self._known, self._last = known, news.last
