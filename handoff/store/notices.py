"""What is kept for operators apart from handoffs: opt-outs and warnings; and how a commit writes them.

Which of them there are to be is decided in opt_outs.py. Each is found by a hash of what it is about; the id
that operators see is random, since ids are in addresses, and addresses get into logs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from handoff import ids
from handoff.effects import EffectKind
from handoff.models import Channel
from handoff.notices import Notices, OptOut, Warned, Warning, opt_out_key
from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace
from handoff.store.transaction import Transaction


class OptOuts:
    """Who wants no more calls or texts. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis: Any = connections.commands
        self._keys = keys

    def of(self, channel: Channel, number: str, sender: str | None = None) -> OptOut | None:
        """The opt-out of this number (E.164) from calls, or from texts of this sender, if there is one."""
        return self.by_key(opt_out_key(channel, number, sender))

    def from_calls(self, number: str) -> bool:
        """Whether this number is not to be called any more."""
        return self.of(Channel.CALL, number) is not None

    def from_texts(self, number: str, sender: str) -> bool:
        """Whether no text of this sender to this number is even tried."""
        stopped = self.of(Channel.TEXT, number, sender)
        return stopped is not None and not stopped.tried_again

    def by_key(self, key: str) -> OptOut | None:
        """The opt-out that is found by this key."""
        return _opt_out(self._redis.hmget(self._keys.opt_out(key), "doc", "id"))

    def all(self) -> list[OptOut]:
        """All of them, newest first."""
        pipe = self._redis.pipeline(transaction=False)
        for key in self._redis.smembers(self._keys.opt_outs):
            pipe.hmget(self._keys.opt_out(key), "doc", "id")
        found = [one for one in map(_opt_out, pipe.execute()) if one is not None]
        return sorted(found, key=lambda one: -one.at)

    def first_within(self, what: str, who: str, window_ms: int) -> bool:
        """Whether `who` was the first to come for this within the window: asked again, the same is told."""
        key = self._keys.once(hashlib.sha256(what.encode()).hexdigest())
        pipe = self._redis.pipeline(transaction=True)
        pipe.set(key, who, nx=True, px=window_ms)
        pipe.get(key)
        return bool(pipe.execute()[1] == who)

    def due_calls(self) -> list[str]:
        """Ids of the calls that are to be placed, now or later. Goes through the whole outbox: for what is
        rare."""
        kind = f"{EffectKind.PLACE_CALL}-"
        return [row.removeprefix(kind) for row, _ in self._redis.hscan_iter(self._keys.effects, kind + "*")]


class Warnings:
    """What an operator must act on. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis: Any = connections.commands
        self._keys = keys

    def all(self) -> list[Warning]:
        """All of them, those seen last first."""
        pipe = self._redis.pipeline(transaction=False)
        for key in self._redis.zrange(self._keys.warnings, 0, -1, desc=True):
            pipe.hmget(self._keys.warning(key), "doc", "id", "first", "last", "count")
        found = [one for one in map(_warning, pipe.execute()) if one is not None]
        for one in found:
            pipe.hget(self._keys.opt_out(one.about.opt_out or "none"), "id")
        return [
            one.model_copy(update={"opt_out": id_}) for one, id_ in zip(found, pipe.execute(), strict=True)
        ]

    def told_first(self, warned: Warned) -> bool:
        """Whether this is the first time that it is seen."""
        return bool(self._redis.hget(self._keys.warning(warned.key), "count") == "1")


def put_notices(tx: Transaction, keys: Keyspace, all_of: Iterable[Notices], now: int) -> None:
    """Writes them into a commit. What was seen twice is one row that counts."""
    for notices in all_of:
        for key in notices.lifted:
            tx.write("DEL", keys.opt_out(key))
            tx.write("SREM", keys.opt_outs, key)
        for key in notices.cleared:
            tx.write("DEL", keys.warning(key))
            tx.write("ZREM", keys.warnings, key)
        for opt_out in notices.opt_outs:
            # What the provider lets us guess never takes the place of what the person said.
            put = "HSETNX" if opt_out.tried_again else "HSET"
            tx.write(put, keys.opt_out(opt_out.key), "doc", opt_out.model_dump_json(exclude_none=True))
            tx.write("HSETNX", keys.opt_out(opt_out.key), "id", ids.new_id(ids.OPT_OUT))
            tx.write("SADD", keys.opt_outs, opt_out.key)
        for warned in notices.warned:
            row = keys.warning(warned.key)
            tx.write("HSET", row, "doc", warned.model_dump_json(exclude_none=True), "last", str(now))
            tx.write("HSETNX", row, "id", ids.new_id(ids.WARNING))
            tx.write("HSETNX", row, "first", str(now))
            tx.write("HINCRBY", row, "count", "1")
            tx.write("ZADD", keys.warnings, str(now), warned.key)


def _opt_out(found: list[str | None]) -> OptOut | None:
    doc, given = found
    return OptOut.model_validate_json(doc).model_copy(update={"id": given}) if doc else None


def _warning(found: list[str | None]) -> Warning | None:
    doc, given, first, last, count = found
    if not (doc and given and first and last and count):
        return None
    about = Warned.model_validate_json(doc)
    return Warning(id=given, about=about, first=int(first), last=int(last), count=int(count))
