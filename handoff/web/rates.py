"""How often somebody may try: per link, and per address for who shows nothing that is good.

An address says little: behind one may be a whole carrier. So whoever holds a good link is held to that
link's own limit and never to the address's.
"""

from __future__ import annotations

import ipaddress

from flask import request

from handoff.web.context import services

#: Acts per link and minute: far more than a person makes, far fewer than a script would.
ACTS = 30
#: Requests for links that lead nowhere, per address and minute.
GUESSES = 30
WINDOW_S = 60
SLOWLY = "That was a lot at once. Please wait a minute."


def over(what: str, limit: int, window_s: int = WINDOW_S) -> bool:
    """Counts one; True when it was too many for this window."""
    return services().store.over_rate(what, limit, window_s)


def over_from_here(what: str, limit: int = GUESSES, window_s: int = WINDOW_S) -> bool:
    """The same, for the address that this request comes from."""
    return over(f"{what}:{origin()}", limit, window_s)


def origin() -> str:
    """The address that this request comes from; of IPv6 the /64, which is what one customer has
    (https://www.rfc-editor.org/rfc/rfc6177)."""
    given = request.remote_addr or ""
    try:
        address = ipaddress.ip_address(given)
    except ValueError:  # a proxy of ours may say anything; all who can't be told apart are one
        return "unknown"
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False).network_address)
