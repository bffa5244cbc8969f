"""Phone numbers and sids as Twilio writes them: checking, formatting, and the magic test numbers.

Nothing here remembers a number.
"""

from __future__ import annotations

import re
import secrets

E164 = re.compile(r"\+[1-9][0-9]{6,14}")

MAGIC_CALL_TO = {"+15005550001": 21217, "+15005550002": 21214, "+15005550003": 21215, "+15005550004": 21216}
"""To-numbers that refuse a call; https://www.twilio.com/docs/iam/test-credentials."""
MAGIC_CALL_FROM = {"+15005550001": 21212}
"""From-numbers that refuse a call."""
MAGIC_TEXT_TO = {
    "+15005550001": 21211,
    "+15005550002": 21612,
    "+15005550003": 21408,
    "+15005550004": 21610,
    "+15005550009": 21614,
}
"""To-numbers that refuse a text."""
MAGIC_TEXT_FROM = {"+15005550001": 21212, "+15005550007": 21606, "+15005550008": 21611}
"""From-numbers that refuse a text."""
MAGIC_SENDER = "+15005550006"
"""The one magic number that may always call and text."""


def is_e164(number: str) -> bool:
    """Whether `number` is a plus and 7 to 15 digits."""
    return E164.fullmatch(number) is not None


def masked(number: str) -> str:
    """A number for logs and lists that need no more than its end: `…0123`."""
    return "…" + number[-4:]


def formatted(number: str) -> str:
    """What Twilio puts in `to_formatted`: `(212) 555-0123` for North America, else the number itself."""
    if re.fullmatch(r"\+1[0-9]{10}", number):
        return f"({number[2:5]}) {number[5:8]}-{number[8:]}"
    return number


def new_sid(prefix: str) -> str:
    """A fresh id of Twilio's shape: two letters and 32 hexadecimal digits."""
    return prefix + secrets.token_hex(16)
