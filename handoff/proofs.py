"""Which proof is enough for what a handoff asks. Pure; who asks for a code or a PIN, and how, is the business
of voice/confirming.py and web/person_acts.py.
"""

from __future__ import annotations

from handoff.errors import Forbidden
from handoff.models import ActorKind, Decision, Handoff, Proof, ProofAsked
from handoff.states import Trigger

#: What a contact can show, and the most that it is enough for.
_BY_LINK = frozenset({ProofAsked.ANY, ProofAsked.CODE, ProofAsked.LINK})
_ENOUGH_FOR: dict[Proof, frozenset[ProofAsked]] = {
    Proof.KEYPRESS: frozenset({ProofAsked.ANY}),
    Proof.SPEECH: frozenset({ProofAsked.ANY}),
    Proof.SMS: frozenset({ProofAsked.ANY}),
    Proof.KEYPRESS_CODE: frozenset({ProofAsked.ANY, ProofAsked.CODE}),
    Proof.KEYPRESS_PIN: frozenset({ProofAsked.ANY, ProofAsked.CODE, ProofAsked.PIN}),
    Proof.LINK: _BY_LINK,
    Proof.LINK_PIN: frozenset(ProofAsked),
}


def stricter(one: ProofAsked, other: ProofAsked) -> ProofAsked:
    """The one that asks for more."""
    return max(one, other, key=lambda asked: asked.rank)


def enough(asked: ProofAsked, proof: Proof) -> bool:
    """Whether a contact who shows this may decide a handoff that asks for that."""
    return asked in _ENOUGH_FOR.get(proof, frozenset())


def require(handoff: Handoff, asked: Trigger, decision: Decision) -> None:
    """Raises Forbidden for a decision by a contact that shows less than the handoff asks for. Taking it on,
    passing it on and asking for time decide nothing; an operator has signed in, which is enough for all."""
    if asked in (Trigger.RESOLVE, Trigger.DECLINE) and decision.by.kind is ActorKind.CONTACT:
        if not enough(handoff.proof, decision.proof):
            raise Forbidden(f"This handoff needs more proof than {decision.proof}: {handoff.proof}.")
