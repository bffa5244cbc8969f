"""The stream of wake-ups: every change of every handoff, as the waiting processes hear of it.

Only the newest are kept, and nobody's answer is in them: who is woken reads what was committed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from handoff.models import Handoff
from handoff.store.connection import WAKE_BLOCK_MS
from handoff.store.keyspace import Keyspace

WAKES_PER_READ = 1_000


@dataclass(frozen=True)
class Wake:
    """One change of one handoff, as the waiting processes hear of it."""

    handoff: str
    seq: int
    closed: bool


class WakeReader:
    """Reads the stream of wake-ups from a cursor on, and the handoffs that it names."""

    def __init__(self, client: Any, keys: Keyspace):
        self._client = client
        self._keys = keys

    def newest(self) -> str:
        """Where the stream stands now."""
        newest = self._client.xrevrange(self._keys.wakes, count=1)
        return newest[0][0] if newest else "0-0"

    def after(self, cursor: str) -> list[tuple[str, Wake]]:
        """What changed after `cursor`, with the new cursor of each; blocks for at most WAKE_BLOCK_MS."""
        answer = self._client.xread({self._keys.wakes: cursor}, count=WAKES_PER_READ, block=WAKE_BLOCK_MS)
        entries = [entry for _, found in (answer or []) for entry in found]
        return [(at, Wake(fields["h"], int(fields["s"]), fields["c"] == "1")) for at, fields in entries]

    def trimmed(self, cursor: str, changes: Sequence[tuple[str, Wake]]) -> bool:
        """Whether changes after `cursor` may be missing from `changes`, which were read from there: the
        stream keeps the newest only. Asks the server just when there are as many as one reading takes."""
        if len(changes) < WAKES_PER_READ:
            return False
        oldest = self._client.xrange(self._keys.wakes, count=1)
        return not oldest or _stream_id(oldest[0][0]) > _stream_id(cursor)

    def handoffs(self, handoff_ids: Collection[str]) -> dict[str, Handoff]:
        """These handoffs as they are now, in one round trip; those that are gone are left out.

        So is one that this version can't read (a newer one wrote it): whoever reads it alone gets that error.
        """
        pipe = self._client.pipeline(transaction=False)
        for handoff_id in handoff_ids:
            pipe.hget(self._keys.handoff(handoff_id), "doc")
        found: dict[str, Handoff] = {}
        for handoff_id, doc in zip(handoff_ids, pipe.execute(), strict=True):
            with suppress(ValidationError):
                if handoff := parse(doc):
                    found[handoff_id] = handoff
        return found


def parse(doc: str | None) -> Handoff | None:
    """A handoff's document, or None for None. Raises ValidationError for one that this version can't read."""
    return Handoff.model_validate_json(doc) if doc else None


def _stream_id(text: str) -> tuple[int, int]:
    """A stream's entry id, so that it can be compared: `<ms>-<number within that ms>`."""
    ms, _, number = text.partition("-")
    return int(ms), int(number)
