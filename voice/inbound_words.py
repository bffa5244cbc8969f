"""What somebody hears who calls us, before we know who they are and between two things. Pure, as scripts.py.

Nothing tells whether anything waits, but to who has shown who they are.
"""

from __future__ import annotations

from voice.documents import PLAIN, WAIT_S, Script, Voice

MOST_ASKED = 3  #: how often somebody who presses nothing is asked
_LONGEST = 12  # digits of a PIN

_NOBODY = "This number belongs to an automatic service, and nothing waits here for you. Goodbye."
_ASK = (
    "Enter your PIN or your code, then press pound. "
    "Or press 9, and then pound, to be called back on your own number."
)


def nothing_here() -> str:
    """For a stranger, and for who was wrong too often: the same sentence, in the same voice."""
    return Script(PLAIN).say(_NOBODY).hang_up()


def who_are_you(proof_url: str, again_url: str, *, wrong: bool = False) -> str:
    """Asks for a PIN or a code. `proof_url` gets it; `again_url` is asked when nothing came."""
    said = ["That was not right.", _ASK] if wrong else [_ASK]
    return (
        Script(PLAIN)
        .listen_for_digits(said, proof_url, most=_LONGEST + 1, finish="#", wait_s=WAIT_S)
        .then(again_url)
    )


def called_back() -> str:
    """The same whether or not anything waits: it was not shown who asks."""
    return (
        Script(PLAIN).say("If something waits for you, we call you. Please hang up now. Goodbye.").hang_up()
    )


def nothing_waits(*, more: bool, voice: Voice = PLAIN) -> str:
    """For who has shown who they are. `more`: something did, before."""
    return Script(voice).say(f"Nothing {'else ' if more else ''}waits for you. Goodbye.").hang_up()


def goodbye(voice: Voice = PLAIN) -> str:
    """For who showed a code: it let them in to one thing only."""
    return Script(voice).say("Goodbye.").hang_up()


def on_to(url: str) -> str:
    """Goes on there, without a word."""
    return Script(PLAIN).then(url)
