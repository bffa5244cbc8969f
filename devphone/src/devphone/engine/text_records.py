"""What is known about a text: plain records, changed by the engine only. Calls are in `records.py`.

How they look on Twilio's wire is `web/messages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devphone.numbers import new_sid
from devphone.segments import count, smart

from .actions import Now

Direction = Literal["outbound-api", "outbound-reply", "inbound"]

LONGEST_VALIDITY_S = 36000
UNFINISHED = ("accepted", "scheduled", "queued", "sending")
"""Statuses of a text that has not left Twilio."""

ERROR_MESSAGES = {
    30001: "Queue overflow",
    30002: "Account suspended",
    30003: "Unreachable destination handset",
    30004: "Message blocked",
    30005: "Unknown destination handset",
    30006: "Landline or unreachable carrier",
    30007: "Message filtered",
    30008: "Unknown error",
    30017: "Carrier network congestion",
    30022: "US A2P 10DLC - Rate Limits Exceeded",
    30023: "US A2P 10DLC - Daily Message Cap Reached",
    30032: "Toll-Free Number Has Not Been Verified",
    30034: "US A2P 10DLC - Message from an Unregistered Number",
    30035: "US A2P 10DLC - Message from a number still being configured",
    30036: "Validity Period Expired",
    30410: "Provider Timeout Error",
    30450: "Message delivery blocked",
}
"""What went wrong with a text, in the words of https://www.twilio.com/docs/api/errors."""


@dataclass(frozen=True)
class TextRequest:
    """A text that was found valid. `from_` is empty when a messaging service chooses the sender.

    `send_at` is Unix seconds, None = at once; `validity_s` is how long it may wait at Twilio.
    """

    to: str
    body: str
    from_: str = ""
    service_sid: str = ""
    media: tuple[str, ...] = ()
    status_callback: str = ""
    direction: Direction = "outbound-api"
    send_at: float | None = None
    validity_s: int = LONGEST_VALIDITY_S
    smart_encoded: bool = False
    as_mms: bool = False


@dataclass
class Text:
    """One message between the account and a phone.

    `from_` is empty while no sender is chosen. `encoding` is GSM-7 or UCS-2. `arrived` = it can be read on
    the person's phone, which an inbound text never does. `sent` of an inbound text is when it came in.
    `order` grows from one text to the next. `erased` and `deleted`: the application had the body, or all, of
    Twilio's record removed; a text that has left goes on, and what is on the person's phone stays there.
    """

    sid: str
    order: int
    request: TextRequest
    from_: str
    body: str
    encoding: str
    segments: int
    created: Now
    updated: Now
    status: str = "queued"
    sent: Now | None = None
    arrived: bool = False
    erased: bool = False
    deleted: bool = False
    error_code: int | None = None

    @property
    def direction(self) -> Direction:
        """Who sent it, and how."""
        return self.request.direction

    @property
    def person(self) -> str:
        """The number of the person's phone (E.164)."""
        return self.from_ if self.direction == "inbound" else self.request.to

    @property
    def error_message(self) -> str | None:
        """The title of `error_code`, None without one."""
        if self.error_code is None:
            return None
        return ERROR_MESSAGES.get(self.error_code, f"Error {self.error_code}")


def new_text(order: int, request: TextRequest, now: Now, prefix: str = "") -> Text:
    """A text in its first status; `prefix` goes before the body and counts; see Text for `order`.

    The first status is `accepted` when a messaging service is named, `scheduled` when it is for later, else
    `queued`; https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks.
    An MMS is one segment, whatever its length.
    """
    body = prefix + (smart(request.body) if request.smart_encoded else request.body)
    encoding, segments = count(body)
    mms = bool(request.media) or request.as_mms
    status = "accepted" if request.service_sid else "queued"
    if request.direction == "inbound":
        status = "received"
    elif request.send_at is not None:
        status = "scheduled"
    return Text(
        new_sid("MM" if mms else "SM"),
        order,
        request,
        from_=request.from_,
        body=body,
        encoding=encoding,
        segments=1 if mms else segments,
        created=now,
        updated=now,
        status=status,
    )
