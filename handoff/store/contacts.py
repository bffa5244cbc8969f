"""Enrolled contacts as all processes share them: their records, whose each number is, and what has changed.

A change is part of a commit (plan.py), so that a number has one owner and an answer is kept once. Whether one
may be enrolled is the business of enrolments.py, how a process keeps up enrolled_source.py's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from handoff.enrolment import Enrolment
from handoff.store.connection import Connections
from handoff.store.keyspace import Keyspace
from handoff.store.transaction import Transaction

#: Changes that are kept for processes to catch up with. One that has missed more reads all of them anew.
NEWS_KEPT = 10_000
#: Records that are read in one round trip.
_AT_ONCE = 1_000


@dataclass(frozen=True)
class EnrolmentChange:
    """A record before (None: there is none) and after (None: it goes)."""

    before: Enrolment | None
    after: Enrolment | None


@dataclass(frozen=True)
class News:
    """What has changed up to the change `last`: records by id, None for those that are gone. `whole`: these
    are all that there are."""

    last: str
    records: Mapping[str, Enrolment | None]
    whole: bool


class EnrolledContacts:
    """Reads only. Raises redis.RedisError when Redis can't be reached."""

    def __init__(self, connections: Connections, keys: Keyspace):
        self._redis: Any = connections.commands
        self._keys = keys

    def read(self, contact_id: str) -> Enrolment | None:
        """The record of this contact."""
        return _enrolment(self._redis.hget(self._keys.contacts, contact_id))

    def several(self, contact_ids: Sequence[str]) -> dict[str, Enrolment]:
        """Those of these that there are."""
        if not contact_ids:
            return {}
        found = map(_enrolment, self._redis.hmget(self._keys.contacts, contact_ids))
        return {one.contact.id: one for one in found if one is not None}

    def owner(self, number: str) -> str | None:
        """The id of the enrolled contact who has this number (E.164)."""
        return cast("str | None", self._redis.hget(self._keys.contact_numbers, number))

    def news(self, since: str | None) -> News | None:
        """What has changed since the change `since`; None when nothing has. One round trip, unless it has."""
        if since is None:
            return self._all(None)
        found = self._redis.xrange(self._keys.contact_news, min=since, count=NEWS_KEPT)
        ids = [one for one, _ in found]
        if ids[:1] != [since]:  # it has been trimmed away: nobody can say what followed it
            return self._all(since)
        if len(ids) == 1:
            return None
        changed = list(dict.fromkeys(fields["c"] for _, fields in found[1:]))
        records: dict[str, Enrolment | None] = dict.fromkeys(changed)
        for start in range(0, len(changed), _AT_ONCE):
            records |= self.several(changed[start : start + _AT_ONCE])
        return News(ids[-1], records, whole=False)

    def _all(self, since: str | None) -> News | None:
        # The place in the news comes first: what changes while the records are read is read again.
        newest = self._redis.xrevrange(self._keys.contact_news, count=1)
        last = newest[0][0] if newest else "0-0"
        if last == since:
            return None
        found = (_enrolment(doc) for _, doc in self._redis.hscan_iter(self._keys.contacts, count=_AT_ONCE))
        return News(last, {one.contact.id: one for one in found if one is not None}, whole=True)


def write_enrolment(tx: Transaction, keys: Keyspace, change: EnrolmentChange) -> None:
    """Puts the change into `tx`: only if the record is as it was, and its new numbers are nobody's."""
    before, after = change.before, change.after
    record = after or before
    assert record is not None, "a change of nothing"
    contact = record.contact
    tx.guard(keys.contacts, contact.id, (before.stored or before.model_dump_json()) if before else "")
    had = before.contact.numbers if before else ()
    has = after.contact.numbers if after else ()
    for number in (one for one in has if one not in had):
        tx.guard(keys.contact_numbers, number, "")
        tx.write("HSET", keys.contact_numbers, number, contact.id)
    if gone := [one for one in had if one not in has]:
        tx.write("HDEL", keys.contact_numbers, *gone)
    if after is None:
        tx.write("HDEL", keys.contacts, contact.id)
    else:
        tx.write("HSET", keys.contacts, contact.id, after.model_dump_json())
    tx.write("XADD", keys.contact_news, "MAXLEN", "~", str(NEWS_KEPT), "*", "c", contact.id)


def _enrolment(document: str | None) -> Enrolment | None:
    if document is None:
        return None
    return Enrolment.model_validate_json(document).model_copy(update={"stored": document})
