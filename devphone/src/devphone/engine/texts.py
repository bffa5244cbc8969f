"""An outbound text from its create to the phone, with its status callbacks. Inbound: `inbound_texts.py`.

https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from devphone.urls import links_in

from .actions import FetchPreviews, Happened, Now, SendCallback
from .outbox import API_VERSION, Outbox
from .phones import Phone
from .progress import Pace
from .text_records import Text
from .timers import Timers

TOO_LATE = 30036
"""Waited longer than its ValidityPeriod; https://www.twilio.com/docs/api/errors/30036."""


class WrongTextState(Exception):
    """The text is not in a status in which that can be done; Twilio's 30409."""


class TextProgress:
    """Moves texts through queued, sending, sent, and what their phone makes of them."""

    def __init__(
        self,
        account_sid: str,
        timers: Timers,
        outbox: Outbox,
        pace: Pace,
        phone_of: Callable[[str], Phone],
        service_sender: str,
    ) -> None:
        """Shares timers, outbox and pace with the engine; a messaging service sends from `service_sender`."""
        self._account_sid, self._timers, self._outbox, self._pace = account_sid, timers, outbox, pace
        self._phone_of, self._service_sender = phone_of, service_sender

    def start(self, text: Text, now: Now) -> None:
        """Put a created text on its way, at once or when it is scheduled."""
        self._happened(f"message.{text.status}", text)
        if text.status == "scheduled":
            wait_s = max(0.0, (text.request.send_at or 0.0) - now.date)
            self._timers.set((text.sid, "step"), now.s + wait_s, lambda later: self._queue(text, later))
        elif text.status == "accepted":
            self._wait_in_queue(text, now, self._queue)
        else:
            self._wait_in_queue(text, now, self._leave_queue)

    def cancel(self, text: Text, now: Now) -> None:
        """Call a scheduled text off. Raises WrongTextState for any other."""
        if text.status != "scheduled":
            raise WrongTextState(f"the message is {text.status}, not scheduled")
        self._timers.cancel_all(text.sid)
        self._become(text, now, "canceled")

    def _queue(self, text: Text, now: Now) -> None:
        """The messaging service has chosen the sender."""
        text.from_ = text.from_ or self._service_sender
        self._become(text, now, "queued")
        self._wait_in_queue(text, now, self._leave_queue)

    def _wait_in_queue(self, text: Text, now: Now, then: Callable[[Text, Now], None]) -> None:
        """One step; the validity counts from the first such wait. A tie lets the text through."""
        self._after(text, now, then)
        if not self._timers.runs((text.sid, "validity")):
            due_s = now.s + text.request.validity_s
            self._timers.set(
                (text.sid, "validity"), due_s, lambda later: self._fail(text, later, "failed", TOO_LATE)
            )

    def _leave_queue(self, text: Text, now: Now) -> None:
        self._timers.cancel((text.sid, "validity"))
        phone = self._phone_of(text.request.to)
        if phone.texts == "failed":
            self._fail(text, now, "failed", phone.error_code)
            return
        self._become(text, now, "sending")
        self._after(text, now, self._sent)

    def _sent(self, text: Text, now: Now) -> None:
        text.sent = now
        self._become(text, now, "sent")
        self._after(text, now, self._arrives)

    def _arrives(self, text: Text, now: Now) -> None:
        phone = self._phone_of(text.request.to)
        if phone.texts == "undelivered":
            self._fail(text, now, "undelivered", phone.error_code)
            return
        text.arrived = True
        self._happened("message.received", text, body=text.body, from_=text.from_)
        if phone.previews and (links := links_in(text.body)):
            self._outbox.put(FetchPreviews(text.sid, text.request.to, links))
        if phone.texts == "delivered":
            self._become(text, now, "delivered")

    def _fail(self, text: Text, now: Now, status: str, code: int) -> None:
        self._timers.cancel_all(text.sid)
        text.error_code = code
        self._become(text, now, status)

    def _become(self, text: Text, now: Now, status: str) -> None:
        text.status, text.updated = status, now
        self._happened(f"message.{status}", text)
        if not text.request.status_callback:
            return
        fields = status_fields(text, self._account_sid)
        if status in ("delivered", "undelivered"):
            fields["RawDlrDoneDate"] = datetime.fromtimestamp(now.date, UTC).strftime("%y%m%d%H%M")
        self._outbox.put(SendCallback(text.sid, text.request.status_callback, "POST", fields))

    def _happened(self, type_: str, text: Text, **data: object) -> None:
        self._outbox.put(Happened(type_, text.sid, text.person, dict(data)))

    def _after(self, text: Text, now: Now, then: Callable[[Text, Now], None]) -> None:
        self._timers.set((text.sid, "step"), now.s + self._pace.text_step_s, lambda later: then(text, later))


def status_fields(text: Text, account_sid: str) -> dict[str, str]:
    """What a request about the status of an outbound text carries.

    https://www.twilio.com/docs/messaging/guides/track-outbound-message-status
    """
    fields = {
        "MessageSid": text.sid,
        "SmsSid": text.sid,
        "MessageStatus": text.status,
        "SmsStatus": text.status,
        "To": text.request.to,
        "From": text.from_,
        "AccountSid": account_sid,
        "ApiVersion": API_VERSION,
    }
    if text.request.service_sid:
        fields["MessagingServiceSid"] = text.request.service_sid
    if text.error_code is not None:
        fields["ErrorCode"] = str(text.error_code)
    return {name: value for name, value in fields.items() if value}
