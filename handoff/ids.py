"""How ids are made. They name things and open nothing: secrets are made in keys.py and links.py."""

from __future__ import annotations

import re
import secrets
import string

_ALPHABET = string.digits + string.ascii_letters
_LENGTH = 22  # 62**22 > 2**130: no two are ever alike

HANDOFF, ATTEMPT, CALL, API_KEY = "ho", "at", "ca", "ak"
OPT_OUT, WARNING = "oo", "wa"

PATTERN = re.compile(r"(?:ho|at|ca|ak|oo|wa)_[0-9A-Za-z]{22}")


#: An agent's name: it is part of key names in the store, and is read aloud.
AGENT_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


def new_id(kind: str) -> str:
    """A fresh id such as `ho_` + 22 letters and digits; `kind` is one of the constants above."""
    return f"{kind}_{random_text(_LENGTH)}"


def derived_id(kind: str, digest: bytes) -> str:
    """The id that always belongs to this digest of 32 bytes."""
    number, letters = int.from_bytes(digest, "big"), []
    for _ in range(_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return f"{kind}_{''.join(letters)}"


def random_text(length: int) -> str:
    """`length` letters and digits from the system's random source (5.95 bits each)."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))


def is_id(text: str, kind: str) -> bool:
    """Whether `text` has the shape of an id of this kind; anything else need not be looked up."""
    return bool(PATTERN.fullmatch(text)) and text.startswith(kind + "_")
