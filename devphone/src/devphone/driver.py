"""Does what the engine decides: HTTP in threads of its own, timers, events; and moves the clock.

One lock around the engine; requests to the application are made outside it. No rule of telephony is here.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count

import httpx2

from .callback_order import CallbackOrder
from .clock import Clock, ManualClock
from .engine.actions import Action, FetchDocument, FetchPreviews, Happened, NoReply, Now, SendCallback, Warned
from .engine.engine import Engine
from .engine.timers import Timers
from .fault_catalogue import Kind
from .faults import NO_FAULTS, FaultPlan, Faults
from .journal import Journal
from .previews import Previews
from .settings import Settings
from .webhooks import Webhooks, new_token, new_transport

QUIET_WITHIN_S = 60.0
"""How long `advance` waits for the application to answer what is in flight."""
FIRST_CALLBACK_WITHIN_S = 5.0


class NotQuiet(Exception):
    """The application did not answer everything in flight within a minute."""


class WasReset(ValueError):
    """The phone was reset before it was done."""


class Driver:
    """The running dev phone. Every method may be called from any thread."""

    def __init__(
        self, settings: Settings, clock: Clock, transport: httpx2.BaseTransport | None = None
    ) -> None:
        """Starts the thread that waits for timers, unless the clock is manual.

        `transport` carries the webhooks; for tests in which the application is not on this machine.
        """
        self.settings, self.clock = settings, clock
        self.engine = Engine(settings.account_sid, settings.numbers, clock.now(), settings.calls_per_second)
        self.faults, self.journal = Faults(), Journal()
        self.generation = 0
        """How many resets there were. What was begun under an earlier number leaves no trace any more."""
        self._transport = transport or new_transport()
        self._previews = Previews(self._transport)
        self._lock, self._one_advance = threading.Condition(threading.RLock()), threading.Lock()
        self._in_flight, self._late_ids = 0, count()
        self._forget_all()
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

    def accepted(self, sid: str, plan: FaultPlan) -> None:
        """A create was accepted; `start` must follow. Until then the line does not count as quiet."""
        with self._lock:
            if plan is not NO_FAULTS:
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

    def start_and_wait_for_callback(self, sid: str) -> bool:
        """Let it go, and return when its first status callback was answered; False = not in 5 seconds."""
        before = self.journal.seq
        self.start(sid)
        return self.journal.wait_for(
            lambda event: event.sid == sid and event.type == "callback.answered",
            before,
            FIRST_CALLBACK_WITHIN_S,
        )

    def advance(self, seconds: float) -> None:
        """Move a manual clock, stopping at every timer until all that it caused was answered.

        A second one moves it after the first. Raises NotQuiet when the application hangs, WasReset when a
        reset came in between, and ValueError when the clock is real.
        """
        clock, generation = self.clock, self.generation
        if not isinstance(clock, ManualClock):
            raise ValueError("the clock is real and moves by itself")
        with self._one_advance:
            target_s = None
            while True:
                with self._lock:
                    self._wait_for(lambda: self._in_flight == 0 or self.generation != generation)
                    if self.generation != generation:
                        raise WasReset("the phone was reset meanwhile")
                    if target_s is None:
                        target_s = clock.now().s + seconds
                    due_s = self._next_due()
                    if due_s is None or due_s > target_s:
                        clock.set(target_s)
                        return
                    clock.set(due_s)
                    self._settle()

    def wait_until_quiet(self) -> None:
        """Return when nothing is in flight. Raises NotQuiet after a minute."""
        with self._lock:
            self._wait_for(lambda: self._in_flight == 0)

    def _wait_for(self, met: Callable[[], bool]) -> None:
        if not self._lock.wait_for(met, QUIET_WITHIN_S):
            raise NotQuiet(f"{self._in_flight} requests to the application are still not answered")

    def wait_for_reset(self, generation: int, seconds: float) -> bool:
        """Whether there is a reset after this `generation` within so many seconds of the world."""
        with self._lock:
            return self._lock.wait_for(lambda: self.generation != generation, seconds)

    def reset(self) -> None:
        """Forget everything; answers still in flight will find nobody. A manual clock starts again at 0."""
        with self._lock:
            self.generation += 1
            self.engine.reset()
            for lane in self._lanes.values():
                self._in_flight -= len(lane)
                lane.clear()
            self._forget_all()
            self.faults.clear()
            self.journal.clear()
            if isinstance(self.clock, ManualClock):
                self.clock.restart()
            self._lock.notify_all()

    def _forget_all(self) -> None:
        """No cookies, no callbacks, no plans."""
        self._webhooks = Webhooks(self.settings.auth_token, self._transport)
        self._lanes: dict[str, deque[SendCallback]] = {}
        self._plans: dict[str, FaultPlan] = {}
        self._orders: dict[str, CallbackOrder] = {}
        self._late = Timers()

    def _settle(self) -> None:
        """Carry out actions and run what is due, until nothing is. The lock is held."""
        while True:
            for action in self.engine.take_actions():
                self._perform(action)
            if not self._run_next_due(self.clock.now()):
                break
        self._lock.notify_all()

    def _next_due(self) -> float | None:
        """When something will happen by itself: on the line, or a late callback."""
        dues = (self.engine.next_due(), self._late.next_due())
        return min((due_s for due_s in dues if due_s is not None), default=None)

    def _run_next_due(self, now: Now) -> bool:
        """Run what is due first; False when nothing is."""
        late_s, line_s = self._late.next_due(), self.engine.next_due()
        if late_s is None or (line_s is not None and line_s <= late_s):
            return self.engine.run_next_due(now)
        timer = self._late.pop_due(now.s)
        if timer is not None:
            timer.run(now)
        return timer is not None

    def _perform(self, action: Action) -> None:
        generation = self.generation
        match action:
            case FetchDocument():
                self._in_flight += 1
                self._thread(lambda: self._fetch(action, generation), action.sid)
            case FetchPreviews():
                self._in_flight += 1
                self._thread(lambda: self._preview(action, generation), action.sid)
            case SendCallback():
                self._queue_callback(action)
            case Happened():
                self.journal.happened(action, self.clock.now().s)
                if action.type == "call.ended":
                    self._webhooks.forget(action.sid)
                    self._send_what_waits(action.sid)
            case Warned():
                self.journal.warned(action)

    def _fetch(self, action: FetchDocument, generation: int) -> None:
        webhooks, plan, token = self._webhooks, self._plan(action.sid), new_token()
        warn = self._warner(action.sid, generation)
        reply = webhooks.ask(action, warn, plan, token)
        with self.turn() as now:
            self.engine.document_arrived(now, action.sid, action.fetch_id, reply)
        if generation == self.generation and plan.befalls("duplicate_webhooks"):
            webhooks.ask(action, warn, plan, token)
        self._landed()

    def _preview(self, action: FetchPreviews, generation: int) -> None:
        """Every visit is an event, but for those after a reset."""
        for link in action.links:
            for visit in self._previews.visits(link):
                seen = Happened("preview.fetched", action.sid, action.number, asdict(visit))
                with self.turn() as now:
                    if generation == self.generation:
                        self.journal.happened(seen, now.s)
        self._landed()

    def _plan(self, sid: str) -> FaultPlan:
        """What goes wrong with one call or text. Inbound ones draw theirs when they are first asked for."""
        with self._lock:
            if sid not in self._plans and (kind := self._inbound_kind(sid)):
                self._plans[sid] = self.faults.take(kind)
            return self._plans.get(sid, NO_FAULTS)

    def _inbound_kind(self, sid: str) -> Kind | None:
        """None for what the application sent: creates bring a plan, replies to a text have none."""
        call, text = self.engine.calls.get(sid), self.engine.texts.get(sid)
        if call is not None and call.direction == "inbound":
            return "inbound_calls"
        return "inbound_texts" if text is not None and text.request.direction == "inbound" else None

    def _landed(self) -> None:
        """One request less is in flight."""
        with self._lock:
            self._in_flight -= 1
            self._lock.notify_all()

    def _queue_callback(self, action: SendCallback) -> None:
        """Lose it, send it later, or put it where its plan wants it among those of its call or text."""
        plan, now = self._plan(action.sid), self.clock.now()
        if plan.befalls("lose_callbacks"):
            self.journal.happened(Happened("callback.lost", action.sid, "", action.fields), now.s)
        elif plan.befalls("late_callbacks"):
            due_s = now.s + plan.seconds("late_callbacks")
            key = (action.sid, str(next(self._late_ids)))
            self._late.set(key, due_s, lambda _: self._line_up(action, plan))
        else:
            self._line_up(action, plan)

    def _line_up(self, action: SendCallback, plan: FaultPlan) -> None:
        if not plan.befalls("reorder_callbacks"):
            self._send_callbacks(action.sid, [action])
            return
        order = self._orders.setdefault(action.sid, CallbackOrder(plan.luck))
        self._send_callbacks(action.sid, order.put(action))

    def _send_what_waits(self, sid: str) -> None:
        """No callback will follow that a waiting one could change places with."""
        if sid in self._orders:
            self._send_callbacks(sid, self._orders[sid].rest())

    def _send_callbacks(self, sid: str, callbacks: list[SendCallback]) -> None:
        """Put callbacks behind the earlier ones of their call; one thread empties each lane."""
        self._in_flight += len(callbacks)
        if (lane := self._lanes.get(sid)) is not None:
            lane.extend(callbacks)
        elif callbacks:
            lane = self._lanes[sid] = deque(callbacks)
            self._thread(lambda: self._empty_lane(sid, lane), sid)

    def _empty_lane(self, sid: str, lane: deque[SendCallback]) -> None:
        while True:
            with self._lock:
                if not lane:
                    self._lanes.pop(sid, None)
                    return
                callback, plan, generation = lane.popleft(), self._plan(sid), self.generation
            token = new_token()
            self._send_callback(callback, plan, token, generation)
            if generation == self.generation and plan.befalls("duplicate_callbacks"):
                self._send_callback(callback, plan, token, generation)
            self._landed()

    def _send_callback(self, callback: SendCallback, plan: FaultPlan, token: str, generation: int) -> None:
        warn = self._warner(callback.sid, generation)
        reply = self._webhooks.tell(callback, warn, plan, token)
        failed = isinstance(reply, NoReply) or reply.status >= 400
        with self.turn() as now:
            if generation != self.generation:
                return
            if failed:
                why = reply.text if isinstance(reply, NoReply) else f"answered {reply.status}"
                code = reply.code if isinstance(reply, NoReply) else 11200
                warn(code, f"status callback {callback.url}: {why}")
            done = Happened("callback.answered", callback.sid, "", {"failed": failed, **callback.fields})
            self.journal.happened(done, now.s)

    def _warner(self, sid: str, generation: int) -> Callable[[int, str], None]:
        """Notes debugger entries of one call or text, until the next reset."""

        def warn(code: int, text: str) -> None:
            with self._lock:
                if generation == self.generation:
                    self.journal.warned(Warned(code, sid, text))

        return warn

    def _wait_for_timers(self) -> None:
        """With a real clock: sleep until the next timer is due or something changed."""
        while True:
            with self._lock:
                self._settle_if_due()
                due_s = self._next_due()
                self._lock.wait(None if due_s is None else max(0.0, due_s - self.clock.now().s))

    def _settle_if_due(self) -> None:
        due_s = self._next_due()
        if due_s is not None and due_s <= self.clock.now().s:
            self._settle()

    @staticmethod
    def _thread(work: Callable[[], None], sid: str) -> None:
        """Daemon threads: the program ends at once, whatever the application is still thinking about."""
        threading.Thread(target=work, name=f"webhook {sid}", daemon=True).start()
