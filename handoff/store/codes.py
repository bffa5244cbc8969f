"""What is kept of a code, and the two steps that change it: made good once, used up once (lua/commit.lua).

How codes are derived is handoff/codes.py's business. Moments are ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from handoff.store.keyspace import Keyspace
from handoff.store.transaction import Transaction


@dataclass(frozen=True)
class Code:
    """Whose code it is, which one of its place, until when it is good; and the command that used it up."""

    handoff: str
    contact: str
    place: str
    number: int
    until: int
    used_by: str = ""

    def text(self) -> str:
        """As it is kept."""
        words = [self.handoff, self.contact, self.place, str(self.number), str(self.until), self.used_by]
        return "|".join(words)


class Codes:
    """The live codes of an installation, and for as long as they would have been live the used ones."""

    def __init__(self, client: Any, keys: Keyspace, commit: Callable[..., Any]) -> None:
        """`commit` runs lua/commit.lua."""
        self._redis, self._keys, self._commit = client, keys, commit

    def number(self, handoff_id: str, place: str) -> int:
        """The number of the code that this place has, or is to have next; 0 at first."""
        return int(self._redis.hget(self._keys.codes_of(handoff_id), place) or 0)

    def put(self, code_hash: str, code: Code, now: int) -> bool:
        """Makes a code good; doing it twice is doing it once. False when it is another's, or was used."""
        tx, key = Transaction(self._keys), self._keys.code(code_hash)
        tx.guard(key, "", "")
        tx.write("SET", key, code.text(), "PX", str(max(1, code.until - now)))
        tx.write("HSET", self._keys.codes_of(code.handoff), code.place, str(code.number))
        tx.write("SADD", self._keys.code_hashes_of(code.handoff), code_hash)
        if self._done(tx):
            return True
        found = self.read(code_hash)
        return found is not None and replace(found, until=code.until) == code

    def read(self, code_hash: str) -> Code | None:
        """What is kept under this hash of a code, used or not."""
        text = self._redis.get(self._keys.code(code_hash))
        if not text:
            return None
        handoff, contact, place, number, until, used_by = text.split("|", 5)
        return Code(handoff, contact, place, int(number), int(until), used_by)

    def use(self, code_hash: str, code: Code, command: str) -> bool:
        """Uses up a code that was read as `code`; the next one of its place is another. True once, and again
        for the same command; False when another one was quicker."""
        if not code.used_by:
            tx, key = Transaction(self._keys), self._keys.code(code_hash)
            tx.guard(key, "", code.text())
            tx.write("SET", key, replace(code, used_by=command).text(), "KEEPTTL")
            tx.write("HSET", self._keys.codes_of(code.handoff), code.place, str(code.number + 1))
            if self._done(tx):
                return True
        found = self.read(code_hash)
        return found is not None and found.used_by == command

    def keys_of(self, handoff_id: str) -> list[str]:
        """Every key that there is for a handoff's codes, for its purge."""
        hashes = self._keys.code_hashes_of(handoff_id)
        made = sorted(self._redis.smembers(hashes))
        return [self._keys.codes_of(handoff_id), hashes, *map(self._keys.code, made)]

    def _done(self, tx: Transaction) -> bool:
        return bool(self._commit(keys=tx.keys, args=tx.args())[0] == "done")
