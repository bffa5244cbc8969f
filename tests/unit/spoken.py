"""Handoffs that are spoken about, the documents made of them, and what a person hears in those.

What tests of scripts share; handoffs made by the commands that lead to them are in lives.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

from handoff import outcomes
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.moments import MINUTE
from handoff.states import CloseReason, Kind, State
from voice import scripts
from voice.keypad import Key, keys_for

NOW = 100 * MINUTE
KEY_URL = "https://pub.example/voice/key?call=ca_1&turn=1"
AGAIN_URL = "https://pub.example/voice/call?call=ca_1&turn=2"


def decision(name: str | None = "Ben", minutes_ago: int = 2, kind: ActorKind = ActorKind.CONTACT) -> Decision:
    """A word that counted, by keypress."""
    by = Actor(kind=kind, id=(name or "someone").lower(), name=name)
    return Decision(by=by, channel=Channel.CALL, proof=Proof.KEYPRESS, at=NOW - minutes_ago * MINUTE)


def handoff(kind: Kind = Kind.CLEAR, **changed: Any) -> Handoff:
    """An escalating handoff of the agent "shopper"."""
    fields: dict[str, Any] = {
        "id": "ho_1",
        "kind": kind,
        "state": State.ESCALATING,
        "reason": "A checkbox is blocking checkout",
        "agent": "shopper",
        "api_key": "ak_1",
        "timeout_s": 600,
        "policy": "default",
        "created_at": 0,
        "deadline": NOW + MINUTE,
    }
    return Handoff.model_validate(fields | changed)


def closed(state: State, reason: CloseReason, by: Decision | None = None, kind: Kind = Kind.CLEAR) -> Handoff:
    """A handoff that was closed two minutes ago."""
    return handoff(kind, state=state, close_reason=reason, closed_at=NOW - 2 * MINUTE, settlement=by)


def held(by: str = "Ada", kind: Kind = Kind.CLEAR) -> Handoff:
    """A handoff that somebody took two minutes ago, for five more minutes."""
    return handoff(
        kind, state=State.ACKNOWLEDGED, acknowledged=decision(by), acknowledged_until=NOW + 5 * MINUTE
    )


def greet(
    about: Handoff,
    turn: int = 1,
    text_sent: bool = True,
    has_next: bool = True,
    keys: Sequence[Key] = (),
    **more: Any,
) -> str:
    """The document of this turn, with `keys` or the usual ones."""
    keys = keys or keys_for(about, has_next=has_next)
    more = {"key_url": KEY_URL, "again_url": AGAIN_URL} | more
    return scripts.greeting(about, keys, turn=turn, text_sent=text_sent, **more)


def reply(outcome: outcomes.Outcome, about: Handoff, contact: str = "ada", text_sent: bool = True) -> str:
    """What the voice answers to the contact after a key."""
    keys = keys_for(about, has_next=True)
    urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
    return scripts.after(outcome, about, keys, now=NOW, contact=contact, text_sent=text_sent, **urls)


def verbs(document: str) -> list[ET.Element]:
    """The document's verbs; fails when it is no TwiML."""
    root = ET.fromstring(document.encode())
    assert root.tag == "Response", document
    return list(root)


def heard(document: str) -> str:
    """Everything that is said, in order."""
    return " ".join("".join(say.itertext()) for say in ET.fromstring(document.encode()).iter("Say"))


def gather_in(document: str) -> ET.Element:
    """The document's one Gather."""
    (gather,) = ET.fromstring(document.encode()).iter("Gather")
    return gather
