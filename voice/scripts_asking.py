"""What the voice says in the call that asks somebody whether they may be called. The question itself is
handoff/enrolment.py's, since its exact words are kept with the answer.
"""

from __future__ import annotations

from handoff.models import Handoff
from handoff.outcomes import Outcome
from handoff.states import State
from voice.documents import PLAIN, Script, Voice
from voice.keypad import ASKED_KEYS
from voice.speech import clean, sentence


def question(
    handoff: Handoff,
    *,
    key_url: str,
    again_url: str,
    turn: int,
    caller_word: str | None = None,
    voice: Voice = PLAIN,
) -> str:
    """The caller word and the question, word for word as it is kept. Turns count from 1."""
    word = f"{sentence(clean(caller_word))} " if caller_word else ""
    said = [f"{word}{handoff.reason}"] if turn <= 1 else ["I did not hear a yes or a no.", handoff.reason]
    return Script(voice).listen(said, ASKED_KEYS, key_url).then(again_url)


def kept(outcome: Outcome, handoff: Handoff, *, card: bool, voice: Voice = PLAIN) -> str:
    """After an answer that was committed. `card`: a text with our contact card goes out to them."""
    if outcome.state is State.RESOLVED:
        text = " You get a text that tells how to let our calls ring through." if card else ""
        return Script(voice).say(f"Thank you. We may call you for {handoff.agent}.{text} Goodbye.").hang_up()
    return Script(voice).say("All right. We will not call you. Goodbye.").hang_up()


def no_key(handoff: Handoff, *, voice: Voice = PLAIN) -> str:
    """After the last turn without a key: silence is no yes."""
    said = f"You pressed no key, so we will not call you for {handoff.agent}. Goodbye."
    return Script(voice).say(said).hang_up()
