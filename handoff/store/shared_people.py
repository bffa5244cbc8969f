"""The people file as all machines share it: its text, and at which machines something is wrong with a file.

Which text is good, when it was edited, and who reads the file, is people_source.py's business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from handoff.moments import HOUR
from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace

#: A problem that was not noted again for so long is nobody's any more: its machine is gone.
PROBLEM_LASTS_MS = HOUR


@dataclass(frozen=True)
class Publication:
    """One text that was shared at one time. No two have the same stamp: each is later than the one before."""

    version: str
    stamp: int  # when it was edited, ms


@dataclass(frozen=True)
class SharedText:
    """A text and its version; `stamp` says when it was edited (ms), which orders the texts of machines."""

    text: str
    version: str
    stamp: int


class SharedPeople:
    """Two hashes in Redis. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis = connections.commands
        self._key, self._problems = keys.people, keys.people_problems

    def current(self) -> Publication | None:
        """What is shared now; None before the first. Does not fetch the text."""
        return _publication(self._redis.hmget(self._key, "version", "stamp"))

    def read(self) -> SharedText | None:
        """The shared text; None before the first."""
        found = cast("list[str | None]", self._redis.hmget(self._key, "text", "version", "stamp"))
        text, version, stamp = found
        return SharedText(text, version, int(stamp)) if text and version and stamp else None

    def publish(self, given: SharedText, over: Publication | None = None) -> Publication:
        """Shares this text from now on if its stamp is later than that of the shared one, or if that one is
        `over`, which it is known to follow. Answers with what is shared then."""
        left: list[Publication] = []

        def put(pipe: Any) -> None:
            there = _publication(pipe.hmget(self._key, "version", "stamp"))
            pipe.multi()
            if there and (there.version == given.version or (given.stamp <= there.stamp and there != over)):
                left[:] = [there]
                return
            left[:] = [Publication(given.version, max(given.stamp, there.stamp + 1 if there else 0))]
            kept = {"text": given.text, "version": given.version, "stamp": left[0].stamp}
            pipe.hset(self._key, mapping=kept)

        self._redis.transaction(put, self._key)
        return left[0]

    def redate(self, given: Publication, stamp: int) -> Publication:
        """Gives the shared text another stamp, if it is this one still. Answers with what is shared then."""
        left: list[Publication] = []

        def put(pipe: Any) -> None:
            there = _publication(pipe.hmget(self._key, "version", "stamp"))
            pipe.multi()
            left[:] = [there if there and there != given else Publication(given.version, stamp)]
            if there == given:
                pipe.hset(self._key, "stamp", stamp)

        self._redis.transaction(put, self._key)
        return left[0]

    def put_problems(self, where: str, problems: Sequence[str], now: int) -> None:
        """What is wrong with the file at this place (machine and path) at `now`; nothing when it is good
        (again). While it is wrong, it has to be said again: see PROBLEM_LASTS_MS."""
        if problems:
            self._redis.hset(self._problems, where, json.dumps({"at": now, "problems": list(problems)}))
        else:
            self._redis.hdel(self._problems, where)

    def problems(self, now: int) -> Mapping[str, list[str]]:
        """Of each place with a file that can't be used, or is not the one in use: what is wrong with it."""
        found = cast("dict[str, str]", self._redis.hgetall(self._problems))
        noted = {where: json.loads(value) for where, value in found.items()}
        if old := [where for where, one in noted.items() if abs(now - one["at"]) > PROBLEM_LASTS_MS]:
            self._redis.hdel(self._problems, *old)
        return {where: one["problems"] for where, one in noted.items() if where not in old}


def _publication(found: Any) -> Publication | None:
    version, stamp = found
    return Publication(version, int(stamp)) if version and stamp else None
