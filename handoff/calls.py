"""What becomes of a phone call, in the records: placed, unknown, ringing, answered, ended.

A call and the handoffs it carries change in one commit, and a call's state never goes back, whatever order
its callbacks arrive in. Whether a call may begin, and who claims it, is claims.py's business; who speaks to
the provider, and in which words, is voice/'s.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handoff import attempts, calling_back, effects
from handoff.changes import Change
from handoff.commands import Handoffs
from handoff.effects import Effect, EffectKind
from handoff.errors import Unavailable
from handoff.loop import MAX_ROUNDS
from handoff.models import Call, EventType, Handoff
from handoff.moments import MINUTE, SECOND
from handoff.notices import Notices, Trouble, proven_by_answer, proven_by_placing
from handoff.states import CallState, Disposition, may_move
from handoff.store import Done, Pacer, Plan, Store

#: Promise 7: a call whose callbacks are missing is looked up this long after its ring time, but never before
#: the create itself must have ended (voice/twilio_gateway.py gives up on one after 36 s).
RECONCILE_AFTER_MS = 30 * SECOND
CREATE_LIMIT_MS = 40 * SECOND


class Calls:
    """Changes of call records."""

    def __init__(self, handoffs: Handoffs, pacer: Pacer):
        self.handoffs = handoffs
        self.store: Store = handoffs.store
        self._pacer = pacer

    def give_back(self, call_id: str) -> None:
        """The provider provably did not process the create: the call is due again, its line free."""
        if call := self.store.read_call(call_id):
            self._pacer.did_not_begin(call)
        self._change(
            call_id,
            lambda call: (
                moved_on(call, CallState.DUE, placing_at=None)
                if call.state is CallState.PLACING and call.provider_id is None
                else None
            ),
            free_line=True,
            drop=[f"{EffectKind.RECONCILE_CALL}-{call_id}"],
        )

    def placed(self, call_id: str, provider_id: str, sender: str = "") -> None:
        """The provider accepted it, from our number `sender`. A callback may have said more already; that
        stays."""
        self._bind(
            call_id,
            provider_id,
            CallState.PLACED,
            EventType.CALL_PLACED,
            proven=lambda call: Notices(cleared=proven_by_placing(call.number, sender)),
        )

    def lost_reply(self, call_id: str, detail: str) -> None:
        """The create's answer was lost: only a callback or the one look-up can say what became of it."""
        self._bind(call_id, None, CallState.UNKNOWN, EventType.CALL_UNKNOWN, detail=detail)

    def ringing(self, call_id: str, provider_id: str | None) -> None:
        """The provider says that it rings, which does not mean that a phone makes a sound."""
        self._bind(call_id, provider_id, CallState.RINGING, EventType.CALL_RINGING)

    def answered(self, call_id: str, provider_id: str | None) -> None:
        """Something picked up. That proves nothing (promise 4)."""
        self._bind(
            call_id,
            provider_id,
            CallState.ANSWERED,
            EventType.CALL_ANSWERED,
            proven=lambda call: Notices(cleared=proven_by_answer(call.number)),
        )

    def withdraw(self, call_id: str) -> bool:
        """Ends a call that is still due, which nothing needs any more. False when it is due no longer."""
        moved = self._end(
            call_id, lambda call: Disposition.WITHDRAWN if call.state is CallState.DUE else None
        )
        return moved is not None

    def opted_out(self, call_id: str) -> None:
        """Ends a call that is due to a number that is not to be called. The ladder goes on at once."""
        self._end(
            call_id,
            lambda call: Disposition.OPTED_OUT if call.state is CallState.DUE else None,
            detail="they pressed 8 twice",
        )

    def leave_alone(self, call_id: str, why: str) -> None:
        """Ends a call that is due and is not to be placed: its contact must not be rung now. The ladder goes
        on."""
        self._end(
            call_id,
            lambda call: Disposition.WITHDRAWN if call.state is CallState.DUE else None,
            rule=lambda handoff, attempt, now: attempts.put_to_bed(
                handoff, attempt, self.handoffs.rules(), now, detail=why
            ),
        )

    def busy_with_us(self, call_id: str) -> None:
        """Ends a call that is due to a number whose line another call of ours has for too long. Their other
        numbers are theirs as well: nobody is rung there while they talk to us."""
        self._end(
            call_id,
            lambda call: Disposition.BUSY if call.state is CallState.DUE else None,
            rule=lambda handoff, attempt, now: attempts.end_attempt(
                handoff,
                attempt,
                Disposition.BUSY,
                self.handoffs.rules(),
                now,
                detail="on another call of ours",
                other_number=False,
            ),
        )

    def heard_everything(self, call_id: str) -> None:
        """The voice came to its goodbye, and no key was pressed."""
        self._change(
            call_id,
            lambda call: _changed(call, heard_all=True),
        )

    def machine_took_it(self, call_id: str, verdict: str, detail: str) -> None:
        """Detection says that a machine has the line. Where no key was pressed its attempts end, the ladder
        goes on at once, and the call is taken leave of. A verdict that comes late or twice changes nothing.
        """

        def move(call: Call) -> Call | None:
            if call.keyed or call.machine is not None or call.state in (CallState.DUE, CallState.ENDED):
                return None
            return _changed(call, machine=verdict)

        self._change(
            call_id,
            move,
            entries=lambda _: (
                lambda handoff, attempt, now: attempts.machine_took_it(
                    handoff, attempt, self.handoffs.rules(), now, detail=detail
                )
            ),
            leaves=lambda call, now: [effects.hang_up(call.id, now)],
        )

    def screener_spoke(self, call_id: str, is_screener: bool) -> None:
        """Whether the last words heard on it were a call screener's. After a key none are."""
        self._change(
            call_id,
            lambda call: None if call.keyed else _changed(call, screened=is_screener),
        )

    def keyed(self, call_id: str) -> None:
        """A key was pressed, whatever it means: neither a machine nor a screener has the line."""
        self._change(
            call_id,
            lambda call: _changed(call, keyed=True, screened=False),
        )

    def pressed(self, call_id: str, key: str, turn: int) -> None:
        """Keeps which key was pressed in document `turn`, for "what did they press?"; each counts once."""
        self._change(
            call_id,
            lambda call: (
                _changed(call, pressed=(call.pressed + key)[-40:], pressed_turn=turn)
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
        trouble: Trouble | None = None,
    ) -> None:
        """The call is over. Its attempts end with it, its line is free, and the ladder goes on.

        `disposition` may be a function of the call as it stands, since what it told us depends on whether
        it was answered. `trouble` is what the operator must be told.
        """
        what = disposition if callable(disposition) else lambda _: disposition
        self._end(call_id, what, provider_id=provider_id, detail=detail, trouble=trouble)

    def _end(
        self,
        call_id: str,
        disposition: Callable[[Call], Disposition | None],
        *,
        provider_id: str | None = None,
        detail: str | None = None,
        trouble: Trouble | None = None,
        rule: Callable[[Handoff, str, int], Change | None] | None = None,
    ) -> Call | None:
        told: list[Disposition] = []

        def move(call: Call) -> Call | None:
            if (what := disposition(call)) is None:
                return None
            told[:] = [what]
            return moved_on(
                call,
                CallState.ENDED,
                ended_at=self.handoffs.clock(),
                provider_id=call.provider_id or provider_id,
            )

        def ended(call: Call) -> Callable[[Handoff, str, int], Change | None]:
            return rule or (
                lambda handoff, attempt, now: attempts.end_attempt(
                    handoff,
                    attempt,
                    told[0],
                    self.handoffs.rules(),
                    now,
                    detail=detail,
                    was_answered=calling_back.may_be_cut_off(call),
                    trouble=trouble,
                )
            )

        drop = [f"{kind}-{call_id}" for kind in (EffectKind.RECONCILE_CALL, EffectKind.PLACE_CALL)]
        moved = self._change(call_id, move, entries=ended, free_line=True, drop=drop)
        if moved is not None:
            self._counted(moved)
        return moved

    def _counted(self, call: Call) -> None:
        """What an ended call leaves in the counters: its place in the queue is free, its minutes are paid."""
        now = self.handoffs.clock()
        if call.placing_at is None:
            self._pacer.leave(call, now)
            self._pacer.did_not_begin(call)
        elif call.answered_at is not None and call.ended_at is not None:
            self._pacer.lasted(-(-(call.ended_at - call.answered_at) // MINUTE), now)

    def _bind(
        self,
        call_id: str,
        provider_id: str | None,
        state: CallState,
        event: EventType,
        *,
        proven: Callable[[Call], Notices] | None = None,
        **data: Any,
    ) -> None:
        """Moves a call on and says so on the timeline; binds the provider's id whenever it is first seen.

        A call that counted as over, and turns out to exist after all, is hung up (promise 6).
        """

        def move(call: Call) -> Call | None:
            binds = provider_id is not None and call.provider_id is None
            if may_move(call.state, state):
                return moved_on(
                    call,
                    state,
                    provider_id=call.provider_id or provider_id,
                    answered_at=self.handoffs.clock() if state is CallState.ANSWERED else call.answered_at,
                )
            if binds:
                return _changed(call, provider_id=provider_id)
            return None

        def noted(call: Call) -> Callable[[Handoff, str, int], Change | None]:
            return lambda handoff, attempt, now: (
                attempts.call_moved(
                    handoff,
                    attempt,
                    event,
                    now,
                    proven(call) if proven else None,
                    call=call.id,
                    contact=call.contact,
                    **data,
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
        for handoff, _ in found:
            if handoff is not None:
                self.handoffs.hear_of(handoff)
        changes = [rule(handoff, attempt, now) for handoff, attempt in found if handoff is not None]
        return [change for change in changes if change is not None]


def moved_on(call: Call, state: CallState, **fields: Any) -> Call | None:
    """The call in this state, or None when it may not come to it from where it is."""
    if not may_move(call.state, state):
        return None
    return _changed(call, state=state, **fields)


def _changed(call: Call, **fields: Any) -> Call | None:
    """The next version of the call; None when it has these fields already."""
    if all(getattr(call, name) == value for name, value in fields.items()):
        return None
    return call.model_copy(update={**fields, "rev": call.rev + 1})
