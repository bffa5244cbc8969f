"""An API key's record, and how far the key goes. How keys are made and recognised is keys.py's business, what
a request may ask for routing.py's, who may do what web/context.py's.
"""

from __future__ import annotations

from typing import Literal

from handoff.models import Record, StoredRecord, Urgency


class Rights(Record):
    """How far an agent's key goes: None allows every policy, or every contact, that there is."""

    policies: tuple[str, ...] | None = None
    contacts: tuple[str, ...] | None = None
    urgency: Urgency = Urgency.CRITICAL  # the most urgent that it may ask for
    share: int = 100  # per cent of a number's caps that its calls may use up, 1 to 100


class ApiKey(StoredRecord):
    """A key's record; the key itself is kept only as a hash."""

    v: Literal[1] = 1
    id: str
    hash: str  # hex SHA-256 of the key
    agent: str
    scopes: tuple[Literal["agent", "operator"], ...]
    rights: Rights = Rights()
    created: int
    last_used: int | None = None
    revoked: int | None = None
