"""Which people a request is for, how urgent it is and which proof it needs: by its own word, the operator's
rules, and its key's rights. Pure; what follows from it is ladder.py's business.
"""

from __future__ import annotations

from handoff import proofs
from handoff.errors import Forbidden, Invalid
from handoff.messages import OpenRequest
from handoff.models import ProofAsked, Urgency
from handoff.policy import People, Standing, only
from handoff.rights import Rights

#: What a key may ask for when its record says nothing.
EVERYTHING = Rights()


def reached(request: OpenRequest, people: People, rights: Rights) -> tuple[str, Urgency]:
    """The name of the policy that applies to a request, and how urgent it is.

    Raises Forbidden for what the key may not ask for, whether or not there is such a policy or contact, so
    that nobody is found out by trying; Invalid for one that there is not.
    """
    if request.contact is not None:
        _allowed(request.contact, rights.contacts, "ask for")
        contact = people.contact(request.contact)
        if contact is None:
            raise Invalid.field("contact", _why_not(request.contact, people))
        policy = only(contact, people.default)
    else:
        name = request.policy or people.routed(request.metadata).name
        _allowed(name, rights.policies, "reach people by")
        named = people.policy(name)
        if named is None:
            raise Invalid.field("policy", f"There is no escalation policy {name!r}.")
        policy = named
    if request.urgency is None:
        return policy.name, min(policy.urgency, rights.urgency, key=lambda one: one.rank)
    urgency = Urgency(request.urgency)
    if urgency.rank > rights.urgency.rank:
        raise Forbidden(f"This API key may ask for urgency {rights.urgency} at most.")
    return policy.name, urgency


def proof(request: OpenRequest, policy: str, people: People) -> ProofAsked:
    """What a contact's decision needs: the stricter of what the request and the policy that reaches people
    ask for. Raises Invalid when none of these people can give it: a PIN that nobody has, a page that nobody
    can see."""
    if request.contact is not None:
        found = people.contact(request.contact)
        like = people.default
        reached = tuple(filter(None, [found]))
    else:
        like = people.policy(policy) or people.default
        reached = tuple(one for step in like.steps for one in step.contacts)
    needed = proofs.stricter(ProofAsked(request.proof), like.proof)
    # A page that nobody is rung for takes the PIN of every contact.
    able = people.contacts if request.notify == "none" else reached
    if needed is ProofAsked.PIN and not any(one.pin for one in able):
        raise Invalid.field("proof", "needs a PIN, and nobody who would be reached has one.")
    if needed is ProofAsked.LINK and not any(one.screen for one in able):
        raise Invalid.field("proof", "needs the page, and nobody who would be reached can see a screen.")
    return needed


def _allowed(wanted: str, may: tuple[str, ...] | None, doing: str) -> None:
    if may is not None and wanted not in may:
        raise Forbidden(f"This API key may not {doing} {wanted!r}.")


def _why_not(contact_id: str, people: People) -> str:
    """Why nobody of this id can be reached."""
    enrolled = people.enrolled.get(contact_id)
    if enrolled is None:
        return f"There is no contact {contact_id!r}."
    if enrolled.standing is Standing.REFUSED:
        return f"{enrolled.name} said no when we asked whether we may call, and is not called."
    return f"{enrolled.name} is not verified yet: they have not pressed 1 in the call that asks them first."


def reaches_default(people: People, rights: Rights) -> bool:
    """Whether a key may reach the people of the default policy, once those whom it asked for are gone."""
    return rights.policies is None or people.default.name in rights.policies
