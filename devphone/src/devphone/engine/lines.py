"""A number of the account, and where its inbound calls and texts are sent. Nothing is sent here.

How it looks on Twilio's wire is `web/incoming_numbers.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from devphone.numbers import formatted

from .actions import Now


@dataclass(frozen=True)
class Line:
    """One number (E.164). URLs are absolute, "" = not set; methods are GET or POST.

    `status_callback` hears of inbound calls that ended. Lists show the greatest `order` first.
    https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
    """

    number: str
    sid: str
    order: int
    friendly_name: str
    created: Now
    updated: Now
    voice_url: str = ""
    voice_method: str = "POST"
    voice_fallback_url: str = ""
    voice_fallback_method: str = "POST"
    status_callback: str = ""
    status_callback_method: str = "POST"
    sms_url: str = ""
    sms_method: str = "POST"
    sms_fallback_url: str = ""
    sms_fallback_method: str = "POST"


def line_sid(number: str) -> str:
    """PN and 32 hexadecimal digits, always the same for one number."""
    return "PN" + hashlib.sha256(number.encode()).hexdigest()[:32]


def new_line(number: str, order: int, now: Now) -> Line:
    """A number as it is at the start: nothing is set."""
    return Line(number, line_sid(number), order, formatted(number), created=now, updated=now)
