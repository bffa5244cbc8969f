"""A call from the queue to its end: dialling, ringing, answering, hanging up, and the status callbacks.

What the call says while it is answered is `programme.py`.
https://www.twilio.com/docs/voice/api/call-resource#call-status-values
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from devphone.dates import rfc2822

from .actions import Now, SendCallback
from .outbox import Outbox, call_fields
from .phones import Phone
from .programme import ProgrammeRunner
from .records import Call, CallChange
from .timers import Timers


class WrongCallState(Exception):
    """The call is not in a state in which that can be done; Twilio's 21220."""


@dataclass
class Pace:
    """How long things take, in seconds: waiting in the queue, finding the phone, one step of a text."""

    queue_s: float = 0.0
    ring_s: float = 0.0
    text_step_s: float = 0.0


class CallProgress:
    """Moves calls through their states. `phone_of` says how a number behaves."""

    def __init__(
        self, account_sid: str, timers: Timers, outbox: Outbox, pace: Pace, phone_of: Callable[[str], Phone]
    ) -> None:
        """Shares timers, outbox and pace with the engine."""
        self._account_sid, self._timers, self._outbox, self._pace = account_sid, timers, outbox, pace
        self._phone_of = phone_of
        self.programme = ProgrammeRunner(account_sid, timers, outbox, self._end)

    def start(self, call: Call, now: Now) -> None:
        """Put a created call on its way."""
        self._outbox.happened("call.queued", call, to=call.request.to, from_=call.request.from_)
        self._after(call, now, "step", self._pace.queue_s, self._dial)

    def change(self, call: Call, now: Now, change: CallChange) -> None:
        """Apply a REST update. Raises WrongCallState for an ended call, or redirecting an unanswered one."""
        redirects = change.redirect_url is not None or change.twiml is not None
        if call.over or (redirects and call.status != "in-progress"):
            raise WrongCallState(f"call is {call.status}")
        old = call.request
        call.request = replace(
            old,
            fallback_url=old.fallback_url if change.fallback_url is None else change.fallback_url,
            fallback_method=change.fallback_method or old.fallback_method,
            status_callback=old.status_callback if change.status_callback is None else change.status_callback,
            status_callback_method=change.status_callback_method or old.status_callback_method,
            time_limit_s=change.time_limit_s or old.time_limit_s,
        )
        call.updated = now
        if change.time_limit_s is not None and call.answered:
            left_s = call.answered.s + change.time_limit_s - now.s
            self._after(call, now, "limit", max(0.0, left_s), self._time_is_up)
        if change.redirect_url is not None:
            self._outbox.happened("call.redirected", call, url=change.redirect_url)
            self.programme.redirect(call, now, change.redirect_url, change.redirect_method)
        elif change.twiml is not None:
            self._outbox.happened("call.redirected", call, url="")
            self.programme.run_inline(call, now, change.twiml)
        elif change.status == "completed" and call.status == "in-progress":
            self._end(call, now, "completed", 200)
        elif change.status is not None and call.status != "in-progress":
            self._end(call, now, "canceled", 487)

    def answer(self, call: Call, now: Now) -> None:
        """The phone is picked up. Raises WrongCallState unless it rings."""
        if call.status != "ringing":
            raise WrongCallState(f"call is {call.status}, not ringing")
        self._timers.cancel_all(call.sid)
        call.answered = now
        self._become(call, now, "in-progress")
        self._callback(call, now, "answered", "in-progress")
        self._outbox.happened("call.answered", call)
        self._after(call, now, "limit", call.request.time_limit_s, self._time_is_up)
        phone = self._phone_of(call.request.to)
        if phone.behaviour == "voicemail":
            self._after(call, now, "person", phone.records_s, self.hang_up)
        self.programme.start(call, now)

    def hang_up(self, call: Call, now: Now) -> None:
        """The person hangs up. Raises WrongCallState unless the call is answered."""
        if call.status != "in-progress":
            raise WrongCallState(f"call is {call.status}, not answered")
        self._outbox.happened("call.hung_up", call)
        self._end(call, now, "completed", 200)

    def refuse(self, call: Call, now: Now, status: str, sip_code: int) -> None:
        """The phone turns a ringing call down: busy, or declined. Raises WrongCallState unless it rings."""
        if call.status != "ringing":
            raise WrongCallState(f"call is {call.status}, not ringing")
        self._end(call, now, status, sip_code)

    def _dial(self, call: Call, now: Now) -> None:
        call.dialled = call.updated = now
        self._callback(call, now, "initiated", "initiated")
        self._outbox.happened("call.initiated", call)
        phone = self._phone_of(call.request.to)
        if phone.behaviour == "busy":
            self._after(call, now, "step", phone.after_s, lambda c, n: self._end(c, n, "busy", 486))
        elif phone.behaviour == "unreachable":
            self._after(call, now, "step", phone.after_s, lambda c, n: self._end(c, n, "failed", 404))
        else:
            self._after(call, now, "step", self._pace.ring_s, self._ring)

    def _ring(self, call: Call, now: Now) -> None:
        self._become(call, now, "ringing")
        self._callback(call, now, "ringing", "ringing")
        self._outbox.happened("call.ringing", call, from_=call.request.from_)
        self._after(
            call, now, "no-answer", call.request.timeout_s, lambda c, n: self._end(c, n, "no-answer", 487)
        )
        phone = self._phone_of(call.request.to)
        if phone.behaviour in ("answers", "voicemail"):
            self._after(call, now, "person", phone.after_s, self.answer)

    def _time_is_up(self, call: Call, now: Now) -> None:
        self._outbox.happened("call.time_limit", call)
        self._end(call, now, "completed", 200)

    def _end(self, call: Call, now: Now, status: str, sip_code: int) -> None:
        """The one way a call ends; a call that never left the queue sends no callback."""
        self.programme.stop(call)
        self._timers.cancel_all(call.sid)
        call.ended, call.sip_code = now, sip_code
        self._become(call, now, status)
        if call.dialled:
            self._callback(call, now, "completed", status)
        self._outbox.happened("call.ended", call, status=status, duration_s=call.duration_s)

    def _become(self, call: Call, now: Now, status: str) -> None:
        call.status, call.updated = status, now
        call.keep_for_lagging_reads()

    def _callback(self, call: Call, now: Now, event: str, status: str) -> None:
        """Tell the application, if it subscribed to `event`; every end is the event `completed`."""
        request = call.request
        if not request.status_callback or event not in request.events:
            return
        fields = call_fields(call, self._account_sid) | {
            "CallStatus": status,
            "Timestamp": rfc2822(now.date) or "",
            "SequenceNumber": str(call.sequence),
            "CallbackSource": "call-progress-events",
        }
        if event == "completed":
            fields["CallDuration"] = str(call.duration_s)
            fields["Duration"] = str(-(-call.duration_s // 60))
            fields["SipResponseCode"] = str(call.sip_code)
        call.sequence += 1
        url, method = request.status_callback, request.status_callback_method
        self._outbox.put(SendCallback(call.sid, url, method, fields))

    def _after(
        self, call: Call, now: Now, name: str, seconds: float, then: Callable[[Call, Now], None]
    ) -> None:
        self._timers.set((call.sid, name), now.s + seconds, lambda later: then(call, later))
