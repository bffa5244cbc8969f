"""The two digits that confirm a key, and how what was typed is named without keeping it.

A code is made again from the server's key whenever it is needed: it is in no URL, log or record. When one is
asked for is confirming.py's business.
"""

from __future__ import annotations

import hashlib
import hmac

#: Two digits that differ, the first no zero: leaning on a key, or pressing it twice, is none of them.
CODES = tuple(f"{ten}{one}" for ten in range(1, 10) for one in range(10) if ten != one)


def code_for(server_key: str, attempt: str, key: str, *, turn: int, tries: int) -> str:
    """The code that the document `turn` reads out in this attempt, for this key of the menu. Another one at
    each of its first tries."""
    seed = _mac(server_key, "code", attempt, key, str(turn - tries))
    start, stride = int.from_bytes(seed[:8], "big"), 1 + int.from_bytes(seed[8:16], "big") % (len(CODES) - 1)
    return CODES[(start + tries * stride) % len(CODES)]


def mark(server_key: str, attempt: str, turn: int, typed: str) -> str:
    """A short name of what was typed in a document; it tells nothing to whoever lacks the server's key."""
    return _mac(server_key, "typed", attempt, str(turn), typed).hex()[:16]


def _mac(server_key: str, *parts: str) -> bytes:
    return hmac.new(server_key.encode(), "|".join(parts).encode(), hashlib.sha256).digest()
