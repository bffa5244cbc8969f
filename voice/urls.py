"""The paths Twilio and people are given: opaque ids only, never the reason, the words or the number.

Twilio signs the address it was given, so that every webhook's address is made here and nowhere else.
"""

from __future__ import annotations

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


def settled(call: str) -> str:
    """Says who settled it, to whoever is on the line."""
    return f"/twilio/calls/{call}/settled"


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


def inbound_texts() -> str:
    """Gets texts to our number."""
    return "/twilio/texts/inbound"


def call_status(call: str) -> str:
    """Gets the call's status callbacks."""
    return f"/twilio/calls/{call}/status"


def text_status(handoff: str, attempt: str) -> str:
    """Gets the text's status callbacks."""
    return f"/twilio/texts/{handoff}/{attempt}/status"


def page(link: str) -> str:
    """The person's page."""
    return f"/h/{link}"


def code_page() -> str:
    """Where a six-digit code opens the same page."""
    return "/c"


def _query(turn: int, silent: int, held: bool) -> str:
    return urlencode({"turn": turn, "silent": silent} | ({"held": 1} if held else {}))
