"""A text from queued to delivered, with its status callbacks. Inbound texts are not here yet.

https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from .actions import Happened, Now, SendCallback
from .outbox import API_VERSION, Outbox
from .phones import Phone
from .progress import Pace
from .text_records import Text
from .timers import Timers


class TextProgress:
    """Moves texts through sending, sent, and what their phone makes of them."""

    def __init__(
        self, account_sid: str, timers: Timers, outbox: Outbox, pace: Pace, phone_of: Callable[[str], Phone]
    ) -> None:
        """Shares timers, outbox and pace with the engine."""
        self._account_sid, self._timers, self._outbox, self._pace = account_sid, timers, outbox, pace
        self._phone_of = phone_of

    def start(self, text: Text, now: Now) -> None:
        """Put a created text on its way."""
        self._happened("message.queued", text)
        self._after(text, now, self._sending)

    def _sending(self, text: Text, now: Now) -> None:
        self._become(text, now, "sending")
        self._after(text, now, self._sent)

    def _sent(self, text: Text, now: Now) -> None:
        text.sent = now
        self._become(text, now, "sent")
        self._after(text, now, self._arrives)

    def _arrives(self, text: Text, now: Now) -> None:
        phone = self._phone_of(text.request.to)
        if phone.texts == "undelivered":
            text.error_code = phone.error_code
            self._become(text, now, "undelivered")
            return
        text.arrived = True
        self._happened("message.received", text, body=text.body, from_=text.from_)
        if phone.texts == "delivered":
            self._become(text, now, "delivered")

    def _become(self, text: Text, now: Now, status: str) -> None:
        text.status, text.updated = status, now
        self._happened(f"message.{status}", text)
        if not text.request.status_callback:
            return
        fields = {
            "MessageSid": text.sid,
            "SmsSid": text.sid,
            "MessageStatus": status,
            "SmsStatus": status,
            "To": text.request.to,
            "From": text.from_,
            "AccountSid": self._account_sid,
            "ApiVersion": API_VERSION,
        }
        if text.request.service_sid:
            fields["MessagingServiceSid"] = text.request.service_sid
        if text.error_code is not None:
            fields["ErrorCode"] = str(text.error_code)
        if status in ("delivered", "undelivered"):
            fields["RawDlrDoneDate"] = datetime.fromtimestamp(now.date, UTC).strftime("%y%m%d%H%M")
        self._outbox.put(SendCallback(text.sid, text.request.status_callback, "POST", fields))

    def _happened(self, type_: str, text: Text, **data: object) -> None:
        self._outbox.put(Happened(type_, text.sid, text.request.to, dict(data)))

    def _after(self, text: Text, now: Now, then: Callable[[Text, Now], None]) -> None:
        self._timers.set((text.sid, "step"), now.s + self._pace.text_step_s, lambda later: then(text, later))
