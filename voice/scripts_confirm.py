"""What the voice says where a key alone decides nothing: it asks for a code or a PIN, or says where else.

As in scripts.py: every sentence is inside the Gather, and something always follows it. Which code or PIN is
right is confirming.py's business.
"""

from __future__ import annotations

from handoff.models import ProofAsked
from voice.documents import PLAIN, Script, Voice

MOST_TRIES = 3  #: how often a code or a PIN is asked for in one call
_PIN_WAIT_S = 10  # people look a PIN up, or think of it
_LONGEST_PIN = 12  # digits; see handoff/pins.py


def elsewhere(asked: ProofAsked, *, has_pin: bool, text_sent: bool, screen: bool = True) -> str:
    """Why nothing can be decided by phone, and where it can be; nothing where it can be decided here.

    `has_pin`: whether the contact on the line has one. `text_sent`: whether they have a text with the link.
    `screen`: whether they can see one; else the page is nothing for them.
    """
    if asked is ProofAsked.LINK and not screen:
        return "This can't be decided by phone. Somebody else has to."
    if asked is ProofAsked.LINK:
        where = "the text has the link" if text_sent else "no text went out to you"
        return f"This has to be decided on the page: {where}."
    if asked is ProofAsked.PIN and not has_pin:
        return "This needs a PIN, and you have none here."
    return ""


def ask_code(code: str, *, tries: int, url: str, again_url: str, voice: Voice = PLAIN) -> str:
    """Two digits to press, so that an accidental key counts for nothing. From the second try on, the one
    before was wrong, or none came."""
    said = [*(["That was not it."] if tries > 1 else []), f"To confirm, press {' '.join(code)}."]
    return Script(voice).listen_for_digits(said, url, most=len(code)).then(again_url)


def ask_pin(*, wrong: bool, tries: int, url: str, again_url: str, voice: Voice = PLAIN) -> str:
    """The contact's PIN. `wrong`: the one just given was; else from the second try on none came."""
    before = "That PIN is not right." if wrong else "I did not hear a PIN." if tries > 1 else ""
    said = [before, "Enter your PIN, then press pound."]
    script = Script(voice).listen_for_digits(said, url, most=_LONGEST_PIN, finish="#", wait_s=_PIN_WAIT_S)
    return script.then(again_url)


def gave_up(asked: ProofAsked, *, locked: bool = False, text_sent: bool, voice: Voice = PLAIN) -> str:
    """After the last try. `locked`: this person's PIN was tried too often within an hour, by whoever."""
    if locked:
        what = "There were too many tries with your PIN. Please wait an hour."
    else:
        what = "That PIN is not right." if asked is ProofAsked.PIN else "That was not it."
    link = " The link in the text still works." if text_sent else ""
    return Script(voice).say(f"{what} Nothing is decided.{link} Goodbye.").hang_up()
