"""The person's own link for one handoff, and the form nonce of the page behind it.

A link is 128 bits of HMAC-SHA256 over (server key, handoff, contact), written as 22 letters and digits,
so that a job can make it again without having kept it. Whoever holds it is taken for that contact, on
this handoff only; the store keeps its hash and whom it belongs to.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import string
from collections.abc import Sequence

_ALPHABET = string.digits + string.ascii_letters
_LENGTH = 22  # 62**22 > 2**128
SHAPE = re.compile(rf"[0-9A-Za-z]{{{_LENGTH}}}")
#: Characters that phones glue to the end of a link when a sentence ends there.
GLUED = ".,)]>;:!?'\""


def make(server_key: str, handoff_id: str, contact_id: str) -> str:
    """The link's secret part for this contact on this handoff."""
    digest = _mac(server_key, "link", handoff_id, contact_id)[:16]
    number = int.from_bytes(digest, "big")
    letters = []
    for _ in range(_LENGTH):
        number, rest = divmod(number, 62)
        letters.append(_ALPHABET[rest])
    return "".join(reversed(letters))


def tidy(text: str) -> str | None:
    """The link in what arrived as its path, or None when it can't be one."""
    link = text.rstrip(GLUED)
    return link if SHAPE.fullmatch(link) else None


def make_nonce(server_key: str, link: str) -> str:
    """A fresh nonce for a form on the page behind this link. It proves that the page was loaded, and it
    is the command's id, so that a form sent twice is one command."""
    nonce = secrets.token_hex(12)
    return f"{nonce}.{_mac(server_key, 'form', link, nonce).hex()[:32]}"


def check_nonce(server_keys: Sequence[str], link: str, nonce: str) -> bool:
    """Whether this nonce was made by us for this link, under any of the server's keys."""
    text, _, mac = nonce.partition(".")
    expected = [_mac(key, "form", link, text).hex()[:32] for key in server_keys]
    # Every key is compared, so that the time taken does not tell which of them it was.
    return any([hmac.compare_digest(one.encode(), mac.encode()) for one in expected])


def _mac(server_key: str, *parts: str) -> bytes:
    return hmac.new(server_key.encode(), "|".join(parts).encode(), hashlib.sha256).digest()
