"""The people file as all machines share it: its text, and what was wrong with a later one.

Which text is good, and who reads the file, is people_source.py's business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace


@dataclass(frozen=True)
class SharedText:
    """A text and its version; `stamp` says when it was written (ms), which orders the texts of machines."""

    text: str
    version: str
    stamp: int


class SharedPeople:
    """One hash in Redis. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis = connections.commands
        self._key = keys.people

    def version(self) -> str | None:
        """Which version is shared now; None before the first."""
        found = self._redis.hget(self._key, "version")
        return str(found) if found else None

    def read(self) -> SharedText | None:
        """The shared text; None before the first."""
        found = cast("list[str | None]", self._redis.hmget(self._key, "text", "version", "stamp"))
        text, version, stamp = found
        return SharedText(text, version, int(stamp)) if text and version and stamp else None

    def publish(self, given: SharedText) -> bool:
        """Shares this text from now on, unless a newer one is shared. Whether it is the shared one now."""
        done: list[bool] = []

        def put(pipe: Any) -> None:
            version, stamp = pipe.hmget(self._key, "version", "stamp")
            done[:] = [version == given.version or given.stamp >= int(stamp or 0)]
            pipe.multi()
            if done[0] and version != given.version:
                kept = {"text": given.text, "version": given.version, "stamp": given.stamp}
                pipe.hset(self._key, mapping=kept)

        self._redis.transaction(put, self._key)
        return done[0]

    def put_problems(self, where: str, problems: Sequence[str]) -> None:
        """What is wrong with the file at this place (machine and path); nothing when it is good (again)."""
        if problems:
            self._redis.hset(self._key, f"problems:{where}", json.dumps(list(problems)))
        else:
            self._redis.hdel(self._key, f"problems:{where}")

    def problems(self) -> Mapping[str, list[str]]:
        """Of each place whose file can't be used: what is wrong with it."""
        found = cast("dict[str, str]", self._redis.hgetall(self._key))
        marked = {name.partition(":"): value for name, value in found.items()}
        return {where: json.loads(value) for (kind, _, where), value in marked.items() if kind == "problems"}
