"""Does what the engine decides: HTTP in threads of its own, timers, events; and moves the clock.

One lock around the engine; requests to the application are made outside it. No rule of telephony is here.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx2

from .clock import Clock, ManualClock
from .engine.actions import Action, FetchDocument, Happened, NoReply, Now, SendCallback, Warned
from .engine.engine import Engine
from .faults import CreateFaults, Faults
from .journal import Journal
from .settings import Settings
from .webhooks import Webhooks

QUIET_WITHIN_S = 60.0
"""How long `advance` waits for the application to answer what is in flight."""
FIRST_CALLBACK_WITHIN_S = 5.0


class NotQuiet(Exception):
    """The application did not answer everything in flight within a minute."""


class Driver:
    """The running dev phone. Every method may be called from any thread."""

    def __init__(
        self, settings: Settings, clock: Clock, transport: httpx2.BaseTransport | None = None
    ) -> None:
        """Starts the thread that waits for timers, unless the clock is manual.

        `transport` carries the webhooks; for tests in which the application is not on this machine.
        """
        self.settings, self.clock = settings, clock
        self.engine = Engine(settings.account_sid, settings.numbers[0])
        self.faults, self.journal = Faults(), Journal()
        self._webhooks = Webhooks(settings.auth_token, transport=transport)
        self._lock = threading.Condition(threading.RLock())
        self._in_flight = 0
        self._lanes: dict[str, deque[SendCallback]] = {}
        self._plans: dict[str, CreateFaults] = {}
        if not clock.manual:
            threading.Thread(target=self._wait_for_timers, name="timers", daemon=True).start()

    @contextmanager
    def turn(self) -> Iterator[Now]:
        """Use the engine: the lock is held, and what it decides is set going before it is released."""
        with self._lock:
            now = self.clock.now()
            try:
                yield now
            finally:
                self._settle()

    def accepted(self, sid: str, plan: CreateFaults) -> None:
        """A create was accepted; `start` must follow. Until then the line does not count as quiet."""
        with self._lock:
            self._plans[sid] = plan
            self._in_flight += 1

    def start(self, sid: str) -> None:
        """Let an accepted call or text go its way."""
        with self.turn() as now:
            if sid in self.engine.calls:
                self.engine.start_call(now, sid)
            else:
                self.engine.start_text(now, sid)
            self._in_flight -= 1
            self._lock.notify_all()

    def start_and_wait_for_callback(self, sid: str) -> None:
        """Let it go, and return when its first status callback was answered, or after 5 seconds."""
        before = self.journal.seq
        self.start(sid)
        self.journal.wait_for(
            lambda event: event.sid == sid and event.type == "callback.answered",
            before,
            FIRST_CALLBACK_WITHIN_S,
        )

    def advance(self, seconds: float) -> None:
        """Move a manual clock, stopping at every timer until all that it caused was answered.

        Raises NotQuiet when the application hangs, and ValueError when the clock is real.
        """
        if not isinstance(self.clock, ManualClock):
            raise ValueError("the clock is real and moves by itself")
        self.wait_until_quiet()
        target_s = self.clock.now().s + seconds
        while True:
            with self._lock:
                due_s = self.engine.next_due()
                if due_s is None or due_s > target_s:
                    break
                self.clock.set(due_s)
                self._settle()
            self.wait_until_quiet()
        with self._lock:
            self.clock.set(target_s)

    def wait_until_quiet(self) -> None:
        """Return when nothing is in flight. Raises NotQuiet after a minute."""
        with self._lock:
            if not self._lock.wait_for(lambda: self._in_flight == 0, QUIET_WITHIN_S):
                raise NotQuiet(f"{self._in_flight} requests to the application are still not answered")

    def reset(self) -> None:
        """Forget everything; answers still in flight will find nobody. A manual clock starts again at 0."""
        with self._lock:
            self.engine.reset()
            for lane in self._lanes.values():
                self._in_flight -= len(lane)
                lane.clear()
            self._plans.clear()
            self.faults.clear()
            self.journal.clear()
            if isinstance(self.clock, ManualClock):
                self.clock.restart()
            self._lock.notify_all()

    def _settle(self) -> None:
        """Carry out actions and run what is due, until nothing is. The lock is held."""
        while True:
            for action in self.engine.take_actions():
                self._perform(action)
            if not self.engine.run_next_due(self.clock.now()):
                break
        self._lock.notify_all()

    def _perform(self, action: Action) -> None:
        match action:
            case FetchDocument():
                self._in_flight += 1
                self._thread(lambda: self._fetch(action), action.sid)
            case SendCallback():
                self._queue_callback(action)
            case Happened():
                self.journal.happened(action, self.clock.now().s)
                if action.type == "call.ended":
                    self._webhooks.forget(action.sid)
            case Warned():
                self.journal.warned(action)

    def _fetch(self, action: FetchDocument) -> None:
        reply = self._webhooks.ask(action.sid, action.url, action.method, action.fields)
        with self.turn() as now:
            self.engine.document_arrived(now, action.sid, action.fetch_id, reply)
            self._in_flight -= 1

    def _queue_callback(self, action: SendCallback) -> None:
        """Put a callback behind the earlier ones of its call; one thread empties each lane."""
        plan = self._plans.get(action.sid, CreateFaults())
        if plan.lose_callbacks:
            lost = Happened("callback.lost", action.sid, "", action.fields)
            self.journal.happened(lost, self.clock.now().s)
            return
        copies = 2 if plan.duplicate_callbacks else 1
        self._in_flight += copies
        lane = self._lanes.get(action.sid)
        if lane is not None:
            lane.extend([action] * copies)
            return
        lane = self._lanes[action.sid] = deque([action] * copies)
        self._thread(lambda: self._empty_lane(action.sid, lane), action.sid)

    def _empty_lane(self, sid: str, lane: deque[SendCallback]) -> None:
        while True:
            with self._lock:
                if not lane:
                    del self._lanes[sid]
                    return
                callback = lane.popleft()
            reply = self._webhooks.tell(callback.url, callback.method, callback.fields)
            failed = isinstance(reply, NoReply) or reply.status >= 400
            with self.turn() as now:
                if failed:
                    why = reply.text if isinstance(reply, NoReply) else f"answered {reply.status}"
                    code = reply.code if isinstance(reply, NoReply) else 11200
                    self.journal.warned(Warned(code, sid, f"status callback {callback.url}: {why}"))
                done = Happened("callback.answered", sid, "", {"failed": failed, **callback.fields})
                self.journal.happened(done, now.s)
                self._in_flight -= 1

    def _wait_for_timers(self) -> None:
        """With a real clock: sleep until the next timer is due or something changed."""
        while True:
            with self._lock:
                self._settle_if_due()
                due_s = self.engine.next_due()
                self._lock.wait(None if due_s is None else max(0.0, due_s - self.clock.now().s))

    def _settle_if_due(self) -> None:
        due_s = self.engine.next_due()
        if due_s is not None and due_s <= self.clock.now().s:
            self._settle()

    @staticmethod
    def _thread(work: Callable[[], None], sid: str) -> None:
        """Daemon threads: the program ends at once, whatever the application is still thinking about."""
        threading.Thread(target=work, name=f"webhook {sid}", daemon=True).start()
