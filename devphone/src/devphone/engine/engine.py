"""The engine: all phones, calls and texts, and the one door to them.

The driver calls a method with `now`, then takes the actions it left, then runs what is due.
"""

from __future__ import annotations

from devphone.numbers import new_sid
from devphone.segments import count

from .actions import Action, NoReply, Now, Reply
from .gather import KEYS
from .outbox import Outbox
from .phones import Phone
from .progress import CallProgress, Pace, WrongCallState
from .records import Call, CallChange, CallRequest
from .text_records import Text, TextRequest
from .texts import TextProgress
from .timers import Timers


class Engine:
    """Everything on the line, for one account. Not thread-safe: the driver holds a lock around each use."""

    def __init__(self, account_sid: str, service_sender: str) -> None:
        """`service_sender` is the number that texts of a messaging service come from (E.164)."""
        self._timers, self._outbox = Timers(), Outbox()
        self._service_sender = service_sender
        self.pace = Pace()
        self.phones: dict[str, Phone] = {}
        self.calls: dict[str, Call] = {}
        self.texts: dict[str, Text] = {}
        self._progress = CallProgress(account_sid, self._timers, self._outbox, self.pace, self.phone)
        self._texts = TextProgress(account_sid, self._timers, self._outbox, self.pace, self.phone)

    def phone(self, number: str) -> Phone:
        """How `number` (E.164) behaves; one that nobody described rings until answered."""
        return self.phones.get(number) or Phone(number)

    def create_call(self, now: Now, request: CallRequest, fetch_lag_s: float = 0.0) -> Call:
        """A new call in the queue. Nothing moves before `start_call`."""
        call = Call(new_sid("CA"), request, created=now, updated=now, fetch_lag_s=fetch_lag_s)
        call.keep_for_lagging_reads()
        self.calls[call.sid] = call
        return call

    def start_call(self, now: Now, sid: str) -> None:
        """Let a created call go its way. One that was canceled or deleted meanwhile stays so."""
        call = self.calls.get(sid)
        if call and not call.over:
            self._progress.start(call, now)

    def change_call(self, now: Now, sid: str, change: CallChange) -> Call:
        """A REST update. Raises KeyError for an unknown sid and WrongCallState (21220)."""
        call = self.calls[sid]
        self._progress.change(call, now, change)
        return call

    def document_arrived(self, now: Now, sid: str, fetch_id: int, reply: Reply | NoReply) -> None:
        """The answer to a FetchDocument, whatever became of it."""
        if call := self.calls.get(sid):
            self._progress.programme.document_arrived(call, now, fetch_id, reply)

    def answer(self, now: Now, sid: str) -> None:
        """Pick up. Raises KeyError and WrongCallState."""
        self._progress.answer(self.calls[sid], now)

    def hang_up(self, now: Now, sid: str) -> None:
        """The person hangs up. Raises KeyError and WrongCallState."""
        self._progress.hang_up(self.calls[sid], now)

    def busy(self, now: Now, sid: str) -> None:
        """The ringing phone gives a busy tone. Raises KeyError and WrongCallState."""
        self._progress.refuse(self.calls[sid], now, "busy", 486)

    def decline(self, now: Now, sid: str) -> None:
        """The person turns the ringing call down; Twilio calls that no-answer. As `busy` otherwise."""
        self._progress.refuse(self.calls[sid], now, "no-answer", 603)

    def press(self, now: Now, sid: str, keys: str) -> None:
        """Press keys one after the other. Raises KeyError, ValueError (no such key), WrongCallState."""
        call = self.calls[sid]
        if not keys or any(key not in KEYS for key in keys):
            raise ValueError(f"keys are {KEYS}")
        if call.status != "in-progress":
            raise WrongCallState(f"call is {call.status}, not answered")
        for key in keys:
            self._progress.programme.press(call, now, key)

    def create_text(self, now: Now, request: TextRequest) -> Text:
        """A new text in the queue. Nothing moves before `start_text`.

        The first status is `accepted` when a messaging service still has to choose the sender.
        """
        encoding, segments = count(request.body)
        text = Text(
            new_sid("MM" if request.media else "SM"),
            request,
            from_=request.from_ or self._service_sender,
            body=request.body,
            encoding=encoding,
            segments=segments,
            created=now,
            updated=now,
            status="queued" if request.from_ else "accepted",
        )
        self.texts[text.sid] = text
        return text

    def start_text(self, now: Now, sid: str) -> None:
        """Let a created text go its way."""
        if text := self.texts.get(sid):
            self._texts.start(text, now)

    def take_actions(self) -> list[Action]:
        """What was decided since the last time, in order."""
        return self._outbox.take()

    def next_due(self) -> float | None:
        """When something will happen by itself (line seconds), or None."""
        return self._timers.next_due()

    def run_next_due(self, now: Now) -> bool:
        """Run the earliest timer that is due; False when none is."""
        timer = self._timers.pop_due(now.s)
        if timer is None:
            return False
        timer.run(now)
        return True

    def forget(self, sid: str) -> None:
        """Remove an ended call's or a text's record. Raises KeyError for an unknown sid."""
        if self.calls.pop(sid, None) is None:
            del self.texts[sid]
        self._timers.cancel_all(sid)

    def reset(self) -> None:
        """Forget everything, the phones' behaviour and the pace included."""
        self.calls.clear()
        self.texts.clear()
        self.phones.clear()
        self._timers.clear()
        self._outbox.take()
        self.pace.queue_s = self.pace.ring_s = self.pace.text_step_s = 0.0
