"""Reading numbers that others wrote: attributes of TwiML, fields of forms, parts of addresses.

Every such number is read here and nowhere else, so that none is too long: Python refuses to read more than
4,300 digits, and 400 digits are more than a float holds.
"""

from __future__ import annotations

import re

_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,20})?(e-?[0-9]{1,2})?")


def whole(text: str) -> int | None:
    """The whole number from 0 to 999,999,999 that `text` is; None for anything else, however long."""
    return int(text) if _WHOLE.fullmatch(text) else None


def decimal(text: str) -> float | None:
    """The number from 0 that `text` is, such as 1.5 or 2e-05; None for anything else, however long."""
    return float(text) if _DECIMAL.fullmatch(text) else None
