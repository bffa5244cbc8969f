"""One-use codes of six digits: what a link opens, for somebody who can't tap one.

A code is bound to one handoff and one contact, and opens exactly what their link would. It is derived, so
that the same call can say it again. Pure: which codes are live is code_book.py's business.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata

from handoff.moments import DAY, MINUTE

DIGITS = 6
#: A code that was said aloud is good for no longer, ms; a call lasts ten minutes at most.
SPOKEN_MS = 15 * MINUTE
#: One that stands in a text is good until the deadline, but no longer than this, ms: a handoff may be open
#: for three months, in which a patient guesser would find it.
TEXTED_MS = DAY


def derive(server_key: str, handoff_id: str, contact_id: str, place: str, number: int) -> str:
    """The code with this number for this place: the attempt that it is said or sent in."""
    # 64 bits, so that no code is more likely than another by more than one in 10**13.
    digest = _mac(server_key, "code", handoff_id, contact_id, place, str(number))[:8]
    return f"{int.from_bytes(digest, 'big') % 10**DIGITS:0{DIGITS}d}"


def hashed(server_key: str, code: str) -> str:
    """How a code is kept. Without the server's key a million hashes would be made in a second."""
    return _mac(server_key, "code-kept", code).hex()


def tidy(typed: str) -> str | None:
    """The code in what was typed (`482 913`, full-width digits), or None when it can't be one."""
    kept = "".join(char for char in unicodedata.normalize("NFKC", typed[:100]) if char not in " -.\t")
    return kept if len(kept) == DIGITS and kept.isascii() and kept.isdigit() else None


def _mac(server_key: str, *parts: str) -> bytes:
    return hmac.new(server_key.encode(), "|".join(parts).encode(), hashlib.sha256).digest()
