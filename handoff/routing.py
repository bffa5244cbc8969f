"""Which people a request is for, and how urgent it is: by its own word, the operator's rules, and its key's
rights. Pure; what follows from it is ladder.py's business.
"""

from __future__ import annotations

from handoff.errors import Forbidden, Invalid
from handoff.messages import OpenRequest
from handoff.models import Rights, Urgency
from handoff.policy import People, Standing, only

#: What a key may ask for when its record says nothing.
EVERYTHING = Rights()


def reached(request: OpenRequest, people: People, rights: Rights) -> tuple[str, Urgency]:
    """The name of the policy that applies to a request, and how urgent it is.

    Raises Invalid for a policy or contact that there is not, Forbidden for what the key may not ask for.
    """
    if request.contact is not None:
        allowed = rights.contacts is None or request.contact in rights.contacts
        contact = people.contact(request.contact)
        if contact is None:
            raise Invalid.field("contact", _why_not(request.contact, people if allowed else None))
        policy = only(contact, people.default)
    else:
        named = people.policy(request.policy) if request.policy else people.routed(request.metadata)
        if named is None:
            raise Invalid.field("policy", f"There is no escalation policy {request.policy!r}.")
        policy = named
        allowed = rights.policies is None or policy.name in rights.policies
    if not allowed:
        raise Forbidden(f"This API key may not reach people by {policy.name!r}.")
    if request.urgency is None:
        return policy.name, min(policy.urgency, rights.urgency, key=lambda one: one.rank)
    urgency = Urgency(request.urgency)
    if urgency.rank > rights.urgency.rank:
        raise Forbidden(f"This API key may ask for urgency {rights.urgency} at most.")
    return policy.name, urgency


def _why_not(contact_id: str, people: People | None) -> str:
    """Why nobody of this id can be reached; `people` None: whoever asks is told nothing of them."""
    enrolled = people.enrolled.get(contact_id) if people else None
    if enrolled is None:
        return f"There is no contact {contact_id!r}."
    if enrolled.standing is Standing.REFUSED:
        return f"{enrolled.name} said no when we asked whether we may call, and is not called."
    return f"{enrolled.name} is not verified yet: they have not pressed 1 in the call that asks them first."


def reaches_default(people: People, rights: Rights) -> bool:
    """Whether a key may reach the people of the default policy, once those whom it asked for are gone."""
    return rights.policies is None or people.default.name in rights.policies
