"""PINs: how they are kept, and whether one is right. Who may be asked for one is web/pin.py's business.

A PIN has a few digits, so that a hash can't hide it from somebody who holds it and has time; it keeps it from
being read in passing, and from being the same as somewhere else. What protects it are the few tries.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets

#: 8 MB and some 20 ms a try (RFC 7914): a web process checks one while agents wait to be woken.
_N, _R, _P = 2**13, 8, 1
_KEPT = re.compile(r"scrypt:([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})")
PIN = re.compile(r"[0-9]{6,12}")
#: Tries for one person in an hour over all handoffs, of which a requester may open as many as it likes; see
#: `counter`. Whoever goes on at this rate without a pause, and is not seen in the log, has one chance in four
#: at a PIN of six digits within a year.
TRIES_PER_PERSON, TRIES_WINDOW_S = 30, 3_600
_LONGEST = 100  # characters of a try that are looked at
_NOBODYS = f"scrypt:{'A' * 22}:{'A' * 43}"


def kept(pin: str, salt: bytes | None = None) -> str:
    """How a PIN of 6 to 12 digits is kept, and written into the people file. Raises ValueError for anything
    else. `salt` (16 bytes) is a fresh one, where it need not be the same in several processes."""
    if not PIN.fullmatch(pin):
        raise ValueError("a PIN has 6 to 12 digits")
    salt = salt or secrets.token_bytes(16)
    return f"scrypt:{_text(salt)}:{_text(_hash(pin, salt))}"


def is_kept(text: str) -> bool:
    """Whether `text` is what `kept` makes."""
    return _KEPT.fullmatch(text) is not None


def matches(given: str, pin: str | None) -> bool:
    """Whether `given` is the PIN that `kept` wrote; in a time that tells nothing, not even whether there is
    one. Nobody has no PIN."""
    found = _KEPT.fullmatch(pin or _NOBODYS)
    if found is None:
        raise ValueError("a PIN that was not made by `kept`")
    salt, right = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in found.groups())
    return hmac.compare_digest(_hash(given[:_LONGEST], salt), right) and pin is not None


def counter(contact_id: str, *, anybody: bool = False) -> str:
    """Under which name the tries for this person are counted (Store.over_rate). `anybody`: where no more was
    shown than a name or a caller ID. Those are counted apart, so that a stranger who tries there locks nobody
    out of a call that we placed to them, or of their own link."""
    return f"pin-of:{contact_id}" + (":anybody" if anybody else "")


def mark(pin: str) -> str:
    """A short name of what `kept` wrote: another one for another PIN, and for the same one kept anew. It
    tells nothing of the PIN to whoever does not have the salt."""
    return hashlib.sha256(pin.encode()).hexdigest()[:16]


def _hash(pin: str, salt: bytes) -> bytes:
    return hashlib.scrypt(pin.encode(), salt=salt, n=_N, r=_R, p=_P, dklen=32)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
