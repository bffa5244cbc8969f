"""What the voice says where no person is known to listen: to a mailbox, to a call screener.

Neither is told the reason, a link, a key or a secret. Pure, as scripts.py, which has what people are told.
"""

from __future__ import annotations

from twilio.twiml.voice_response import VoiceResponse

from voice.documents import PLAIN, Voice
from voice.overheard import HINTS
from voice.speech import clean

#: How long a screener is waited for, in seconds: it rings the person now. Phones ring for 20 to 30 s.
PICK_UP_S = 25

_NAME_LIMIT = 40


def message(contact_name: str, *, text_sent: bool, voice: Voice = PLAIN) -> str:
    """Left on a mailbox, then the call ends. `text_sent`: they have a text, and can read it."""
    texts = "look at your texts, or " if text_sent else ""
    who = f"This is Handoff, for {_name(contact_name)}. An agent needs you."
    said = f"{who} Please {texts}call this number back. Goodbye."
    response = VoiceResponse()
    response.say(said, language=voice.language, voice=voice.name)
    response.hangup()
    return str(response)


def purpose(
    contact_name: str, *, heard_url: str, again_url: str, says_it: bool = True, voice: Voice = PLAIN
) -> str:
    """For a call screener: who calls and what for, then a wait for the person. A screener that only asks to
    wait gets no words (`says_it` False).

    `heard_url` gets the next words or key, `again_url` is asked when there are none. No key means anything
    here: the person has not heard yet what it is about.
    """
    response = VoiceResponse()
    gather = response.gather(
        action=heard_url,
        method="POST",
        num_digits=1,
        finish_on_key="",
        timeout=PICK_UP_S,
        **listening(voice),
    )
    if says_it:
        said = f"Handoff, calling for {_name(contact_name)}: an agent needs a decision."
        gather.say(said, language=voice.language, voice=voice.name)
    response.redirect(again_url, method="POST")
    return str(response)


def listening(voice: Voice) -> dict[str, str]:
    """What a Gather needs in order to take words beside keys. `auto` goes with no speechModel of our choice:
    https://www.twilio.com/docs/api/errors/13335
    """
    return {"input": "dtmf speech", "language": voice.language, "hints": HINTS, "speech_timeout": "auto"}


def _name(name: str) -> str:
    return clean(name)[:_NAME_LIMIT].strip() or "you"
