"""What words on the line sound like: a call screener that asks, one that puts us through, or anything else.

Words heard here never decide anything (promise 4): they choose only what is said next. Pure: text in, a guess
out, which may be wrong: whoever is taken for something else hears the greeting, who calls and why.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Sounds(StrEnum):
    """What was heard."""

    ASKING = "asking"  #: a screener wants to know who calls and what for
    WAITING = "waiting"  #: it, or somebody, asks to wait
    MAILBOX = "mailbox"  #: it wants a message
    OTHER = "other"  #: perhaps the person, or noise


#: What screeners say and people hardly do, as it comes back from recognition: lower case, no punctuation.
#: iOS 26: "Hi, if you record your name and reason for calling, I'll see if this person is available", later
#: "Thanks, please stay on the line": https://github.com/rmc3d/iosCallScreeningTranscriptions
#: Google: "the person you're calling is using a screening service … say your name and why you're calling":
#: https://www.idropnews.com/news/fast-tech/googles-insane-call-screen-feature-uses-ai-to-handle-spam-for-you/85530/
#: and "I'm Call Assist by Google … the person you're trying to reach": https://support.aircall.io/en-gb/articles/30727075383837
#: A telephone: "calls to this number are being screened … say your name after the tone": AT&T BL102, page 68
_ASKING = (
    r"(record|say|state|give|leave) (me )?(your|the) (full )?name\b(?! and (number|message))",
    r"name and (the )?reason",
    r"reason for (your|the|this) call",
    r"reason for calling",
    r"why (you are|youre) calling",
    r"screening service",
    r"being screened",
    r"(see|check) (if|whether) (this|the) person",
    r"the person (you are|youre) (calling|trying to reach)",
    r"call assist",
)
_WAITING = (
    r"stay on the line",
    r"(please )?(hold|wait)( on| the line| a moment| a second| please|$)",
    r"(one|just a|a) (moment|second|minute)",
    r"(trying|try) to connect you",
    r"(transferring|connecting) (you|your call)",
)
#: Nothing of it is a screener, whatever else it says: a mailbox takes a message.
_MAILBOX = re.compile(
    r"\b((leave|record) (a|your|me a) (short |brief )?message|after the beep|voice ?mail)\b"
)

#: What recognition may expect. At most 500 entries of 100 characters;
#: https://www.twilio.com/docs/voice/twiml/gather#hints
HINTS = (
    "record your name and reason for calling, say your name and why you are calling, stay on the line, hello"
)

_ASKS = re.compile("|".join(rf"\b{one}" for one in _ASKING))
_WAITS = re.compile("|".join(rf"\b{one}" for one in _WAITING))
_LONGEST = 1_000  # characters that are looked at


def sounds_like(words: str) -> Sounds:
    """What these words, as recognition wrote them, sound like."""
    plain = re.sub(r"[^a-z0-9]+", " ", re.sub(r"[\u2019\u2018'`]", "", words[:_LONGEST].lower())).strip()
    if _MAILBOX.search(plain):
        return Sounds.MAILBOX
    if _ASKS.search(plain):
        return Sounds.ASKING
    return Sounds.WAITING if _WAITS.search(plain) else Sounds.OTHER
