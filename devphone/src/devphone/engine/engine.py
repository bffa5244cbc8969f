"""The engine: all phones, calls and texts, and the one door to them.

The driver calls a method with `now`, then takes the actions it left, then runs what is due.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from devphone.numbers import new_sid

from .account import Account
from .actions import Action, NoReply, Now, Reply
from .call_queue import CallQueue
from .gather import KEYS
from .inbound_texts import InboundTexts
from .lines import Line, new_line
from .opt_out import OptOuts
from .outbox import Outbox
from .phones import Phone
from .progress import CallProgress, Pace, WrongCallState
from .records import Call, CallChange, CallRequest
from .text_records import Text, TextRequest, new_text
from .texts import TextProgress
from .timers import Timers

TRIAL_PREFIX = "Sent from a simulated trial account - "


class Engine:
    """Everything on the line, for one account. Not thread-safe: the driver holds a lock around each use."""

    def __init__(
        self, account_sid: str, numbers: Sequence[str], started: Now, calls_per_second: float = 1.0
    ) -> None:
        """`numbers` (E.164) are the account's, at least one; a messaging service sends from the first.

        `calls_per_second` is what `account` starts with.
        """
        self._timers, self._outbox = Timers(), Outbox()
        self.started = started
        self._numbers, self._service_sender = numbers, numbers[0]
        self._calls_per_second = calls_per_second
        self._orders = count(1)
        self.account = Account()
        self.lines: dict[str, Line] = {}
        self.pace = Pace()
        self.phones: dict[str, Phone] = {}
        self.calls: dict[str, Call] = {}
        self.texts: dict[str, Text] = {}
        self._progress = CallProgress(
            account_sid, self.account, self._timers, self._outbox, self.pace, self.phone
        )
        self._queue = CallQueue(self._timers, self.account, self._begin_call)
        self._texts = TextProgress(
            account_sid, self._timers, self._outbox, self.pace, self.phone, self._service_sender
        )
        self._opt_outs = OptOuts()
        self._inbound_texts = InboundTexts(
            account_sid, numbers, self._outbox, self.account, self._opt_outs, self._reply
        )
        self._as_started()

    def phone(self, number: str) -> Phone:
        """How `number` (E.164) behaves; one that nobody described rings until answered."""
        return self.phones.get(number) or Phone(number)

    def change_account(self, now: Now, changes: dict[str, Any]) -> None:
        """Set fields of `account`, already checked; calls in the queue follow the new rate."""
        for name, value in changes.items():
            setattr(self.account, name, value)
        self._queue.changed(now)

    def create_call(self, now: Now, request: CallRequest, fetch_lag_s: float = 0.0) -> Call:
        """A new call in the queue. Nothing moves before `start_call`."""
        call = Call(
            new_sid("CA"), next(self._orders), request, created=now, updated=now, fetch_lag_s=fetch_lag_s
        )
        call.queue_s = self._queue.join(call.sid, now) + self.pace.queue_s
        call.keep_for_lagging_reads()
        self.calls[call.sid] = call
        return call

    def start_call(self, now: Now, sid: str) -> None:
        """Let a created call go its way when it is its turn. One that was canceled or deleted stays so."""
        call = self.calls.get(sid)
        if call and not call.over:
            self._outbox.happened("call.queued", call, to=call.request.to, from_=call.request.from_)
            self._queue.ready(sid, now)

    def _begin_call(self, sid: str, now: Now) -> None:
        self._progress.start(self.calls[sid], now)

    def receive_call(self, now: Now, person: str, line: Line) -> Call:
        """The person (E.164) calls a number of the account. Raises WrongCallState if they are on a call."""
        for other in self.calls.values():
            if other.person == person and other.at == "person" and not other.over:
                raise WrongCallState("this phone has a call now; hang up first")
        request = CallRequest(
            to=line.number,
            from_=person,
            url=line.voice_url,
            method=line.voice_method,
            fallback_url=line.voice_fallback_url,
            fallback_method=line.voice_fallback_method,
            status_callback=line.status_callback,
            status_callback_method=line.status_callback_method,
        )
        call = Call(new_sid("CA"), next(self._orders), request, created=now, updated=now, direction="inbound")
        self.calls[call.sid] = call
        self._progress.receive(call, now)
        return call

    def change_call(self, now: Now, sid: str, change: CallChange) -> Call:
        """A REST update. Raises KeyError for an unknown sid and WrongCallState (21220)."""
        call = self.calls[sid]
        self._progress.change(call, now, change)
        if call.over:
            self._queue.leave(sid)
        return call

    def document_arrived(self, now: Now, sid: str, fetch_id: int, reply: Reply | NoReply) -> None:
        """The answer to a FetchDocument, whatever became of it."""
        if call := self.calls.get(sid):
            self._progress.programme.document_arrived(call, now, fetch_id, reply)
        else:
            self._inbound_texts.document_arrived(now, sid, fetch_id, reply)

    def answer(self, now: Now, sid: str) -> None:
        """Pick up. Raises KeyError and WrongCallState."""
        self._progress.answer(self.calls[sid], now)

    def hang_up(self, now: Now, sid: str) -> None:
        """The person hangs up. Raises KeyError and WrongCallState."""
        self._progress.hang_up(self.calls[sid], now)

    def busy(self, now: Now, sid: str) -> None:
        """The ringing phone gives a busy tone. Raises KeyError and WrongCallState."""
        self._progress.busy(self.calls[sid], now)

    def decline(self, now: Now, sid: str) -> None:
        """The person turns the ringing call down; Twilio calls that no-answer. As `busy` otherwise."""
        self._progress.decline(self.calls[sid], now)

    def send_to_mailbox(self, now: Now, sid: str) -> None:
        """The ringing call goes to the mailbox. Raises KeyError and WrongCallState."""
        self._progress.send_to_mailbox(self.calls[sid], now)

    def press(self, now: Now, sid: str, keys: str) -> None:
        """Press keys one after the other. Raises KeyError, ValueError (no such key), WrongCallState."""
        call = self.calls[sid]
        if not keys or any(key not in KEYS for key in keys):
            raise ValueError(f"keys are {KEYS}")
        self._progress.press(call, now, keys)

    def say(self, now: Now, sid: str, text: str, confidence: float | None) -> None:
        """The person speaks; `confidence` (0 to 1) is how well they are understood, None = it is not told.

        Raises KeyError, ValueError (nothing to say), WrongCallState unless the person is on the line.
        """
        call = self.calls[sid]
        if not text.strip():
            raise ValueError("text must be what the person says")
        self._progress.need_person(call)
        self._progress.programme.say(call, now, " ".join(text.split()), confidence)

    def create_text(self, now: Now, request: TextRequest) -> Text:
        """A new text in the queue. Nothing moves before `start_text`.

        A trial account's body begins with a notice.
        """
        prefix = TRIAL_PREFIX if self.account.trial else ""
        text = new_text(next(self._orders), request, now, prefix)
        self.texts[text.sid] = text
        return text

    def start_text(self, now: Now, sid: str) -> None:
        """Let a created text go its way. One that was canceled stays so."""
        if (text := self.texts.get(sid)) and text.status != "canceled":
            self._texts.start(text, now)

    def refuses_text(self, request: TextRequest) -> int | None:
        """The code with which a valid text is refused now: 21608 (trial account), 21610 (STOP) or None."""
        if self.account.trial and request.to not in self.account.verified:
            return 21608
        if self._opt_outs.blocks(request.from_ or self._service_sender, request.to):
            return 21610
        return None

    def erase_text(self, now: Now, sid: str) -> Text:
        """Empty the body in Twilio's record; the person gets and keeps the words. Raises KeyError."""
        text = self.texts[sid]
        text.erased, text.updated = True, now
        return text

    def cancel_text(self, now: Now, sid: str) -> Text:
        """Call a scheduled text off. Raises KeyError and WrongTextState."""
        text = self.texts[sid]
        self._texts.cancel(text, now)
        return text

    def receive_text(self, now: Now, person: str, line: Line, body: str, media: tuple[str, ...] = ()) -> Text:
        """The person (E.164) texts a number of the account; `media` are URLs."""
        request = TextRequest(to=line.number, from_=person, body=body, media=media, direction="inbound")
        text = new_text(next(self._orders), request, now)
        self.texts[text.sid] = text
        self._inbound_texts.receive(text, now, line)
        return text

    def _reply(self, now: Now, request: TextRequest) -> Text:
        text = self.create_text(now, request)
        self._texts.start(text, now)
        return text

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

    def reset(self) -> None:
        """Forget everything, the phones' behaviour and the pace included."""
        self.calls.clear()
        self.texts.clear()
        self.phones.clear()
        self._timers.clear()
        self._queue.clear()
        self._opt_outs.clear()
        self._inbound_texts.clear()
        self._progress.devices.forget()
        self._outbox.take()
        self._as_started()
        self.pace.queue_s = self.pace.ring_s = self.pace.text_step_s = 0.0

    def _as_started(self) -> None:
        """The account's limits, and its numbers, sending nothing anywhere."""
        self.account.calls_per_second, self.account.concurrent_requests = self._calls_per_second, 0
        self.account.trial, self.account.verified = False, ()
        self.lines = {
            number: new_line(number, len(self._numbers) - index, self.started)
            for index, number in enumerate(self._numbers)
        }
