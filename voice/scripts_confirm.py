"""What the voice says where a key alone decides nothing: it asks for a code or a PIN, or says where else.

As in scripts.py: every sentence is inside the Gather, and something always follows it. Which code or PIN is
right is confirming.py's business.
"""

from __future__ import annotations

from enum import Enum, auto

from handoff.models import ProofAsked
from voice.documents import PLAIN, Script, Voice

MOST_TRIES = 3  #: how often a code or a PIN is asked for in one call


class Before(Enum):
    """What came before a code or a PIN is asked for."""

    NOTHING = auto()  #: a key of the menu, or the wish to hear it again
    SILENCE = auto()
    WRONG = auto()
    LOCKED = auto()  #: this person's PIN was tried too often within an hour, by whoever


_SAID_BEFORE = {
    (ProofAsked.CODE, Before.SILENCE): "I did not hear the two keys.",
    (ProofAsked.CODE, Before.WRONG): "That was not it.",
    (ProofAsked.PIN, Before.SILENCE): "I did not hear a PIN.",
    (ProofAsked.PIN, Before.WRONG): "That PIN is not right.",
    (ProofAsked.PIN, Before.LOCKED): "There were too many tries with your PIN. Please wait an hour.",
}
_PIN_WAIT_S = 10  # people look a PIN up, or think of it
_LONGEST_PIN = 12  # digits; see handoff/pins.py


def elsewhere(asked: ProofAsked, *, has_pin: bool, text_sent: bool, screen: bool = True) -> str:
    """Why nothing can be decided by phone, and where it can be; nothing where it can be decided here.

    `has_pin`: whether the contact on the line has one. `text_sent`: whether they have a text with the link.
    `screen`: whether they can see a page.
    """
    if asked is ProofAsked.LINK and not screen:
        return "You can't decide this by phone."
    if asked is ProofAsked.LINK:
        where = ": the text has the link" if text_sent else ", and no text went out to you"
        return f"This has to be decided on the page{where}."
    if asked is ProofAsked.PIN and not has_pin:
        return "This needs a PIN, and you have none here."
    return ""


def ask_code(
    code: str, before: Before = Before.NOTHING, *, url: str, again_url: str, voice: Voice = PLAIN
) -> str:
    """Two digits to press, so that an accidental key counts for nothing."""
    said = [_SAID_BEFORE.get((ProofAsked.CODE, before), ""), f"To confirm, press {' '.join(code)}."]
    return Script(voice).listen_for_digits(said, url, most=len(code)).then(again_url)


def ask_pin(before: Before = Before.NOTHING, *, url: str, again_url: str, voice: Voice = PLAIN) -> str:
    """The contact's PIN."""
    said = [_SAID_BEFORE.get((ProofAsked.PIN, before), ""), "Enter your PIN, then press pound."]
    script = Script(voice).listen_for_digits(said, url, most=_LONGEST_PIN, finish="#", wait_s=_PIN_WAIT_S)
    return script.then(again_url)


def gave_up(asked: ProofAsked, before: Before, *, text_sent: bool, voice: Voice = PLAIN) -> str:
    """After the last try."""
    what = _SAID_BEFORE.get((asked, before), "")
    link = " The link in the text still works." if text_sent else ""
    return Script(voice).say(f"{what} Nothing is decided.{link} Goodbye.".strip()).hang_up()
