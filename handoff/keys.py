"""API keys: how they are made, kept and recognised. Who may do what with one is web/context.py's business.

A key is `hk_` and 40 letters and digits (238 bits). Only its SHA-256 is kept: a key with that much
randomness needs no slow hash.
"""

from __future__ import annotations

from typing import Literal

from handoff import ids
from handoff.models import Handoff
from handoff.rights import ApiKey, Rights
from handoff.store import Store, sha256


def create(
    store: Store, agent: str, *, operator: bool, now: int, rights: Rights | None = None
) -> tuple[str, ApiKey]:
    """Makes and keeps a new key. The key itself is returned once and can't be shown again. `rights`: how far
    it goes; left out, an agent may ask for everything.

    Raises ValueError for a name that is not lower-case letters, digits, `.`, `_`, `-`.
    """
    key = "hk_" + ids.random_text(40)
    return key, _keep(store, key, agent, operator=operator, now=now, rights=rights)


def adopt(store: Store, key: str, agent: str, *, operator: bool, now: int) -> ApiKey:
    """Keeps a key from the environment; one that is known already stands for what the environment says now.

    A revoked one stays revoked. A key that the environment names no more stays good until it is revoked:
    a process started with fewer settings must not lock anybody out.
    """
    known = store.api_key_by_hash(sha256(key))
    if known is None:
        _keep(store, key, agent, operator=operator, now=now)
        # Two processes may have done so at once; the one record that the hash leads to counts.
        known = store.api_key_by_hash(sha256(key))
        assert known is not None
    scopes = _scopes(operator)
    if (known.agent, known.scopes) != (agent, scopes):
        known = known.model_copy(update={"agent": agent, "scopes": scopes})
        store.put_api_key(known)
    return known


def recognise(store: Store, key: str, now: int) -> ApiKey | None:
    """The record of a key that is good, or None. Notes once a minute that it is in use."""
    return recognise_for(store, key, None, now)[0]


def recognise_for(
    store: Store, key: str, handoff_id: str | None, now: int
) -> tuple[ApiKey | None, Handoff | None]:
    """The same, and the handoff that is asked for, whoever it belongs to; None for it when the key is not
    good."""
    record, handoff = store.api_key_and_handoff(sha256(key), handoff_id)
    if record is None or record.revoked is not None:
        return None, None
    if record.last_used is None or now - record.last_used > 60_000:
        store.touch_api_key(record, now)
    return record, handoff


def revoke(store: Store, key_id: str, now: int) -> ApiKey | None:
    """Ends a key for good; None when there is no such key."""
    record = store.api_key(key_id)
    if record is None or record.revoked is not None:
        return record
    revoked = record.model_copy(update={"revoked": now})
    store.put_api_key(revoked)
    return revoked


def _keep(
    store: Store, key: str, agent: str, *, operator: bool, now: int, rights: Rights | None = None
) -> ApiKey:
    if not ids.AGENT_NAME.fullmatch(agent):
        raise ValueError(
            f"{agent!r} is not a name for an agent: use 1 to 64 lower-case letters, digits, '.', '_' or '-'"
        )
    record = ApiKey(
        id=ids.new_id(ids.API_KEY),
        hash=sha256(key),
        agent=agent,
        scopes=_scopes(operator),
        rights=rights or Rights(),
        created=now,
    )
    store.put_api_key(record)
    return record


def _scopes(operator: bool) -> tuple[Literal["agent", "operator"], ...]:
    return ("operator",) if operator else ("agent",)
