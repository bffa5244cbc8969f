"""Which codes are live: given out, looked up, used up once. How they are derived is codes.py's business.

Where a code is asked for, and how often one may try, is web/code_page.py's and voice/inbound_calls.py's.
"""

from __future__ import annotations

from collections.abc import Sequence

from handoff import codes, links
from handoff.commands import Handoffs
from handoff.errors import Unavailable
from handoff.store import Code

#: How many codes are tried until one is free: with a thousand live ones, each try fails once in a thousand.
_TRIES = 20


def give(
    handoffs: Handoffs, server_keys: Sequence[str], handoff_id: str, contact_id: str, place: str, until: int
) -> str:
    """A live code for this contact on this handoff, the same one for the same place until it was used.

    Good until `until` (ms). Raises Unavailable when no code was free, which does not happen.
    """
    kept = handoffs.store.codes
    first = kept.number(handoff_id, place)
    for number in range(first, first + _TRIES):
        code = codes.derive(server_keys[0], handoff_id, contact_id, place, number)
        made = Code(handoff_id, contact_id, place, number, until)
        if kept.put(codes.hashed(server_keys[0], code), made, handoffs.clock()):
            return code
    raise Unavailable("No code could be made. Please try again.")


def find(handoffs: Handoffs, server_keys: Sequence[str], typed: str) -> tuple[str, Code] | None:
    """The hash of what was typed, and what is kept under it: live or used; None when there is nothing.

    Always looks, under every key of the server, so that the time taken does not tell what was wrong.
    """
    code = codes.tidy(typed) or "none"
    hashes = [codes.hashed(key, code) for key in server_keys]
    read = [(one, handoffs.store.codes.read(one)) for one in hashes]
    return next(((hash_, found) for hash_, found in read if found is not None), None)


def use(handoffs: Handoffs, found: tuple[str, Code], command: str) -> bool:
    """Uses a live code up. True once, and again for the same `command`, whose answer may have been lost."""
    hash_, code = found
    if handoffs.clock() >= code.until:
        return False
    return handoffs.store.codes.use(hash_, code, command)


def link_of(handoffs: Handoffs, server_keys: Sequence[str], code: Code) -> str:
    """The link of the person whom a code belongs to, made good."""
    link = links.make(server_keys[0], code.handoff, code.contact)
    handoffs.store.put_link(link, code.handoff, code.contact)
    return link
