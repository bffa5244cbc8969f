"""A call from its beginning to its end: dialling, ringing, answering, hanging up, and the status callbacks.

What the application says on it is `programme.py`, what a phone does by itself `devices.py`.
https://www.twilio.com/docs/voice/api/call-resource#call-status-values
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from devphone.dates import rfc2822

from .account import Account
from .actions import Now, SendCallback
from .devices import Devices
from .opening import Opening
from .outbox import Outbox, call_fields
from .phones import Phone
from .programme import ProgrammeRunner
from .records import At, Call, CallChange
from .sounds import spoken_s
from .timers import Timers
from .twiml import Document

TRIAL_NOTICE = (
    "This call comes from a simulated trial account. A full account does not say this. "
    "Press any key to go on."
)
NOTICE_WAIT_S = 10.0
"""How long the trial notice waits for a key after it was said; Twilio gives no figure."""
TRIAL_LIMIT_S = 600
"""https://www.twilio.com/docs/api/errors/13805"""
NOT_IN_SERVICE = "The number you have called is not in service."


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
        self,
        account_sid: str,
        account: Account,
        timers: Timers,
        outbox: Outbox,
        pace: Pace,
        phone_of: Callable[[str], Phone],
    ) -> None:
        """Shares the account's limits, timers, outbox and pace with the engine."""
        self._account_sid, self._timers, self._outbox, self._pace = account_sid, timers, outbox, pace
        self._account, self._phone_of = account, phone_of
        self.programme = ProgrammeRunner(account_sid, timers, outbox, self._end, self._line_answers)
        overhears = self.programme.overhears
        self.devices = Devices(timers, outbox, phone_of, self._pick_up, self._end, overhears)
        self._opening = Opening(account_sid, timers, outbox, phone_of, self.programme)

    def start(self, call: Call, now: Now) -> None:
        """It is the call's turn: put it on its way."""
        self._after(call, now, "step", self._pace.queue_s, self._dial)

    def receive(self, call: Call, now: Now) -> None:
        """A person calls a number of the account: ask the number's voice URL while the call rings.

        The call is answered when a document arrives that does not begin with Reject.
        https://www.twilio.com/docs/voice/twiml/reject
        """
        call.dialled, call.at = now, "person"
        self._become(call, now, "ringing")
        self._outbox.happened("call.received", call, to=call.request.to, from_=call.request.from_)
        unverified = self._account.trial and call.person not in self._account.verified
        if unverified or not call.request.url:
            # A trial account hears from verified numbers only; https://www.twilio.com/docs/usage/trials/try-out-voice
            self._reject(call, now, "no-answer", 404)
        elif self._account.trial:
            self._open_line(call, now)
            self._give_notice(call, now)
        else:
            self.programme.start(call, now)

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
            left_s = call.answered.s + self._limit_s(call) - now.s
            self._after(call, now, "limit", max(0.0, left_s), self._time_is_up)
        if redirects:
            self._end_notice(call)
        if change.redirect_url is not None:
            self._outbox.happened("call.redirected", call, url=change.redirect_url)
            self.programme.redirect(call, now, change.redirect_url, change.redirect_method)
        elif change.twiml is not None:
            self._outbox.happened("call.redirected", call, url="")
            self.programme.run_inline(call, now, change.twiml, updates=True)
        elif change.status == "completed" and call.status == "in-progress":
            self._end(call, now, "completed", 200)
        elif change.status is not None and call.status != "in-progress":
            self._end(call, now, "canceled", 487)

    def answer(self, call: Call, now: Now) -> None:
        """The person picks up, or takes the call from the screener. Raises WrongCallState unless it rings."""
        if call.at == "screener" and call.rings_person:
            self.devices.take(call)
            return
        self._need_ringing(call)
        self._pick_up(call, now, "person")

    def send_to_mailbox(self, call: Call, now: Now) -> None:
        """The ringing call goes to the mailbox, from the screener too. Raises WrongCallState."""
        if call.at == "screener" and call.rings_person:
            self.devices.open_mailbox(call, now)
            return
        self._need_ringing(call)
        self._pick_up(call, now, "voicemail")

    def press(self, call: Call, now: Now, keys: str) -> None:
        """The person presses keys. Raises WrongCallState unless they are on the line.

        A key at the trial notice goes no further than the notice; keys after the end are lost.
        """
        self.need_person(call)
        for key in keys:
            if call.over:
                return
            if call.in_notice:
                call.keys += key
                call.hear(now, "person", key)
                self._outbox.happened("call.pressed", call, key=key, counts=False)
                self._end_notice(call)
                self._opening.begin(call, now)
            else:
                self.programme.press(call, now, key)

    def need_person(self, call: Call) -> None:
        """Raises WrongCallState unless the person is on the answered line, and so can press keys or speak."""
        if call.status != "in-progress":
            raise WrongCallState(f"call is {call.status}, not answered")
        if call.at == "screener":
            raise WrongCallState("a call screener holds the call; the person is not on the line yet")
        if call.at != "person":
            raise WrongCallState("the mailbox has the call; nobody is on the line")

    def hang_up(self, call: Call, now: Now) -> None:
        """The phone's end hangs up. Raises WrongCallState for a call to a phone that was not answered.

        A person who gives up before the account's number answered leaves a no-answer, as was seen in
        https://stackoverflow.com/questions/78683402/some-twilio-inbound-calls-arrive-with-status-of-no-answer
        """
        gives_up = call.direction == "inbound" and call.status == "ringing"
        if call.status != "in-progress" and not gives_up:
            raise WrongCallState(f"call is {call.status}, not answered")
        self._outbox.happened("call.hung_up", call)
        if gives_up:
            self._end(call, now, "no-answer", 487)
        else:
            self._end(call, now, "completed", 200)

    def busy(self, call: Call, now: Now) -> None:
        """The ringing phone gives a busy tone. Raises WrongCallState unless it rings."""
        self._need_ringing(call)
        self._end(call, now, "busy", 486)

    def decline(self, call: Call, now: Now) -> None:
        """The person turns the ringing call down, or lets the screener do so. Raises WrongCallState."""
        if call.at == "screener" and call.rings_person:
            self.devices.refuse(call, now)
            return
        self._need_ringing(call)
        self._end(call, now, "no-answer", 603)

    def _dial(self, call: Call, now: Now) -> None:
        call.dialled = call.updated = now
        self._callback(call, now, "initiated", "initiated")
        self._outbox.happened("call.initiated", call)
        phone = self._phone_of(call.person)
        if phone.behaviour == "busy":
            self._after(call, now, "step", phone.waits_s, lambda c, n: self._end(c, n, "busy", 486))
        elif phone.behaviour == "unreachable":
            self._after(call, now, "step", phone.waits_s, lambda c, n: self._end(c, n, "failed", 404))
        else:
            self._after(call, now, "step", self._pace.ring_s, self._ring)

    def _ring(self, call: Call, now: Now) -> None:
        self._become(call, now, "ringing")
        self._callback(call, now, "ringing", "ringing")
        self._outbox.happened("call.ringing", call, from_=call.request.from_)
        self._after(
            call, now, "no-answer", call.request.timeout_s, lambda c, n: self._end(c, n, "no-answer", 487)
        )
        self.devices.ring(call, now)

    def _need_ringing(self, call: Call) -> None:
        if call.direction == "inbound":
            raise WrongCallState("the person makes this call; only the account's number can answer it")
        if call.at == "screener":
            raise WrongCallState("a call screener holds the call, and the person's phone does not ring now")
        if call.status != "ringing":
            raise WrongCallState(f"call is {call.status}, not ringing")

    def _pick_up(self, call: Call, now: Now, at: At) -> None:
        """Somebody or something answers an outbound call: its document comes next."""
        self._timers.cancel_all(call.sid)
        call.at, call.rings_person = at, False
        self._open_line(call, now)
        if self._account.trial:
            self._give_notice(call, now)
        else:
            self._opening.begin(call, now)

    def _line_answers(self, call: Call, now: Now, document: Document | None) -> bool:
        """The account's number answers before the first document (None: the apology), or rejects the call."""
        first = document.verbs[0] if document and document.verbs else None
        if first and first.name == "Reject":
            reason = first.attributes.get("reason", "rejected")
            if reason not in ("rejected", "busy"):
                self._outbox.warned(13810, call.sid, f"Reject: invalid reason {reason!r}")
            self._reject(call, now, *(("busy", 486) if reason == "busy" else ("no-answer", 603)))
            return False
        self._open_line(call, now)
        return True

    def _reject(self, call: Call, now: Now, status: str, sip_code: int) -> None:
        """Turn an inbound call down without answering it; what the caller hears is up to their network."""
        if status != "busy":
            call.hear(now, "system", NOT_IN_SERVICE)
        self._outbox.happened("call.rejected", call, status=status)
        self._end(call, now, status, sip_code)

    def _open_line(self, call: Call, now: Now) -> None:
        call.answered = now
        self._become(call, now, "in-progress")
        self._callback(call, now, "answered", "in-progress")
        self._outbox.happened("call.answered", call, at=call.at)
        self._after(call, now, "limit", self._limit_s(call), self._time_is_up)
        self.devices.answered(call, now)

    def _give_notice(self, call: Call, now: Now) -> None:
        """The trial account's notice; the call goes on with any key, and ends without one.

        https://github.com/twilio/voice-quickstart-ios/issues/509
        """
        call.in_notice = True
        seconds = spoken_s(TRIAL_NOTICE)
        call.hear(now, "system", TRIAL_NOTICE, seconds)
        self._outbox.happened("call.notice", call, text=TRIAL_NOTICE)
        self._after(
            call, now, "notice", seconds + NOTICE_WAIT_S, lambda c, n: self._end(c, n, "completed", 200)
        )

    def _end_notice(self, call: Call) -> None:
        call.in_notice = False
        self._timers.cancel((call.sid, "notice"))

    def _limit_s(self, call: Call) -> int:
        limit_s = call.request.time_limit_s
        return min(limit_s, TRIAL_LIMIT_S) if self._account.trial else limit_s

    def _time_is_up(self, call: Call, now: Now) -> None:
        if self._account.trial and call.since_answer_s(now) >= TRIAL_LIMIT_S:
            self._outbox.warned(13805, call.sid, "calls of a trial account end after 10 minutes")
        self._outbox.happened("call.time_limit", call)
        self._end(call, now, "completed", 200)

    def _end(self, call: Call, now: Now, status: str, sip_code: int) -> None:
        """The one way a call ends; a call that never left the queue sends no callback."""
        self.programme.stop(call)
        self._timers.cancel_all(call.sid)
        call.rings_person = call.in_notice = False
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
            if call.answered_by:
                fields["AnsweredBy"] = call.answered_by
        call.sequence += 1
        url, method = request.status_callback, request.status_callback_method
        self._outbox.put(SendCallback(call.sid, url, method, fields))

    def _after(
        self, call: Call, now: Now, name: str, seconds: float, then: Callable[[Call, Now], None]
    ) -> None:
        self._timers.set((call.sid, name), now.s + seconds, lambda later: then(call, later))
