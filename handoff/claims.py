"""May a due call begin? Claimed for placing, put off, or ended, because of what came in between.

What becomes of it once it was placed is calls.py's business; who waits for whom, store/lua/pace.lua's.
"""

from __future__ import annotations

from collections.abc import Callable

from handoff import attempts, effects, ladder
from handoff.calls import CREATE_LIMIT_MS, RECONCILE_AFTER_MS, Calls, moved_on
from handoff.changes import Change
from handoff.effects import Effect
from handoff.errors import Unavailable
from handoff.limits import Held
from handoff.loop import MAX_ROUNDS
from handoff.models import Call, Channel, Handoff, Urgency
from handoff.moments import SECOND
from handoff.states import CallState, Disposition
from handoff.store import Done, Hold, Pacer, Plan, Store

#: How soon a call looks again whether its number's line, which another call has, is free: at first, at last.
#: Shorter holds are not put on the timeline: nobody asks why a phone rang two seconds later.
WORTH_TELLING_MS = 3 * SECOND
LINE_BUSY_MS, LINE_BUSY_LONGEST_MS = 2 * SECOND, 10 * SECOND
#: What holds a number only, so that another one may be rung meanwhile; with what the operator reads.
_OF_NUMBERS = {
    Held.NUMBER: "called as often as this number may be",
    Held.SHARE: "called as often as this agent may call this number",
}


class Claims:
    """Claims due calls for the run that is to place them."""

    def __init__(self, calls: Calls, pacer: Pacer):
        """`pacer` counts what begins."""
        self._calls, self._pacer = calls, pacer
        self.handoffs = calls.handoffs
        self.store: Store = calls.store

    def claim(self, call_id: str, effect: Effect, run: str) -> Call | None:
        """Takes a due call for placing: from here on it is never created again. None when it may not be.

        Also takes the number's line, and sets when the call is looked up should nothing more be heard. A line
        that another call has puts the effect off, and so does a limit (limits.py); a call that nobody needs
        any more ends here, and so does one to somebody who must not be rung any more; one that an earlier run
        took and never came back from is unknown from now on (promise 7). `run` names this run, so that its
        own claim is known again when only the reply was lost.
        """
        for _ in range(MAX_ROUNDS):
            call = self.store.read_call(call_id)
            now = self.handoffs.clock()
            if call is not None and call.state is CallState.PLACING:
                if call.placing_run == run:
                    return call
                self._calls.lost_reply(call_id, "the process that placed it died")
                return None
            if call is None or call.state is not CallState.DUE:
                return None
            if not self.needed(call):
                self._calls.withdraw(call_id)
                return None
            if self.handoffs.opt_outs.from_calls(call.number):
                self._calls.opted_out(call.id)
                return None
            if why := self._not_to_be_rung(call, now):
                self._calls.leave_alone(call.id, why)
                return None
            if self.store.line_of(call.number) is not None:
                self._wait_for_line(call, effect, now)
                return None
            if hold := self._pacer.hold(call, self._urgency(call), now, share=self._share(call)):
                self._hold(call, effect, hold, now)
                return None
            placing = moved_on(call, CallState.PLACING, placing_at=now, placing_run=run)
            assert placing is not None
            due = now + max(call.ring_s * SECOND + RECONCILE_AFTER_MS, CREATE_LIMIT_MS)
            plan = Plan(calls=[placing], take_line=call, effects=[effects.reconcile_call(call.id, due)])
            if isinstance(self.store.commit(plan, now), Done):
                return placing
        raise Unavailable("Too much is going on with this call.")

    def stop_calls(self, call_id: str) -> None:
        """Ends every call that is due to the number of this one, if it is not to be called any more: what
        waits for a limit would wait for nothing."""
        stopped = self.store.read_call(call_id)
        if stopped is None or not self.handoffs.opt_outs.from_calls(stopped.number):
            return
        for due in self.handoffs.opt_outs.due_calls():
            if (call := self.store.read_call(due)) is not None and call.number == stopped.number:
                self._calls.opted_out(call.id)

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

    def _somebody_else(self, call: Call, now: int, *, other_number: bool = True) -> bool:
        """Whether, without this call, there is another person or number left to ring."""
        rules = self.handoffs.rules()
        return any(
            (attempt := handoff.attempt(entry.attempt)) is not None
            and ladder.somebody_else(handoff, attempt, rules, now, other_number=other_number)
            for entry in call.entries
            if (handoff := self.store.read(entry.handoff)) is not None
        )

    def _not_to_be_rung(self, call: Call, now: int) -> str | None:
        """Why this contact must not be rung on this number now, although they might when the step began: the
        call may have waited, and people and hours change."""
        found = [one for entry in call.entries if (one := self.store.read(entry.handoff)) is not None]
        contact = self.handoffs.contact(call.contact, handoff=next(iter(found), None), number=call.number)
        if contact is None:
            return "not among the people any more"
        if Channel.CALL not in contact.channels:
            return "takes no calls any more"
        asleep = [ladder.may_be_rung(one, contact, now) is not None for one in found]
        return "quiet hours" if asleep and all(asleep) else None

    def _wait_for_line(self, call: Call, effect: Effect, now: int) -> None:
        """One call at a time on a number. Whoever has waited for as long as a phone rings lets the ladder go
        on to the next person, if there is one; else it waits, looking less and less often. Meanwhile it has
        no place in the queue of those that could begin."""
        self._pacer.leave(call, now)
        waited = now - (call.due_at or call.created_at)
        if waited > call.ring_s * SECOND and self._somebody_else(call, now, other_number=False):
            self._calls.busy_with_us(call.id)
            return
        again = now + min(LINE_BUSY_MS + waited // 8, LINE_BUSY_LONGEST_MS)
        self._put_off(call, effect, Hold(Held.LINE, again), now)

    def _hold(self, call: Call, effect: Effect, hold: Hold, now: int) -> None:
        """Puts the call off by a limit. A number that may not be rung for longer than a phone rings lets the
        ladder go on, if there is somebody else."""
        too_long = hold.until - now > call.ring_s * SECOND
        if hold.why in _OF_NUMBERS and too_long and self._somebody_else(call, now):
            self._calls.end(call.id, Disposition.BLOCKED, detail=_OF_NUMBERS[hold.why])
            return
        self._put_off(call, effect, hold, now)

    def _put_off(self, call: Call, effect: Effect, hold: Hold, now: int) -> None:
        """The call is due again then; where people look it says why, once for each reason."""
        for entry in call.entries if hold.until - now > WORTH_TELLING_MS else ():
            self.handoffs.change(entry.handoff, _held(entry.attempt, hold))
        self.store.postpone(effect, max(hold.until, now + 1), now, failed=False)

    def _share(self, call: Call) -> int:
        """Per cent of the number's caps that calls for this API key may use up."""
        key = self.store.api_key(call.api_key) if call.api_key and self._pacer.has_caps else None
        return key.rights.share if key else 100

    def _urgency(self, call: Call) -> Urgency:
        """The highest of the handoffs that it carries."""
        found = [self.store.read(entry.handoff) for entry in call.entries]
        return max((one.urgency for one in found if one), key=lambda one: one.rank, default=Urgency.NORMAL)


def _held(attempt: str, hold: Hold) -> Callable[[Handoff, int], Change | None]:
    return lambda handoff, now: attempts.hold(handoff, attempt, hold.why, hold.until, now)
