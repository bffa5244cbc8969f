"""What an operator must know apart from handoffs: who asked us to stop, and what only an operator can mend.

Records, and the sentence for each. Which report makes one is attempts.py's and opt_outs.py's business, what
Twilio's codes mean voice/troubles.py's. Nothing here reads or writes; numbers are kept masked.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from handoff.models import Channel, Record


class Stopped(StrEnum):
    """How it became known that somebody wants no more calls or texts."""

    KEY = "key"  #: they pressed 8 twice during a call
    TEXT = "text"  #: they texted STOP, and we were told
    PROVIDER = "provider"  #: the provider refused a text because of a STOP that we were not told of


class Seen(StrEnum):
    """Where it was seen: what proves the opposite there makes the warning go."""

    CALL = "call"  #: refused when a call was asked for
    TEXT = "text"  #: refused when a text was asked for
    RECEIPT = "receipt"  #: a text was taken and did not arrive


class OptOut(Record):
    """No more calls to this number; or no more texts to it from this sender. `key` is what it is found by."""

    v: Literal[1] = 1
    id: str = ""  # given by the store, at random: addresses get into logs, and `key` could be guessed back
    key: str
    channel: Literal[Channel.CALL, Channel.TEXT]
    contact: str
    contact_name: str
    number: str  # masked
    sender: str | None = None  # texts: our number, or our Messaging Service
    how: Stopped
    seen: Seen  # where, for what is taken for the end of it
    at: int

    @property
    def tried_again(self) -> bool:
        """Whether the next handoff tries all the same: only the provider knows when it is over, and says so
        by taking a text."""
        return self.how is Stopped.PROVIDER


def opt_out_key(channel: Channel, number: str, sender: str | None = None) -> str:
    """The name of an opt-out in the store: a hash, so that numbers of people who left are not kept."""
    return hashlib.sha256(f"{channel}|{number}|{sender or ''}".encode()).hexdigest()


class Concern(StrEnum):
    """What a warning is about."""

    BAD_NUMBER = "bad_number"  #: the number is no good
    FORBIDDEN = "forbidden"  #: our account, or its settings, do not allow it
    OPTED_OUT = "opted_out"  #: they pressed 8 twice: no calls
    NO_TEXTS = "no_texts"  #: they sent STOP: no texts


class Warned(Record):
    """One thing that an operator must act on, as it was seen last. What is the same has the same `key`."""

    v: Literal[1] = 1
    key: str
    kind: Concern
    seen: Seen
    contact: str | None = None  # None: it is about our sender, and nobody is reached from there
    contact_name: str | None = None
    number: str | None = None  # masked
    sender: str | None = None
    code: int | None = None  # the provider's
    why: str | None = None
    opt_out: str | None = None  # the key of the opt-out that it is about


class Warning(Record):
    """A warning as it is kept: what was seen last, how often, and since when (ms)."""

    id: str  # given by the store, as an opt-out's
    about: Warned
    first: int
    last: int
    count: int
    opt_out: str | None = None  # the id of the opt-out that it is about, while there is one


@dataclass(frozen=True)
class Trouble:
    """What a refusal says of the number, or with `ours` of our own account or sender."""

    kind: Concern
    seen: Seen
    code: int | None
    why: str
    sender: str | None = None
    ours: bool = False


@dataclass(frozen=True)
class Notices:
    """What a commit keeps for operators, beside the records it changes."""

    opt_outs: tuple[OptOut, ...] = ()
    lifted: tuple[str, ...] = ()  # keys of opt-outs that are over
    warned: tuple[Warned, ...] = ()
    cleared: tuple[
        str, ...
    ] = ()  # keys of warnings that are proven wrong, or dismissed; most were never given


def warning_key(kind: Concern, seen: Seen, about: str) -> str:
    """The name in the store of a warning about this number or sender."""
    return hashlib.sha256(f"{kind}|{seen}|{about}".encode()).hexdigest()


def proven_by_placing(number: str, sender: str) -> tuple[str, ...]:
    """Warnings that are wrong when the provider took a call to this number."""
    return tuple(warning_key(Concern.FORBIDDEN, Seen.CALL, about) for about in (number, sender))


def proven_by_answer(number: str) -> tuple[str, ...]:
    """Warnings that are wrong when a call to this number was picked up."""
    return (warning_key(Concern.BAD_NUMBER, Seen.CALL, number),)


def proven_by_taking(number: str, sender: str) -> tuple[str, ...]:
    """Warnings that are wrong when the provider took a text."""
    kinds = (Concern.BAD_NUMBER, Concern.FORBIDDEN)
    of_number = [warning_key(kind, Seen.TEXT, number) for kind in kinds]
    return (*of_number, warning_key(Concern.FORBIDDEN, Seen.TEXT, sender))


def proven_by_receipt(number: str, sender: str) -> tuple[str, ...]:
    """Warnings that are wrong when a text arrived."""
    kinds = (Concern.BAD_NUMBER, Concern.FORBIDDEN)
    of_number = [warning_key(kind, Seen.RECEIPT, number) for kind in kinds]
    late = (*of_number, warning_key(Concern.FORBIDDEN, Seen.RECEIPT, sender))
    return (*late, *proven_by_taking(number, sender))


def sentence(one: Warned) -> str:
    """What is wrong and what to do, for an operator's eyes."""
    code = f" (Twilio error {one.code})" if one.code else ""
    who, at = one.contact_name or one.contact or "Nobody", one.number or ""
    what = "Texts" if one.seen is not Seen.CALL else "Calls"
    match one.kind:
        case Concern.BAD_NUMBER:
            kind = "" if one.seen is Seen.CALL else " for texts"
            return f"{who}’s number {at} is not a good one{kind}{code}: correct it where it is configured."
        case Concern.OPTED_OUT:
            return f"{who} pressed 8 twice: {at} is not called any more. Lift it only if they ask for it."
        case Concern.NO_TEXTS:
            return f"{who} must text START to {_sender(one.sender)} before {at} can be texted again{code}."
        case _ if one.contact is None:
            return f"{what} to anybody fail: {one.why}{code}."
        case _:
            return f"{what} to {who} at {at} are not allowed: {one.why}{code}."


def _sender(sender: str | None) -> str:
    return sender if sender and sender.startswith("+") else "the number that our texts come from"
