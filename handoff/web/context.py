"""What a view needs from the application: the services, and who is asking."""

from __future__ import annotations

from typing import cast

from flask import current_app, g, request

from handoff import keys
from handoff.bootstrap import Services
from handoff.errors import Forbidden, NotFound, Unauthorized
from handoff.ids import HANDOFF, is_id
from handoff.models import Actor, ActorKind, Handoff
from handoff.rights import ApiKey


def services() -> Services:
    """The services this application was made with."""
    found: Services = current_app.extensions["handoff"]
    return found


def caller() -> ApiKey:
    """The API key of this request, looked up once. Raises Unauthorized without telling why it is not good."""
    if known := g.get("caller"):
        return cast(ApiKey, known)
    return _look_up(None)[0]


def caller_and_handoff(handoff_id: str) -> tuple[ApiKey, Handoff]:
    """The API key, and the handoff if this key may see it, as they are now: one look into the store for both.

    Raises Unauthorized as `caller`, and NotFound, which does not tell whether the handoff exists.
    """
    key, handoff = _look_up(handoff_id if is_id(handoff_id, HANDOFF) else None)
    if handoff is None or ("operator" not in key.scopes and handoff.agent != key.agent):
        raise NotFound("There is no such handoff, or it belongs to another agent.")
    return key, handoff


def _look_up(handoff_id: str | None) -> tuple[ApiKey, Handoff | None]:
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized("Send your API key as `Authorization: Bearer <key>`.")
    at = services()
    record, handoff = keys.recognise_for(at.store, key.strip(), handoff_id, at.clock())
    if record is None:
        raise Unauthorized("This API key is not known, or it was revoked.")
    g.caller = record
    return record, handoff


def agent() -> ApiKey:
    """The agent's key of this request. Raises Forbidden for a key without that scope."""
    key = caller()
    if "agent" not in key.scopes:
        raise Forbidden("An operator key opens no handoffs: the requester must be an agent.")
    return key


def operator() -> ApiKey:
    """The operator's key of this request. Raises Forbidden: an agent's key can never decide."""
    key = caller()
    if "operator" not in key.scopes:
        raise Forbidden("Only an operator key may do this; the requester can't answer its own request.")
    return key


def actor(key: ApiKey) -> Actor:
    """Who this key stands for, on the record."""
    kind = ActorKind.OPERATOR if "operator" in key.scopes else ActorKind.AGENT
    return Actor(kind=kind, id=key.id, name=key.agent)
