"""Twilio's words about calls and texts, turned into ours. The three vocabularies meet only here.

A status comes in as text from a callback or a look-up; a word we do not know is never guessed at.
What a call's end means for its handoff is lifecycle.py's business.
"""

from __future__ import annotations

from collections.abc import Mapping

from handoff.models import Call
from handoff.states import CallState, Disposition

#: https://www.twilio.com/docs/voice/api/call-resource#call-status-values ; `initiated` comes in callbacks
#: only, and `answered` is the event's name, which some compatible providers send as the status.
_CALL_STATES: Mapping[str, CallState] = {
    "queued": CallState.PLACED,
    "initiated": CallState.PLACED,
    "ringing": CallState.RINGING,
    "in-progress": CallState.ANSWERED,
    "answered": CallState.ANSWERED,
    "completed": CallState.ENDED,
    "busy": CallState.ENDED,
    "no-answer": CallState.ENDED,
    "failed": CallState.ENDED,
    "canceled": CallState.ENDED,
}

#: (final status, SIP code) of a call that nobody picked up; None stands for any other code.
#: https://www.twilio.com/docs/voice/api/call-resource and, for 404 and 487, its SipResponseCode.
UNANSWERED: Mapping[tuple[str, int | None], Disposition] = {
    ("busy", None): Disposition.BUSY,
    ("no-answer", None): Disposition.NO_ANSWER,  # nobody, or rejected by hand; 487 = the ring time ran out
    ("failed", None): Disposition.UNREACHABLE,
    ("failed", 404): Disposition.UNREACHABLE,  # the network knows no such number now; not proof that none is
    ("failed", 480): Disposition.NO_ANSWER,  # "temporarily unavailable"; read so by target/goalert too
    ("canceled", None): Disposition.WITHDRAWN,  # only we can cancel our own call
}

FAX = "fax"
#: https://www.twilio.com/docs/voice/answering-machine-detection : verdicts that mean a machine has the line.
#: `human` and `unknown` are absent on purpose: neither proves a person (promise 4).
MACHINES = frozenset({"machine_start", "machine_end_beep", "machine_end_silence", "machine_end_other", FAX})
#: Those upon which a call under way is given up. `machine_start` comes before the end of a greeting, and only
#: in a mode that is never asked for.
_ACTED_UPON = MACHINES - {"machine_start"}

#: How far a text has come. A callback of a rank not above the present one changes nothing, so late and
#: repeated ones are harmless, and of two equal ends the first stays. A receipt outranks a failure, in
#: either order: the phone itself says that it has the text, while a failure only says that no receipt came.
#: https://www.twilio.com/docs/messaging/api/message-resource#message-status-values
_TEXT_RANKS: Mapping[str, int] = {
    "accepted": 1,
    "scheduled": 1,
    "queued": 1,
    "sending": 2,
    "sent": 3,
    "partially_delivered": 3,  # some parts arrived: no receipt for the text
    "undelivered": 4,
    "failed": 4,
    "canceled": 4,
    "delivered": 5,
    "read": 6,
}

#: Why a text failed, by the ErrorCode of its status callback; https://www.twilio.com/docs/api/errors/CODE.
TEXT_FAILURES: Mapping[int, Disposition] = {
    21610: Disposition.OPTED_OUT,  # the person sent STOP; only their START lifts it
    30001: Disposition.PROVIDER_ERROR,  # queue overflow
    30002: Disposition.BLOCKED,  # account suspended
    30003: Disposition.UNREACHABLE,  # handset off or without signal
    30004: Disposition.OPTED_OUT,  # blocked by the recipient's side; a toll-free STOP shows so
    30005: Disposition.INVALID_NUMBER,  # unknown handset
    30006: Disposition.UNREACHABLE,  # a landline or a carrier without texts: calls may work
    30007: Disposition.BLOCKED,  # filtered as spam: the operator must change the text or the sender
    30008: Disposition.PROVIDER_ERROR,  # unknown error
    30017: Disposition.PROVIDER_ERROR,  # carrier congestion
    30022: Disposition.PROVIDER_ERROR,  # 10DLC rate exceeded
    30023: Disposition.PROVIDER_ERROR,  # 10DLC daily cap reached
    30032: Disposition.BLOCKED,  # toll-free number not verified
    30034: Disposition.BLOCKED,  # 10DLC number not registered
    30035: Disposition.BLOCKED,  # number still being configured
    30036: Disposition.PROVIDER_ERROR,  # not passed on within its validity
    30410: Disposition.PROVIDER_ERROR,  # provider time-out
    30450: Disposition.PROVIDER_ERROR,  # pumping protection, 15 to 30 minutes
    63016: Disposition.BLOCKED,  # WhatsApp: a template is needed outside the 24-hour window
    63018: Disposition.PROVIDER_ERROR,  # WhatsApp: rate limit
}


def call_state(status: str) -> CallState | None:
    """Where a call with this CallStatus is; None for a word Twilio has not documented."""
    return _CALL_STATES.get(status)


def is_machine(verdict: str) -> bool:
    """Whether a call under way is given up upon this verdict of machine detection."""
    return verdict in _ACTED_UPON


def end_of(call: Call, status: str, sip_code: int | None, answered_by: str | None) -> Disposition:
    """What this call, which ended with this status, told us, given what we saw of it."""
    return ended_as(
        status,
        was_answered=call.answered_at is not None,
        heard_all=call.heard_all,
        screened=call.screened,
        sip_code=sip_code,
        answered_by=answered_by,
    )


def ended_as(
    status: str,
    *,
    was_answered: bool,
    heard_all: bool,
    screened: bool = False,
    sip_code: int | None = None,
    answered_by: str | None = None,
) -> Disposition:
    """What a call that ended without a key that counted told us.

    `was_answered`: our script ran or an answered callback came. `heard_all`: it reached its goodbye.
    `screened`: the last words heard were a call screener's, whoever may have picked up since without a word.
    `completed` alone only says that something picked up, a person or a machine, so that without our
    script having run it stays unknown. A status that is no end is unknown as well.
    """
    if answered_by in MACHINES:
        return Disposition.VOICEMAIL
    if status == "completed":
        if screened:
            return Disposition.SCREENED
        if heard_all:
            return Disposition.NO_INPUT
        return Disposition.HUNG_UP if was_answered else Disposition.UNKNOWN
    if status == "failed" and was_answered:
        return Disposition.PROVIDER_ERROR  # the line broke during the call; the number itself was reached
    fallback = UNANSWERED.get((status, None), Disposition.UNKNOWN)
    return UNANSWERED.get((status, sip_code), fallback)


def text_rank(status: str) -> int:
    """How far a text with this MessageStatus has come; 0 for a word that says nothing of it."""
    return _TEXT_RANKS.get(status, 0)


def text_disposition(status: str, error_code: int | None = None) -> Disposition | None:
    """What a text's status tells us, or None while it is still on its way.

    `sent` is only the carrier's word and may be the last one; `delivered` is the receipt. Neither says that
    anybody read it.
    """
    match status:
        case "sent" | "partially_delivered":
            return Disposition.SENT
        case "delivered" | "read":
            return Disposition.DELIVERED
        case "failed" | "undelivered":
            if error_code is None:
                return Disposition.PROVIDER_ERROR
            return TEXT_FAILURES.get(error_code, Disposition.PROVIDER_ERROR)
        case "canceled":
            return Disposition.WITHDRAWN
        case _:
            return None
