"""One place for the words in which the operator's pages name states, people, proofs and dispositions.

Pure: records in, words out. Whole sentences of a timeline are timeline.py's; what the voice says is
voice/'s, and what the API says are the records' own words.
"""

from __future__ import annotations

from datetime import UTC, datetime

from handoff.changes import open_calls
from handoff.models import Actor, ActorKind, Decision, Handoff, Proof, ProofAsked
from handoff.outcomes import Outcome
from handoff.states import CloseReason, Disposition, State, Trigger

#: A state as a heading; also the name of its shape on the page.
STATES = {state: state.value.capitalize() for state in State}

#: "Ada, …": how it was shown that it was they who decided.
PROOFS = {
    Proof.KEYPRESS: "key on the phone",
    Proof.KEYPRESS_CODE: "key on the phone and a code",
    Proof.KEYPRESS_PIN: "key on the phone and a PIN",
    Proof.SPEECH: "spoken and confirmed on the phone",
    Proof.SMS: "text message",
    Proof.LINK: "link in the text",
    Proof.LINK_PIN: "page and PIN",
    Proof.CONSOLE: "operator’s page",
    Proof.OBSERVED: "saw that it was gone",
    Proof.POLICY: "declared when it was opened",
}

#: What the decision of a contact needs, where a key or a button is not enough.
NEEDED = {
    ProofAsked.CODE: "needs a code read out",
    ProofAsked.PIN: "needs a PIN",
    ProofAsked.LINK: "needs the page",
}

#: What an ended call told us, after "Ada: ".
CALL_ENDS = {
    Disposition.ACKNOWLEDGED: "took it on",
    Disposition.RESOLVED: "settled it",
    Disposition.DECLINED: "said no",
    Disposition.CALL_BACK: "asked to be called back",
    Disposition.NO_INPUT: "picked up, and no key was pressed",
    Disposition.HUNG_UP: "picked up and hung up without a key",
    Disposition.VOICEMAIL: "a machine took the call",
    Disposition.SCREENED: "call screening took the call",
    Disposition.BUSY: "busy",
    Disposition.NO_ANSWER: "no answer",
    Disposition.UNREACHABLE: "the network could not reach the phone",
    Disposition.INVALID_NUMBER: "the number is not a good one",
    Disposition.OPTED_OUT: "asked not to be called",
    Disposition.BLOCKED: "our account or its settings forbid the call",
    Disposition.PROVIDER_ERROR: "the provider failed",
    Disposition.UNKNOWN: "nothing is known of how it went",
    Disposition.WITHDRAWN: "no longer needed",
    Disposition.SENT: "taken by the carrier",
    Disposition.DELIVERED: "arrived",
}

#: The same of a text.
TEXT_ENDS = CALL_ENDS | {
    Disposition.UNREACHABLE: "did not arrive: the phone is off, or takes no texts",
    Disposition.INVALID_NUMBER: "did not arrive: the number is not a good one",
    Disposition.OPTED_OUT: "not sent: they asked for no texts",
    Disposition.BLOCKED: "blocked: our account or number may not send it",
    Disposition.PROVIDER_ERROR: "did not arrive: the provider failed",
    Disposition.UNKNOWN: "nothing is known of whether it arrived",
}


def name(actor: Actor) -> str:
    """Who it was, by name."""
    match actor.kind:
        case ActorKind.CLOCK:
            return "The clock"
        case ActorKind.SERVICE:
            return "The service"
        case _:
            return actor.name or actor.id


def how(decision: Decision) -> str:
    """“Ada, key on the phone”."""
    return f"{name(decision.by)}, {PROOFS[decision.proof]}"


def asked_for(handoff: Handoff) -> str:
    """Whom it reaches, how urgent it is, and what a decision needs: "policy payments, high, needs a PIN"."""
    if handoff.notify == "none":
        whom = "nobody is rung"
    else:
        whom = f"{handoff.contact} alone" if handoff.contact else f"policy {handoff.policy}"
    return ", ".join(filter(None, [whom, handoff.urgency.value, NEEDED.get(handoff.proof)]))


def by_whom(handoff: Handoff) -> str:
    """Who closed it and how; or, while it is open, who has it or is being reached."""
    if handoff.settlement is not None:
        return how(handoff.settlement)
    match handoff.close_reason:
        case CloseReason.NOBODY:
            return "Nobody in time"
        case CloseReason.UNREACHABLE:
            return "Nobody could be reached"
        case CloseReason.AGENT_GONE:
            return f"Withdrawn: {handoff.agent} was gone"
        case CloseReason.AGENT:
            return f"Withdrawn by {handoff.agent}"
        case CloseReason.OPERATOR:
            return f"Withdrawn by {name(handoff.closed_by) if handoff.closed_by else 'an operator'}"
        case CloseReason.DEFAULT | CloseReason.POLICY:
            return "As declared when it was opened"
        case _:
            return underway(handoff)


def underway(handoff: Handoff) -> str:
    """Who has an open handoff, or who is being reached for it."""
    if handoff.acknowledged is not None:
        return f"{name(handoff.acknowledged.by)} has it"
    if under_way := open_calls(handoff):
        return f"Calling {all_of([one.contact_name for one in under_way])}"
    if handoff.notify == "none" and not handoff.attempts:
        return "Nobody is rung; it waits on its page"
    return "Everybody was tried; links stay good" if handoff.exhausted else "Nobody is being called"


def lost(outcome: Outcome) -> str:
    """What to tell an operator whose command lost: to whom, and when."""
    if outcome.closed_at is None:
        if outcome.holder is not None:
            until = f" until {clock(outcome.holder_until)} UTC" if outcome.holder_until else ""
            return f"{name(outcome.holder.by)} has it already{until}. Nothing was changed."
        if outcome.asked is Trigger.RING_AGAIN:
            return "A phone is being called already. Nothing was changed."
        return "That can’t be done now. Nothing was changed."
    at = f"{clock(outcome.closed_at)} UTC"
    if outcome.state is State.EXPIRED:
        return f"Too late: it expired at {at}. Nothing was changed."
    by = outcome.closed_by
    who = how(outcome.settlement) if outcome.settlement else name(by) if by else "somebody"
    return f"Too late: it was {outcome.state} at {at} by {who}. Nothing was changed."


def clock(moment: int) -> str:
    """A moment's time of day to the second, UTC."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%H:%M:%S")


def all_of(names: list[str]) -> str:
    """“Ada”, “Ada and Ben”, “Ada, Ben and Cy”; each once."""
    once = list(dict.fromkeys(names))
    return " and ".join(filter(None, [", ".join(once[:-1]), *once[-1:]]))
