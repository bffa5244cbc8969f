"""What becomes of a phone call, in the records: claimed, placed, unknown, ringing, answered, ended.

A call and the handoffs it carries change in one commit. Who speaks to the provider, and in which words,
is voice/'s business; a call's state never goes back, whatever order its callbacks arrive in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handoff import effects, lifecycle
from handoff.commands import MAX_ROUNDS, Handoffs
from handoff.effects import Effect
from handoff.errors import Unavailable
from handoff.lifecycle import Change
from handoff.models import Call, EventType, Handoff
from handoff.moments import SECOND
from handoff.states import CallState, Disposition, may_move
from handoff.store import Done, Store
from handoff.store.store import Plan

#: Promise 7: a call whose callbacks are missing is looked up this long after its ring time.
RECONCILE_AFTER_MS = 30 * SECOND
#: The longest a call may last at the provider, in seconds. Long enough to clear a wall while on the line.
TIME_LIMIT_S = 600
#: How soon a call looks again whether its number's line, which another call has, is free.
LINE_BUSY_MS = 2 * SECOND


class Calls:
    """Changes of call records."""

    def __init__(self, handoffs: Handoffs):
        self.handoffs = handoffs
        self.store: Store = handoffs.store

    def claim(self, call_id: str, effect: Effect) -> Call | None:
        """Takes a due call for placing: from here on it is never created again. None when it may not be.

        Also takes the number's line, and sets when the call is looked up should nothing more be heard.
        A line that another call has puts the effect off; a call that nobody needs any more ends here; a
        call that an earlier run took and never came back from is unknown from now on (promise 7).
        """
        for _ in range(MAX_ROUNDS):
            call = self.store.read_call(call_id)
            now = self.handoffs.clock()
            if call is None or call.state is CallState.PLACING:
                self.lost_reply(call_id, "the process that placed it died")
                return None
            if call.state is not CallState.DUE:
                return None
            if not self.needed(call):
                self.end(call_id, Disposition.WITHDRAWN)
                return None
            if self.store.line_of(call.number) is not None:
                self.store.postpone(effect, now + LINE_BUSY_MS, now)
                return None
            placing = _moved(call, CallState.PLACING, placing_at=now)
            assert placing is not None
            due = now + call.ring_s * SECOND + RECONCILE_AFTER_MS
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
        self._change(
            call_id,
            lambda call: (
                _moved(call, CallState.DUE, placing_at=None)
                if call.state is CallState.PLACING and call.provider_id is None
                else None
            ),
            free_line=True,
            drop=[f"{effects.EffectKind.RECONCILE_CALL}-{call_id}"],
        )

    def placed(self, call_id: str, provider_id: str) -> None:
        """The provider accepted it. A callback may have said more already; that stays."""
        self._bind(call_id, provider_id, CallState.PLACED, EventType.CALL_PLACED)

    def lost_reply(self, call_id: str, detail: str) -> None:
        """The create's answer was lost: only a callback or the one look-up can say what became of it."""
        self._bind(call_id, None, CallState.UNKNOWN, EventType.CALL_UNKNOWN, detail=detail)

    def ringing(self, call_id: str, provider_id: str | None, seq: int) -> None:
        """The provider says that it rings, which does not mean that a phone makes a sound."""
        self._bind(call_id, provider_id, CallState.RINGING, EventType.CALL_RINGING, seq=seq)

    def answered(self, call_id: str, provider_id: str | None, seq: int = -1) -> None:
        """Something picked up. That proves nothing (promise 4)."""
        self._bind(call_id, provider_id, CallState.ANSWERED, EventType.CALL_ANSWERED, seq=seq)

    def heard_everything(self, call_id: str) -> None:
        """The voice came to its goodbye, and no key was pressed."""
        self._change(
            call_id,
            lambda call: (
                None if call.heard_all else call.model_copy(update={"heard_all": True, "rev": call.rev + 1})
            ),
        )

    def pressed(self, call_id: str, key: str, turn: int) -> None:
        """Keeps which key was pressed in document `turn`, for "what did they press?"; each turn counts once."""
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
        seq: int = -1,
        detail: str | None = None,
    ) -> None:
        """The call is over. Its attempts end with it, its line is free, and the ladder goes on.

        `disposition` may be a function of the call as it stands, since what it told us depends on whether
        it was answered.
        """

        def attempt_ended(call: Call) -> Callable[[Handoff, str, int], Change | None]:
            what = disposition if isinstance(disposition, Disposition) else disposition(call)
            return lambda handoff, attempt, now: lifecycle.end_attempt(
                handoff, attempt, what, self.handoffs.rules(), now, detail=detail
            )

        self._change(
            call_id,
            lambda call: _moved(
                call,
                CallState.ENDED,
                ended_at=self.handoffs.clock(),
                provider_id=call.provider_id or provider_id,
                last_seq=max(call.last_seq, seq),
            ),
            entries=attempt_ended,
            free_line=True,
            drop=[
                f"{effects.EffectKind.RECONCILE_CALL}-{call_id}",
                f"{effects.EffectKind.PLACE_CALL}-{call_id}",
            ],
        )

    def _bind(
        self,
        call_id: str,
        provider_id: str | None,
        state: CallState,
        event: EventType,
        *,
        seq: int = -1,
        **data: Any,
    ) -> None:
        """Moves a call on and says so on the timeline; binds the provider's id whenever it is first seen."""

        def move(call: Call) -> Call | None:
            binds = provider_id is not None and call.provider_id is None
            if may_move(call.state, state):
                return _moved(
                    call,
                    state,
                    provider_id=call.provider_id or provider_id,
                    last_seq=max(call.last_seq, seq),
                    answered_at=self.handoffs.clock() if state is CallState.ANSWERED else call.answered_at,
                )
            if binds:
                return call.model_copy(update={"provider_id": provider_id, "rev": call.rev + 1})
            return None

        def noted(call: Call) -> Callable[[Handoff, str, int], Change | None]:
            return lambda handoff, attempt, now: (
                lifecycle.note(
                    handoff, event, now, attempt=attempt, call=call.id, contact=call.contact, **data
                )
                if call.state is state
                else None
            )

        self._change(call_id, move, entries=noted)

    def _change(
        self,
        call_id: str,
        move: Callable[[Call], Call | None],
        *,
        entries: Callable[[Call], Callable[[Handoff, str, int], Change | None]] | None = None,
        free_line: bool = False,
        drop: list[str] | None = None,
    ) -> None:
        for _ in range(MAX_ROUNDS):
            call = self.store.read_call(call_id)
            moved = move(call) if call else None
            if call is None or moved is None:
                return
            now = self.handoffs.clock()
            plan = Plan(calls=[moved], drop=drop or [])
            if entries is not None:
                rule = entries(moved)
                plan.changes = self._changes(moved, rule, now)
            if free_line and self.store.line_of(call.number) == call.id:
                plan.free_line = call
            if isinstance(self.store.commit(plan, now), Done):
                self.handoffs.hand_out(plan)
                return
        raise Unavailable("Too much is going on with this call. Please try again.")

    def _changes(
        self, call: Call, rule: Callable[[Handoff, str, int], Change | None], now: int
    ) -> list[Change]:
        found = [(self.store.read(entry.handoff), entry.attempt) for entry in call.entries]
        changes = [rule(handoff, attempt, now) for handoff, attempt in found if handoff is not None]
        return [change for change in changes if change is not None]


def _moved(call: Call, state: CallState, **fields: Any) -> Call | None:
    if not may_move(call.state, state):
        return None
    return call.model_copy(update={"state": state, "rev": call.rev + 1, **fields})
