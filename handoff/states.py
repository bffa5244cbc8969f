"""Every state, event and transition of a handoff and of a call, as data.

Whatever decides "may this happen now, and what does it lead to?" is decided by the tables here and
nowhere else; docs/states.md is generated from them (`handoff states`).
Who may cause an event, and what else it sets off, is lifecycle.py's business. Twilio's own call
statuses are not here: voice/dispositions.py turns them into ours.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What an agent can hand to a person."""

    CLEAR = "clear"  #: a wall to clear; the answer is that it is gone
    ASK = "ask"  #: a question; the answer is a value
    APPROVE = "approve"  #: a yes or no on a described action, by one or more people


class State(StrEnum):
    """Where a handoff is in its life."""

    PENDING = "pending"  #: recorded; nobody is being reached
    ESCALATING = "escalating"  #: the escalation policy is running, or has run out; the link is good
    ACKNOWLEDGED = "acknowledged"  #: a person has it; escalation pauses until the pause runs out
    RESOLVED = "resolved"  #: closed with what the agent asked for
    DECLINED = "declined"  #: closed with a no
    EXPIRED = "expired"  #: closed by silence; never a yes and never a no
    CANCELLED = "cancelled"  #: withdrawn by the agent, by an operator, or because the agent was gone


class Trigger(StrEnum):
    """What can change a handoff's state."""

    START_STEP = "start_step"  #: the next step of the escalation policy begins
    ACKNOWLEDGE = "acknowledge"  #: a person says "I'm on it"
    LAPSE = "lapse"  #: the pause of an acknowledgement ran out
    EXTEND = "extend"  #: a person needs more time: the deadline is put off
    RING_AGAIN = "ring_again"  #: an operator begins the escalation policy anew
    #: a person hands it to the next one
    PASS_ON = "pass_on"  # noqa: S105 - no password, whatever its name looks like
    CALL_BACK = "call_back"  #: a person on the line wants to be called again in a while
    RESOLVE = "resolve"
    DECLINE = "decline"
    EXPIRE = "expire"
    CANCEL = "cancel"


_CLOSING = {
    Trigger.RESOLVE: State.RESOLVED,
    Trigger.DECLINE: State.DECLINED,
    Trigger.EXPIRE: State.EXPIRED,
    Trigger.CANCEL: State.CANCELLED,
}

TRANSITIONS: dict[State, dict[Trigger, State]] = {
    State.PENDING: {
        Trigger.START_STEP: State.ESCALATING,
        Trigger.RING_AGAIN: State.ESCALATING,
        Trigger.ACKNOWLEDGE: State.ACKNOWLEDGED,
        Trigger.EXTEND: State.PENDING,
        **_CLOSING,
    },
    State.ESCALATING: {
        Trigger.START_STEP: State.ESCALATING,
        Trigger.RING_AGAIN: State.ESCALATING,
        Trigger.EXTEND: State.ESCALATING,
        Trigger.PASS_ON: State.ESCALATING,
        Trigger.CALL_BACK: State.ESCALATING,
        Trigger.ACKNOWLEDGE: State.ACKNOWLEDGED,
        **_CLOSING,
    },
    State.ACKNOWLEDGED: {
        Trigger.ACKNOWLEDGE: State.ACKNOWLEDGED,  # its owner asks for more time
        Trigger.EXTEND: State.ACKNOWLEDGED,
        Trigger.LAPSE: State.ESCALATING,
        Trigger.PASS_ON: State.ESCALATING,
        **_CLOSING,
    },
    State.RESOLVED: {},
    State.DECLINED: {},
    State.EXPIRED: {},
    State.CANCELLED: {},
}

CLOSED = frozenset(state for state, edges in TRANSITIONS.items() if not edges)


class CloseReason(StrEnum):
    """Why a handoff is closed: one word finer than its state."""

    PERSON = "person"  #: a person answered (resolved) or refused (declined)
    OBSERVED = "observed"  #: the wall was seen to be gone; nobody's word
    DEFAULT = "default"  #: the default answer that the agent declared for silence
    POLICY = "policy"  #: the rejection on expiry that the agent declared
    NOBODY = "nobody"  #: the deadline passed
    UNREACHABLE = "unreachable"  #: every step was used up and the agent had asked to fail then
    AGENT = "agent"  #: the agent withdrew it
    OPERATOR = "operator"  #: an operator withdrew it
    AGENT_GONE = "agent_gone"  #: nobody waited for it any more and the agent had asked to cancel then


CLOSE_REASONS: dict[State, frozenset[CloseReason]] = {
    State.RESOLVED: frozenset({CloseReason.PERSON, CloseReason.OBSERVED, CloseReason.DEFAULT}),
    State.DECLINED: frozenset({CloseReason.PERSON, CloseReason.POLICY}),
    State.EXPIRED: frozenset({CloseReason.NOBODY, CloseReason.UNREACHABLE}),
    State.CANCELLED: frozenset({CloseReason.AGENT, CloseReason.OPERATOR, CloseReason.AGENT_GONE}),
}


