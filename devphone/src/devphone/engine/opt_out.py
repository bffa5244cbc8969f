"""STOP, START and HELP: who does not want texts from which number, and what Twilio answers by itself.

Only the words and the blocks; the texts are `inbound_texts.py`. A block is between one number of the
account and one person; calls know nothing of it.
https://help.twilio.com/articles/223134027 (keywords), https://www.twilio.com/docs/api/errors/21610
"""

from __future__ import annotations

STOP_WORDS = frozenset("STOP STOPALL UNSUBSCRIBE END QUIT CANCEL REVOKE OPTOUT".split())
START_WORDS = frozenset("START YES UNSTOP".split())
HELP_WORDS = frozenset("HELP INFO".split())

STOPPED = "You will get no more texts from this number. Reply START to get them again."
STARTED = "You will get texts from this number again. Reply HELP for help, STOP for no more texts."
HELP = "Reply STOP for no more texts from this number. Your carrier may charge for texts."


class OptOuts:
    """The blocked pairs. Numbers are E.164."""

    def __init__(self) -> None:
        """Nobody has objected."""
        self._blocked: set[tuple[str, str]] = set()

    def blocks(self, number: str, person: str) -> bool:
        """Whether texts from the account's `number` to `person` are refused with 21610."""
        return (number, person) in self._blocked

    def answer(self, number: str, person: str, body: str) -> str | None:
        """Obey `body` when it is one keyword and nothing else; what is answered, None for silence.

        Case and blanks around it don't matter. Silent are a STOP of somebody blocked already, a HELP of
        somebody blocked, and a START, YES or UNSTOP of somebody who is not: a plain YES is an answer.
        """
        word, pair = body.strip().upper(), (number, person)
        if word in STOP_WORDS and pair not in self._blocked:
            self._blocked.add(pair)
            return STOPPED
        if word in START_WORDS and pair in self._blocked:
            self._blocked.remove(pair)
            return STARTED
        if word in HELP_WORDS and pair not in self._blocked:
            return HELP
        return None

    def clear(self) -> None:
        """Forget every block."""
        self._blocked.clear()
