"""What each key of the phone means: one table that both acts and is read aloud.

The menu a person hears is made from the same rows that decide what a key does, so that the voice can't
promise what the service does not do. What an action leads to is lifecycle.py's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from handoff.models import Handoff
from handoff.states import Kind


class Action(StrEnum):
    """What a person can say with one key."""

    YES = "yes"  #: it is done; or: approved
    NO = "no"  #: it can't be done; or: refused. Closes the handoff for everybody
    ACKNOWLEDGE = "acknowledge"  #: I'm on it
    NEXT = "next"  #: not me: reach the next person
    CALL_BACK = "call_back"  #: call me again in a while
    REPEAT = "repeat"  #: say it again
    STOP = "stop"  #: no more calls to this number; asked once more before it counts


@dataclass(frozen=True)
class Key:
    """One digit, what it does, and the words that follow "press 1" when the menu is read."""

    digit: str
    action: Action
    words: str
    later: bool = False  #: not read the first time: few need it, and a menu must be short

    @property
    def spoken(self) -> str:
        """The digit as a voice says it."""
        return {"*": "star", "#": "pound"}.get(self.digit, self.digit)


REPEAT = "*"
#: What `REPEAT` is said to be good for where the menu is not read to its end.
MORE = "for more choices"
_LATER = frozenset({Action.CALL_BACK, Action.STOP})
_EVERY_KIND = tuple(Kind)

#: In the order in which they are read. A kind that is missing in a row has no such key: the answer to a
#: question is typed behind the link, so that a single digit can't be taken for one.
_TABLE: tuple[tuple[str, Action, Mapping[Kind, str]], ...] = (
    ("1", Action.YES, {Kind.CLEAR: "when it is done", Kind.APPROVE: "to say yes"}),
    ("3", Action.ACKNOWLEDGE, dict.fromkeys(_EVERY_KIND, "if you are on it")),
    (
        "2",
        Action.NO,
        {Kind.CLEAR: "if it can't be done", Kind.ASK: "if you can't answer", Kind.APPROVE: "to say no"},
    ),
    ("0", Action.NEXT, dict.fromkeys(_EVERY_KIND, "to pass it to the next person")),
    ("9", Action.CALL_BACK, dict.fromkeys(_EVERY_KIND, "to be called back in two minutes")),
    (REPEAT, Action.REPEAT, dict.fromkeys(_EVERY_KIND, "to hear this again")),
    ("8", Action.STOP, dict.fromkeys(_EVERY_KIND, "to stop calls to this number")),
)


#: Of the call that asks whether somebody may be called; its question names the first two itself.
ASKED_KEYS = (
    Key("1", Action.YES, "for yes"),
    Key("2", Action.NO, "for no"),
    Key(REPEAT, Action.REPEAT, "to hear this again"),
)


def keys_for(
    handoff: Handoff,
    *,
    has_next: bool,
    calls_back: bool = False,
    settles: bool = True,
    inbound: bool = False,
) -> tuple[Key, ...]:
    """The keys that do something for this handoff now; none once it is closed.

    `has_next`: whether somebody would be reached next, so that passing it on is no empty promise.
    `calls_back`: whether whoever is on the line may be called back. `settles`: whether they can give the
    proof that a decision needs here; else they decide nothing by key. `inbound`: they called us. What a
    caller's number is said to be proves nothing, so that it can't be stopped there.
    """
    if handoff.closed:
        return ()
    offered = {
        Action.NEXT: has_next,
        Action.CALL_BACK: calls_back,
        Action.YES: settles,
        Action.NO: settles,
        Action.STOP: not inbound,
    }
    return tuple(
        Key(digit, action, words[handoff.kind], later=action in _LATER)
        for digit, action, words in _TABLE
        if handoff.kind in words and offered.get(action, True)
    )


def meaning(keys: Sequence[Key], digits: str) -> Action | None:
    """What was pressed means, or None when it is no key of this menu (or no single key at all)."""
    return next((key.action for key in keys if key.digit == digits), None)