class CallState(StrEnum):
    """Where one phone call is. Callbacks may come twice, late or out of order; a call never goes back."""

    DUE = "due"  #: recorded, not asked of the provider; the only state in which it may be created
    PLACING = "placing"  #: the create is on its way; never sent again from here
    UNKNOWN = "unknown"  #: the create's answer was lost; a callback or one look-up settles it
    PLACED = "placed"  #: the provider has it and named its id
    RINGING = "ringing"
    ANSWERED = "answered"  #: something picked up: a person, a voicemail, a machine
    ENDED = "ended"


CALL_TRANSITIONS: dict[CallState, frozenset[CallState]] = {
    # Back to DUE only when the provider provably did not process the create (refused connection, 20429).
    CallState.DUE: frozenset({CallState.PLACING, CallState.ENDED}),
    CallState.PLACING: frozenset(
        {
            CallState.DUE,
            CallState.UNKNOWN,
            CallState.PLACED,
            CallState.RINGING,
            CallState.ANSWERED,
            CallState.ENDED,
        }
    ),
    CallState.UNKNOWN: frozenset({CallState.PLACED, CallState.RINGING, CallState.ANSWERED, CallState.ENDED}),
    CallState.PLACED: frozenset({CallState.RINGING, CallState.ANSWERED, CallState.ENDED}),
    CallState.RINGING: frozenset({CallState.ANSWERED, CallState.ENDED}),
    CallState.ANSWERED: frozenset({CallState.ENDED}),
    CallState.ENDED: frozenset(),
}


class Disposition(StrEnum):
    """What an ended attempt told us."""

    ACKNOWLEDGED = "acknowledged"  #: the person took it on
    RESOLVED = "resolved"  #: the person answered in this attempt
    DECLINED = "declined"  #: the person said no, or passed it to the next person
    CALL_BACK = "call_back"  #: the person decided nothing and asked to be called again
    NO_INPUT = "no_input"  #: picked up, heard everything, pressed nothing: perhaps no person at all
    HUNG_UP = "hung_up"  #: picked up and hung up before the end, without a key
    VOICEMAIL = "voicemail"  #: a machine took the call: a mailbox or, rarely, a fax
    SCREENED = "screened"  #: call screening took the call, and nobody pressed a key
    BUSY = "busy"
    NO_ANSWER = "no_answer"
    UNREACHABLE = "unreachable"  #: the network could not reach the number now
    INVALID_NUMBER = "invalid_number"  #: the number is no good at all
    OPTED_OUT = "opted_out"  #: the person asked not to be called or texted
    BLOCKED = "blocked"  #: our account or settings forbid it: the operator must act
    PROVIDER_ERROR = "provider_error"  #: the provider refused or failed, and it was not the number
    UNKNOWN = "unknown"  #: nothing settled what became of it
    SENT = "sent"  #: a text the carrier took; not a receipt
    DELIVERED = "delivered"  #: a text that arrived
    WITHDRAWN = "withdrawn"  #: ended by us, because the handoff needed it no more


def target(state: State, trigger: Trigger) -> State | None:
    """The state that `trigger` leads to from `state`, or None when it may not happen there."""
    return TRANSITIONS[state].get(trigger)


def may_move(old: CallState, new: CallState) -> bool:
    """Whether a call in `old` may be recorded as `new`."""
    return new in CALL_TRANSITIONS[old]


def document() -> str:
    """docs/states.md: both machines drawn, and every word defined, from the tables above."""
    handoff = ["stateDiagram-v2", "  [*] --> pending: open"]
    for state, edges in TRANSITIONS.items():
        handoff += [f"  {state} --> {to}: {trigger}" for trigger, to in edges.items()]
    handoff += [f"  {state} --> [*]" for state in TRANSITIONS if state in CLOSED]
    call = ["stateDiagram-v2", "  [*] --> due"]
    for call_state, targets in CALL_TRANSITIONS.items():
        call += [f"  {call_state} --> {to}" for to in CallState if to in targets]
    call.append("  ended --> [*]")
    reasons = [
        f"| `{state}` | {', '.join(f'`{reason}`' for reason in CloseReason if reason in allowed)} |"
        for state, allowed in CLOSE_REASONS.items()
    ]
    return "\n".join(
        [
            "# States",
            "",
            "Generated from `handoff/states.py` by `make docs`; a test checks that it is fresh.",
            "",
            "## A handoff",
            "",
            "```mermaid",
            *handoff,
            "```",
            "",
            "| closed as | because |",
            "| --- | --- |",
            *reasons,
            "",
            "## A call",
            "",
            "A call never goes back, whatever order its callbacks arrive in. From `placing` it returns to",
            "`due` only when the provider provably did not process the create.",
            "",
            "```mermaid",
            *call,
            "```",
            "",
        ]
    )
