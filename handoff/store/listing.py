"""Handoffs by index: a page of a list, and what is open for one contact, at a cost that no number raises."""

from __future__ import annotations

from typing import Any

from handoff.models import Handoff
from handoff.states import State
from handoff.store.keyspace import Keyspace
from handoff.store.wakes import parse


def page(
    client: Any, keys: Keyspace, *, agent: str | None, state: State | None, before: str | None, limit: int
) -> tuple[list[Handoff], str | None]:
    """A page, newest first, and where the next one begins."""
    names = _newest(client, keys.index(agent=agent, state=state), f"({before}" if before else "+", limit + 1)
    return _read(client, keys, names[:limit]), names[limit - 1] if len(names) > limit else None


def open_of(client: Any, keys: Keyspace, contact_id: str, limit: int) -> list[Handoff]:
    """Open handoffs for which this contact was reached, at most `limit`, newest first."""
    return _read(client, keys, _newest(client, keys.open_of(contact_id), "+", limit))


def _newest(client: Any, index: str, start: str, count: int) -> list[str]:
    names: list[str] = client.zrange(index, start, "-", bylex=True, desc=True, offset=0, num=count)
    return names


def _read(client: Any, keys: Keyspace, names: list[str]) -> list[Handoff]:
    pipe = client.pipeline(transaction=False)
    for name in names:
        pipe.hget(keys.handoff(name.partition(":")[2]), "doc")
    return [handoff for handoff in map(parse, pipe.execute()) if handoff is not None]
