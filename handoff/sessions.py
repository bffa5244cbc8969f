"""What a browser carries for us between two requests: a subject and an end, sealed with the server's key.

Nothing is kept on our side, so that any web process knows any browser. What a subject may do is the
views' business; they look it up anew with every request, so that a revoked key ends its sessions.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence


def seal(server_key: str, purpose: str, subject: str, expires: int) -> str:
    """Text for a cookie that names `subject` until `expires` (ms). Readable by its holder, not to be forged,
    and good for this `purpose` only."""
    claim = f"{expires}|{subject}"
    text = base64.urlsafe_b64encode(claim.encode()).decode().rstrip("=")
    return f"{text}.{_mac(server_key, purpose, claim)}"


def unseal(server_keys: Sequence[str], purpose: str, text: str, now: int) -> str | None:
    """The subject, or None when the text was not sealed by any of these keys for this purpose, or its time is
    over."""
    encoded, _, mac = text.partition(".")
    try:
        claim = base64.urlsafe_b64decode(encoded.encode() + b"=" * (-len(encoded) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    expected = [_mac(key, purpose, claim) for key in server_keys]
    # Every key is compared, so that the time taken does not tell which of them it was.
    if not any([hmac.compare_digest(one.encode(), mac.encode()) for one in expected]):
        return None
    expires, _, subject = claim.partition("|")
    return subject if now < int(expires) else None


def _mac(server_key: str, purpose: str, claim: str) -> str:
    return hmac.new(server_key.encode(), f"session|{purpose}|{claim}".encode(), hashlib.sha256).hexdigest()
