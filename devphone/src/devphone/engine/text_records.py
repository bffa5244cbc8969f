"""What is known about a text: plain records, changed by the engine only. Calls are in `records.py`.

How they look on Twilio's wire is `web/messages.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .actions import Now


@dataclass(frozen=True)
class TextRequest:
    """A message create that was found valid."""

    to: str
    body: str
    from_: str = ""
    service_sid: str = ""
    media: tuple[str, ...] = ()
    status_callback: str = ""


@dataclass
class Text:
    """One message on its way to a phone. `encoding` is GSM-7 or UCS-2; `arrived` = it can be read there."""

    sid: str
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
    error_code: int | None = None
