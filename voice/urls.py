"""The paths Twilio and people are given: opaque ids only, never the reason, the words or the number.

Twilio signs the address it was given, so that every webhook's address is made here and nowhere else.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlencode


def voice(call: str) -> str:
    """Asked when the call was answered."""
    return f"/twilio/calls/{call}/voice"


def again(call: str, attempt: str, *, turn: int, silent: int, held: bool = False, waits: int = 0) -> str:
    """Asked when no key came. `turn` numbers the document, `silent` the menus read without a key; `waits`:
    how many things are said to wait for the caller, this one among them."""
    more = f"&waits={waits}" if waits else ""
    return f"/twilio/calls/{call}/attempts/{attempt}/again?" + _query(turn, silent, held) + more


def key(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    """Gets the key pressed in document `turn`."""
    return f"/twilio/calls/{call}/attempts/{attempt}/key?" + _query(turn, silent, held)


def confirm(call: str, attempt: str, key: str, *, turn: int, tries: int) -> str:
    """Asks for the code or the PIN that key `key` of the menu needs, and gets it; what was typed is never
    part of it. `tries` counts from 1."""
    query = urlencode({"turn": turn, "tries": tries})
    return f"/twilio/calls/{call}/attempts/{attempt}/confirm/{key}?{query}"


def stop(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    """Gets the key pressed in document `turn`, which asked whether calls to this number are to stop."""
    return f"/twilio/calls/{call}/attempts/{attempt}/stop?" + _query(turn, silent, held)


def question(call: str, attempt: str, what: Literal["key", "again"], *, turn: int) -> str:
    """Of the call that asks whether somebody may be called: gets the `key` pressed in document `turn`, or is
    asked `again` when none came."""
    return f"/twilio/calls/{call}/attempts/{attempt}/question/{what}?" + urlencode({"turn": turn})


def settled(call: str) -> str:
    """Says who settled it, to whoever is on the line."""
    return f"/twilio/calls/{call}/settled"


def machine(call: str) -> str:
    """Gets the verdict of machine detection."""
    return f"/twilio/calls/{call}/machine"


def message(call: str) -> str:
    """Says what is left to a mailbox."""
    return f"/twilio/calls/{call}/message"


def heard(call: str, attempt: str, *, turn: int, asked: int = 0) -> str:
    """Gets the words heard where a call screener may have the line. `turn` numbers the document, `asked` how
    often a screener was told who calls."""
    return f"/twilio/calls/{call}/attempts/{attempt}/heard?" + urlencode({"turn": turn, "asked": asked})


def inbound_calls() -> str:
    """Asked when somebody calls our number."""
    return "/twilio/calls/inbound"


def inbound_ask(silent: int) -> str:
    """Asks them once more, `silent` times after nothing came, to show who they are."""
    return f"/twilio/calls/inbound?silent={silent}"


def inbound_proof(turn: int) -> str:
    """Gets the PIN or code of try number `turn`."""
    return f"/twilio/calls/inbound/proof?turn={turn}"


def inbound_next(call: str, after: str) -> str:
    """Goes on to what waits for the caller after this attempt."""
    return f"/twilio/calls/inbound/{call}/next?after={after}"


def inbound_status() -> str:
    """Gets the status callbacks of calls to our number."""
    return "/twilio/calls/inbound/status"


def call_status(call: str) -> str:
    """Gets the call's status callbacks."""
    return f"/twilio/calls/{call}/status"


def text_status(handoff: str, attempt: str) -> str:
    """Gets the text's status callbacks."""
    return f"/twilio/texts/{handoff}/{attempt}/status"


def inbound_texts() -> str:
    """Asked what to answer to a text that somebody sends to our number."""
    return "/twilio/texts/inbound"


def card_status() -> str:
    """Gets the status callbacks of texts that offer the contact card."""
    return "/twilio/cards/status"


def card() -> str:
    """Our contact card."""
    return "/card"


def page(link: str) -> str:
    """The person's page."""
    return f"/h/{link}"


def code_page() -> str:
    """Where a six-digit code opens the same page."""
    return "/c"


def _query(turn: int, silent: int, held: bool) -> str:
    return urlencode({"turn": turn, "silent": silent} | ({"held": 1} if held else {}))
