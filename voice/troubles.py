"""Which of Twilio's refusals an operator must act on, and in which words. What is not here mends itself.

Dispositions say what becomes of an attempt; this says what is wrong with a number, or with our own account.
https://www.twilio.com/docs/api/errors/CODE explains each code.
"""

from __future__ import annotations

from collections.abc import Mapping

from handoff.notices import Concern, Seen, Trouble
from handoff.states import Disposition
from voice.gateway import Permanent
from voice.twilio_errors import CODES

#: Refusals that are about the number or the country we call, although they are mended in our account; all
#: others of that kind hold for whomever we call.
_ABOUT_THE_NUMBER = frozenset({21215, 21219, 21408, 21606, 21608})
#: Ends of texts that were taken first and that come of our account or sender.
_ENDS: Mapping[int, str] = {
    30002: "the account is suspended",
    30007: "carriers filter our texts as unwanted; register the sender, or change what it is",
    30032: "our toll-free number is not verified",
    30034: "our number is not registered for texts in the US (A2P 10DLC)",
    30035: "our number is still being set up",
}


def of_refusal(error: Permanent, seen: Seen, sender: str) -> Trouble | None:
    """What a refused create says beyond its own attempt; None when there is nothing to act on. `sender` is
    what was to call or text."""
    row = CODES.get(error.code) if error.code else None
    why = row.meaning if row else "Twilio denies us access"
    return _trouble(error.disposition, seen, error.code, why, sender)


def of_end(disposition: Disposition | None, code: int | None, sender: str) -> Trouble | None:
    """The same of a text that was taken and did not arrive."""
    row = CODES.get(code) if code else None
    why = _ENDS.get(code or 0) or (row.meaning if row else "the text was blocked")
    return _trouble(disposition, Seen.RECEIPT, code, why, sender)


def _trouble(
    disposition: Disposition | None, seen: Seen, code: int | None, why: str, sender: str
) -> Trouble | None:
    match disposition:
        case Disposition.INVALID_NUMBER:
            return Trouble(Concern.BAD_NUMBER, seen, code, why)
        case Disposition.BLOCKED if code is not None or seen is not Seen.RECEIPT:
            return Trouble(
                Concern.FORBIDDEN, seen, code, why, sender=sender, ours=code not in _ABOUT_THE_NUMBER
            )
        case Disposition.OPTED_OUT:
            return Trouble(Concern.NO_TEXTS, seen, code, why, sender=sender)
        case _:
            return None
