"""What becomes of a phone call, in the records: claimed, placed, unknown, ringing, answered, ended.

A call and the handoffs it carries change in one commit. Who speaks to the provider, and in which words,
is voice/'s business; a call's state never goes back, whatever order its callbacks arrive in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handoff import attempts, effects
from handoff.changes import Change
from handoff.commands import MAX_ROUNDS, Handoffs
from handoff.effects import Effect, EffectKind
from handoff.errors import Unavailable
from handoff.limits import Held, Limits
from handoff.models import Call, EventType, Handoff, Urgency
from handoff.moments import MINUTE, SECOND
from handoff.policy import next_position
from handoff.states import CallState, Disposition, may_move
from handoff.store import Done, Hold, Pacer, Plan, Store

#: Promise 7: a call whose callbacks are missing is looked up this long after its ring time, but never before
#: the create itself must have ended (voice/twilio_gateway.py gives up on one after 36 s).
RECONCILE_AFTER_MS = 30 * SECOND
CREATE_LIMIT_MS = 40 * SECOND
#: The longest a call may last at the provider, in seconds. Long enough to clear a wall while on the line.
TIME_LIMIT_S = 600
#: How soon a call looks again whether its number's line, which another call has, is free: at first, at last.
#: Shorter holds are not put on the timeline: nobody asks why a phone rang two seconds later.
WORTH_TELLING_MS = 3 * SECOND
LINE_BUSY_MS, LINE_BUSY_LONGEST_MS = 2 * SECOND, 10 * SECOND


class Calls:
    """Changes of call records."""

    def __init__(self, handoffs: Handoffs, pacer: Pacer, limits: Limits):
        self.handoffs = handoffs
        self.store: Store = handoffs.store
        self._pacer, self._limits = pacer, limits

    def claim(self, call_id: str, effect: Effect, run: str) -> Call | None:
        """Takes a due call for placing: from here on it is never created again. None when it may not be.

        Also takes the number's line, and sets when the call is looked up should nothing more be heard. A line
        that another call has puts the effect off, and so does a limit (limits.py); a call that nobody needs
        any more ends here; one that an earlier run took and never came back from is unknown from now on
        (promise 7). `run` names this run, so that its own claim is known again when only the reply was lost.
        """
        for _ in range(MAX_ROUNDS):
            call = self.store.read_call(call_id)
            now = self.handoffs.clock()
            if call is not None and call.state is CallState.PLACING:
                if call.placing_run == run:
                    return call
                self.lost_reply(call_id, "the process that placed it died")
                return None
            if call is None or call.state is not CallState.DUE:
                return None
            if not self.needed(call):
                self.withdraw(call_id)
                return None
            if self.store.line_of(call.number) is not None:
                self._wait_for_line(call, effect, now)
                return None
            urgency = self._urgency(call)
            if hold := self._pacer.hold(call.id, call.number, urgency, call.created_at, self._limits, now):
                self._hold(call, effect, hold, now)
                return None
            placing = _moved(call, CallState.PLACING, placing_at=now, placing_run=run)
            assert placing is not None
            due = now + max(call.ring_s * SECOND + RECONCILE_AFTER_MS, CREATE_LIMIT_MS)
            plan = Plan(calls=[placing], take_line=call, effects=[effects.reconcile_call(call.id, due)])
            if isinstance(self.store.commit(plan, now), Done):
                return placing
        raise Unavailable("Too much is going on with this call.")

    def needed(self, call: Call) -> bool:
        """Whether any handoff that this call carries still wants somebody rung."""
        return any(
            handoff is not None
            and not handoff.closed
            and self.handoffs.clock() < handoff.deadline
            and (attempt := handoff.attempt(entry.attempt)) is not None
            and attempt.disposition is None
            and attempt.ended_at is None
            and handoff.acknowledged is None
            for entry in call.entries
            for handoff in [self.store.read(entry.handoff)]
        )

    def give_back(self, call_id: str) -> None:
        """The provider provably did not process the create: the call is due again, its line free."""
        if call := self.store.read_call(call_id):
            self._pacer.did_not_begin(call_id, call.number)
        self._change(
            call_id,
            lambda call: (
                _moved(call, CallState.DUE, placing_at=None)
                if call.state is CallState.PLACING and call.provider_id is None
                else None
            ),
            free_line=True,
            drop=[f"{EffectKind.RECONCILE_CALL}-{call_id}"],
        )

    def placed(self, call_id: str, provider_id: str) -> None:
        """The provider accepted it. A callback may have said more already; that stays."""
        self._bind(call_id, provider_id, CallState.PLACED, EventType.CALL_PLACED)

    def lost_reply(self, call_id: str, detail: str) -> None:
        """The create's answer was lost: only a callback or the one look-up can say what became of it."""
        self._bind(call_id, None, CallState.UNKNOWN, EventType.CALL_UNKNOWN, detail=detail)

    def ringing(self, call_id: str, provider_id: str | None) -> None:
        """The provider says that it rings, which does not mean that a phone makes a sound."""
        self._bind(call_id, provider_id, CallState.RINGING, EventType.CALL_RINGING)

    def answered(self, call_id: str, provider_id: str | None) -> None:
        """Something picked up. That proves nothing (promise 4)."""
        self._bind(call_id, provider_id, CallState.ANSWERED, EventType.CALL_ANSWERED)

    def withdraw(self, call_id: str) -> bool:
        """Ends a call that is still due, which nothing needs any more. False when it is due no longer."""
        moved = self._end(
            call_id, lambda call: Disposition.WITHDRAWN if call.state is CallState.DUE else None
        )
        return moved is not None

    def heard_everything(self, call_id: str) -> None:
        """The voice came to its goodbye, and no key was pressed."""
        self._change(
            call_id,
            lambda call: (
                None if call.heard_all else call.model_copy(update={"heard_all": True, "rev": call.rev + 1})
            ),
        )

    def pressed(self, call_id: str, key: str, turn: int) -> None:
        """Keeps which key was pressed in document `turn`, for "what did they press?"; each counts once."""
        self._change(
            call_id,
            lambda call: (
                call.model_copy(
                    update={
                        "pressed": (call.pressed + key)[-40:],
                        "pressed_turn": turn,
                        "rev": call.rev + 1,
                    }
                )
                if turn > call.pressed_turn
                else None
            ),
        )

    def end(
        self,
        call_id: str,
        disposition: Disposition | Callable[[Call], Disposition],
        *,
        provider_id: str | None = None,
        detail: str | None = None,
    ) -> None:
        """The call is over. Its attempts end with it, its line is free, and the ladder goes on.

        `disposition` may be a function of the call as it stands, since what it told us depends on whether
        it was answered.
        """
        what = disposition if callable(disposition) else lambda _: disposition
        self._end(call_id, what, provider_id=provider_id, detail=detail)

    def _end(
        self,
        call_id: str,
        disposition: Callable[[Call], Disposition | None],
        *,
        provider_id: str | None = None,
        detail: str | None = None,
    ) -> Call | None:
        told: list[Disposition] = []

        def move(call: Call) -> Call | None:
            if (what := disposition(call)) is None:
                return None
            told[:] = [what]
            return _moved(
                call,
                CallState.ENDED,
                ended_at=self.handoffs.clock(),
                provider_id=call.provider_id or provider_id,
            )

        def ended(_: Call) -> Callable[[Handoff, str, int], Change | None]:
            return lambda handoff, attempt, now: attempts.end_attempt(
                handoff, attempt, told[0], self.handoffs.rules(), now, detail=detail
            )

        drop = [f"{kind}-{call_id}" for kind in (EffectKind.RECONCILE_CALL, EffectKind.PLACE_CALL)]
        moved = self._change(call_id, move, entries=ended, free_line=True, drop=drop)
        if moved is not None:
            self._counted(moved)
        return moved

    def _wait_for_line(self, call: Call, effect: Effect, now: int) -> None:
        """One call at a time on a number. Whoever has waited for as long as a phone rings lets the ladder go
        on to the next person, if there is one; else it waits, looking less and less often."""
        waited = now - call.created_at
        if waited > call.ring_s * SECOND and self._somebody_is_next(call):
            self.end(call.id, Disposition.BUSY, detail="on another call of ours")
            return
        again = now + min(LINE_BUSY_MS + waited // 8, LINE_BUSY_LONGEST_MS)
        self.store.postpone(effect, again, now, failed=False)

    def _hold(self, call: Call, effect: Effect, hold: Hold, now: int) -> None:
        """Puts the call off, and says so where people look, once for each reason. A number that may not be
        rung for longer than a phone rings lets the ladder go on, if there is somebody else."""
        too_long = hold.until - now > call.ring_s * SECOND
        if hold.why is Held.NUMBER and too_long and self._somebody_is_next(call):
            self.end(call.id, Disposition.BLOCKED, detail="called as often as this number may be")
            return
        for entry in call.entries if hold.until - now > WORTH_TELLING_MS else ():
            self.handoffs.change(entry.handoff, _held(entry.attempt, hold))
        self.store.postpone(effect, max(hold.until, now + 1), now, failed=False)

    def _urgency(self, call: Call) -> Urgency:
        """The highest of the handoffs that it carries."""
        found = [self.store.read(entry.handoff) for entry in call.entries]
        return max((one.urgency for one in found if one), key=lambda one: one.rank, default=Urgency.NORMAL)

    def _counted(self, call: Call) -> None:
        """What an ended call leaves in the counters: its place in the queue is free, its minutes are paid."""
        if call.placing_at is None:
            self._pacer.leave(call.id)
        elif self._limits.price_a_minute and call.answered_at is not None and call.ended_at is not None:
            minutes = -(-(call.ended_at - call.answered_at) // MINUTE)
            if minutes > 1:
                self._pacer.spent((minutes - 1) * self._limits.price_a_minute, call.ended_at)

    def _somebody_is_next(self, call: Call) -> bool:
        rules = self.handoffs.rules()
        found = [self.store.read(entry.handoff) for entry in call.entries]
        return any(
            one and one.position and next_position(rules.policy_for(one), one.position) for one in found
        )

    def _bind(
        self, call_id: str, provider_id: str | None, state: CallState, event: EventType, **data: Any
    ) -> None:
        """Moves a call on and says so on the timeline; binds the provider's id whenever it is first seen.

        A call that counted as over, and turns out to exist after all, is hung up (promise 6).
        """

        def move(call: Call) -> Call | None:
            binds = provider_id is not None and call.provider_id is None
            if may_move(call.state, state):
                return _moved(
                    call,
                    state,
                    provider_id=call.provider_id or provider_id,
                    answered_at=self.handoffs.clock() if state is CallState.ANSWERED else call.answered_at,
                )
            if binds:
                return call.model_copy(update={"provider_id": provider_id, "rev": call.rev + 1})
            return None

        def noted(call: Call) -> Callable[[Handoff, str, int], Change | None]:
            return lambda handoff, attempt, now: (
                attempts.note(
                    handoff, event, now, attempt=attempt, call=call.id, contact=call.contact, **data
                )
                if call.state is state
                else None
            )

        def too_late(call: Call, now: int) -> list[Effect]:
            return [effects.hang_up(call.id, now, even_ended=True)] if call.state is CallState.ENDED else []

        self._change(call_id, move, entries=noted, leaves=too_late)

    def _change(
        self,
        call_id: str,
        move: Callable[[Call], Call | None],
        *,
        entries: Callable[[Call], Callable[[Handoff, str, int], Change | None]] | None = None,
        leaves: Callable[[Call, int], list[Effect]] | None = None,
        free_line: bool = False,
        drop: list[str] | None = None,
    ) -> Call | None:
        """Reads, moves, commits, again when somebody was quicker. The call as committed, or None when there
        was nothing to change. `entries` changes the handoffs it carries, `leaves` says what is left to do."""
        for _ in range(MAX_ROUNDS):
            call = self.store.read_call(call_id)
            moved = move(call) if call else None
            if call is None or moved is None:
                return None
            now = self.handoffs.clock()
            plan = Plan(calls=[moved], drop=drop or [], effects=leaves(moved, now) if leaves else [])
            if entries is not None:
                rule = entries(moved)
                plan.changes = self._changes(moved, rule, now)
            if free_line and self.store.line_of(call.number) == call.id:
                plan.free_line = call
            if isinstance(self.store.commit(plan, now), Done):
                self.handoffs.hand_out(plan)
                return moved
        raise Unavailable("Too much is going on with this call. Please try again.")

    def _changes(
        self, call: Call, rule: Callable[[Handoff, str, int], Change | None], now: int
    ) -> list[Change]:
        found = [(self.store.read(entry.handoff), entry.attempt) for entry in call.entries]
        changes = [rule(handoff, attempt, now) for handoff, attempt in found if handoff is not None]
        return [change for change in changes if change is not None]


def _held(attempt: str, hold: Hold) -> Callable[[Handoff, int], Change | None]:
    return lambda handoff, now: attempts.hold(handoff, attempt, hold.why, hold.until, now)


def _moved(call: Call, state: CallState, **fields: Any) -> Call | None:
    if not may_move(call.state, state):
        return None
    return call.model_copy(update={"state": state, "rev": call.rev + 1, **fields})
