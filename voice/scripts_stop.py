"""What the voice says to somebody who wants no more calls. The other documents are scripts.py's."""

from __future__ import annotations

from voice.documents import PLAIN, Script, Voice
from voice.keypad import Action, Key

#: The keys that the question names; any other does what it does in the menu.
_KEYS = (Key("8", Action.STOP, "again"), Key("*", Action.REPEAT, "to go back"))


def ask(*, key_url: str, again_url: str, voice: Voice = PLAIN) -> str:
    """Asks once more, so that a slip of the finger takes no number away. `again_url` is the menu."""
    said = ["To stop all calls to this number, press 8 again.", "Or press star to go back."]
    return Script(voice).listen(said, _KEYS, key_url).then(again_url)


def stopped(voice: Voice = PLAIN) -> str:
    """Said when the opt-out is kept, and not before."""
    said = "We will not call this number again. An operator can undo it when you ask. Goodbye."
    return Script(voice).say(said).hang_up()
