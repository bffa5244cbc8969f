"""One handoff on a random walk: what people, phones and timers may do to it, in any order, without a store.

Rows and calls are kept as a commit keeps them; what the workers decide between two commits (is a due call
still needed, hang this one up) is done as they do it. What must hold after every step is `check`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from handoff import attempts, inbound, lifecycle, opt_outs
from handoff.changes import Change, Decided, Rules, open_calls
from handoff.effects import Effect, EffectKind
from handoff.models import Actor, ActorKind, Attempt, Call, Channel, Decision, EventType, Handoff, Proof
from handoff.moments import SECOND
from handoff.policy import Contact, EscalationPolicy, People, Step
from handoff.quiet import QuietHours
from handoff.states import CallState, CloseReason, Disposition, State

from .lives import NOW, opening

ADA = Contact(id="ada", name="Ada", numbers=("+12125550123", "+12125550126"))
BEN = Contact(id="ben", name="Ben", numbers=("+12125550124",))
CY = Contact(
    id="cy",
    name="Cy",
    numbers=("+12125550125",),
    quiet_hours=(QuietHours(begins=0, ends=12 * 60),),
)
#: What a call that nobody decided in may come to.
ENDS = (
    Disposition.BUSY,
    Disposition.NO_ANSWER,
    Disposition.HUNG_UP,
    Disposition.NO_INPUT,
    Disposition.VOICEMAIL,
    Disposition.INVALID_NUMBER,
    Disposition.PROVIDER_ERROR,
    Disposition.UNKNOWN,
)
TIMERS = {EffectKind.DEADLINE, EffectKind.LAPSE, EffectKind.NEXT_STEP}


def random_rules(luck: Random) -> Rules:
    """A policy of these three people, of any shape; whom it leaves out may be gone."""
    steps = tuple(
        Step(
            contacts=tuple(luck.sample((ADA, BEN, CY), luck.randint(1, 3))),
            ring_s=25,
            wait_s=luck.choice((0, 0, 60, 200)),
        )
        for _ in range(luck.randint(1, 3))
    )
    quiet = luck.choice(("text", "wait", "skip"))
    policy = EscalationPolicy(name="default", steps=steps, rounds=luck.randint(1, 2), quiet=quiet)
    known = {one.id: one for step in steps for one in step.contacts}
    gone = luck.random() < 0.3
    contacts = tuple(known.values()) if gone else (ADA, BEN, CY)
    return Rules(people=People(contacts=contacts, policies=(policy,)))


class Walk:
    """The handoff, its calls, its rows of the outbox, and the moment it is."""

    def __init__(self, seed: int) -> None:
        self.luck = Random(seed)
        self.rules = random_rules(self.luck)
        self.now = NOW
        self.rows: dict[str, Effect] = {}
        self.calls: dict[str, Call] = {}
        self.settled = 0
        self.earlier: set[str] = set()  # the attempts of earlier steps
        self.told: list[str] = []  # what was done, for who reads a failure
        self.handoff: Handoff
        fields = {
            "timeout_s": self.luck.choice((120, 900, 3_000)),
            "on_exhausted": self.luck.choice(("wait", "fail")),
            "urgency": self.luck.choice(("normal", "normal", "critical")),
        }
        self._keep(opening(by=self.rules, **fields))

    def step(self) -> None:
        """One thing happens, at random, and everything that must hold is looked at."""
        if self.luck.random() < 0.02:
            self.rules = random_rules(self.luck)  # the people file was edited
        done = self.luck.choice(
            (self._wait, self._wait, self._a_call, self._a_call, self._a_key, self._a_caller, self._others)
        )
        done()
        self.check()

    def run_out(self) -> None:
        """Nobody does anything any more: rows come due, calls end, until none but the purge is left."""
        for _ in range(500):
            for call in [one for one in self.calls.values() if one.state is not CallState.ENDED]:
                if call.state is not CallState.DUE:
                    self._end(call, Disposition.NO_ANSWER)
                    self.check()
            left = [row for row in self.rows.values() if row.kind is not EffectKind.PURGE]
            if not left:
                break
            self._due(min(left, key=lambda row: row.due))
            self.check()
        assert self.handoff.closed, self._said("never closed")
        assert self.handoff.closed_at is not None and self.handoff.closed_at <= self.handoff.latest_deadline

    def check(self) -> None:
        """What is true after every step."""
        handoff, rows = self.handoff, {row.kind: row for row in self.rows.values() if row.kind in TIMERS}
        said = self._said
        due = {row.subject for row in self.rows.values() if row.kind is EffectKind.PLACE_CALL}
        ending = {row.subject for row in self.rows.values() if row.kind is EffectKind.HANG_UP}
        assert {one.id for one in self.calls.values() if one.state is CallState.DUE} <= due, said("no row")
        if handoff.closed:
            assert not rows, said("a timer outlived it")
            left = [one for one in self.calls.values() if one.state is not CallState.ENDED]
            assert all(one.id in ending or self._decided(one) for one in left), said("a call outlived it")
            return
        assert rows[EffectKind.DEADLINE].due == handoff.deadline, said("no deadline")
        wait, lapse = rows.get(EffectKind.NEXT_STEP), rows.get(EffectKind.LAPSE)
        assert (wait.due if wait else None) == handoff.next_step_at, said("a wait without its row")
        assert (lapse.due if lapse else None) == handoff.acknowledged_until, said("a pause without its row")
        assert (handoff.state is State.ACKNOWLEDGED) == (lapse is not None), said("who has it?")
        if handoff.state is State.ESCALATING and not handoff.exhausted and self.now < handoff.deadline:
            assert wait or open_calls(handoff), said("the ladder stands still")
        numbers = Counter(one.number for one in open_calls(handoff) if one.call not in ending)
        assert not [one for one, many in numbers.items() if many > 1], said("two calls at once")
        new = (one for one in handoff.attempts if one.id not in self.earlier and one.call)
        rung = Counter(one.number for one in new if not (one.inbound or one.back))
        assert not [one for one, many in rung.items() if many > 1], said("rung twice in one step")
        if handoff.exhausted and handoff.on_exhausted == "fail" and handoff.state is State.ESCALATING:
            assert self._heard_of() or open_calls(handoff), said(
                "nobody is left, and the agent hears nothing"
            )

    # What may happen

    def _wait(self) -> None:
        """Time goes by, as a rule to the next row that is due."""
        rows = sorted(self.rows.values(), key=lambda row: row.due)
        if not rows:
            return
        if self.luck.random() < 0.7:
            self._due(rows[0])
        else:
            self.now = max(self.now, min(self.now + self.luck.randint(1, 40) * SECOND, rows[0].due))

    def _due(self, row: Effect) -> None:
        """This row's time has come: what the clock or a worker makes of it."""
        self.now = max(self.now, row.due)
        del self.rows[row.id]
        self.told.append(f"{row.kind} is due")
        match row.kind:
            case EffectKind.DEADLINE:
                self._decide(lifecycle.expire(self.handoff, self.rules, self.now))
            case EffectKind.LAPSE:
                self._decide(lifecycle.lapse(self.handoff, row.revision, self.rules, self.now))
            case EffectKind.NEXT_STEP:
                self._keep(lifecycle.next_step(self.handoff, row.revision, self.rules, self.now))
            case EffectKind.PLACE_CALL:
                self._begin(self.calls[row.subject], row)
            case EffectKind.HANG_UP:
                self._hang_up(self.calls[row.subject])
            case EffectKind.SEND_TEXT:
                how = self.luck.choice((Disposition.UNKNOWN, Disposition.OPTED_OUT, Disposition.DELIVERED))
                self._keep(attempts.end_attempt(self.handoff, row.attempt or "", how, self.rules, self.now))
            case _:
                pass

    def _begin(self, call: Call, row: Effect) -> None:
        """As claims.py does: withdrawn, put to bed, put off because the line is taken, or placed."""
        attempt = self._attempt(call)
        if self.handoff.closed or self.handoff.acknowledged or attempt.disposition or attempt.ended_at:
            self._end(call, Disposition.WITHDRAWN)
        elif call.contact == "cy" and self.handoff.urgency != "critical" and self.luck.random() < 0.3:
            self._ended(call)
            self._keep(attempts.put_to_bed(self.handoff, attempt.id, self.rules, self.now))
        elif any(one.number == call.number and self._on(one) for one in self.calls.values()):
            self.rows[row.id] = row.model_copy(update={"due": self.now + 5 * SECOND})
        elif self.luck.random() < 0.15:
            how = self.luck.choice((Disposition.OPTED_OUT, Disposition.BLOCKED, Disposition.BUSY))
            self._end(call, how, other_number=how is not Disposition.BUSY)
        else:
            self.calls[call.id] = call.model_copy(update={"state": CallState.PLACED})

    def _hang_up(self, call: Call) -> None:
        if call.state is not CallState.ENDED:
            self._end(call, Disposition.WITHDRAWN)

    def _a_call(self) -> None:
        """The network or detection says something of a call that is on its way."""
        on = [one for one in self.calls.values() if self._on(one)]
        if not on:
            return
        call = self.luck.choice(on)
        if call.answered_at is None:
            if self.luck.random() < 0.5:
                self.calls[call.id] = call.model_copy(
                    update={"answered_at": self.now, "state": CallState.ANSWERED}
                )
            else:
                self._end(call, self.luck.choice(ENDS))
        elif self.luck.random() < 0.3 and not call.keyed and not call.inbound:
            self._keep(
                attempts.machine_took_it(
                    self.handoff, call.entries[0].attempt, self.rules, self.now, detail="a machine"
                )
            )
        else:
            self._end(call, self.luck.choice(ENDS))

    def _a_key(self) -> None:
        """Somebody who is on the line presses a key, which may be stale by now."""
        on = [one for one in self.calls.values() if self._on(one) and one.answered_at is not None]
        if not on:
            return
        call = self.luck.choice(on)
        self.calls[call.id] = call = call.model_copy(update={"keyed": True})
        attempt, said = call.entries[-1].attempt, self._word(call.contact)
        handoff, rules, now = self.handoff, self.rules, self.now
        keys: tuple[Callable[[], Decided | Change | None], ...] = (
            lambda: lifecycle.acknowledge(handoff, said, rules, now, attempt=attempt),
            lambda: lifecycle.pass_on(handoff, said, rules, now, attempt=attempt),
            lambda: lifecycle.pass_on(handoff, said, rules, now, attempt=attempt),
            lambda: lifecycle.call_back(handoff, said, rules, now, attempt=attempt),
            lambda: lifecycle.call_back(handoff, said, rules, now, attempt=attempt),
            lambda: opt_outs.no_more_calls(handoff, call, attempt, said.by, rules, now),
            lambda: lifecycle.resolve(handoff, said, rules, now, attempt=attempt),
            lambda: lifecycle.decline(handoff, said, rules, now, attempt=attempt),
        )
        self.told.append(f"a key by {call.contact}")
        self._decide(self.luck.choices(keys, (4, 4, 4, 4, 4, 2, 1, 1))[0]())

    def _a_caller(self) -> None:
        """Somebody calls us, or has us call them back."""
        who = self.luck.choice((ADA, BEN, CY))
        if self.handoff not in inbound.waiting([self.handoff], who, self.rules, self.now):
            return
        id_ = f"ca_in{len(self.calls)}"
        self.told.append(f"{who.id} calls us")
        if self.luck.random() < 0.5:
            self._keep(inbound.enter(self.handoff, who, who.number, id_, id_, Proof.KEYPRESS_PIN, self.now))
        elif self.handoff.acknowledged is None:
            self._keep(inbound.call_back(self.handoff, who, who.number, id_, self.rules, self.now))

    def _others(self) -> None:
        """What is done on pages."""
        said, now = self._word(self.luck.choice("ada ben cy".split())), self.now
        operator = said.model_copy(
            update={"by": Actor(kind=ActorKind.OPERATOR, id="op", name="Op"), "proof": Proof.CONSOLE}
        )
        acts: tuple[Callable[[], Decided], ...] = (
            lambda: lifecycle.acknowledge(self.handoff, said, self.rules, now),
            lambda: lifecycle.extend(self.handoff, said, self.rules, now),
            lambda: lifecycle.ring_again(self.handoff, operator, self.rules, now),
        )
        self.told.append(f"a page of {said.by.id}")
        self._decide(self.luck.choice(acts)())

    # What a commit keeps

    def _decide(self, decided: Decided | Change | None) -> None:
        self._keep(decided.change if isinstance(decided, Decided) else decided)

    def _keep(self, change: Change | None) -> None:
        if change is None:
            return
        before = getattr(self, "handoff", None)
        self.handoff = change.handoff
        assert before is None or change.handoff.rev == before.rev + 1
        if self.handoff.close_reason is CloseReason.UNREACHABLE and before and not before.closed:
            assert not self._heard_of(), self._said("somebody was hearing of it")
        if self.handoff.closed:
            self.settled += not (before and before.closed)
            assert before is None or not before.closed or before.closed_at == self.handoff.closed_at
        if before and any(event.type is EventType.STEP_STARTED for event in change.events):
            self.earlier = {one.id for one in before.attempts}
        for call in change.calls:
            assert call.id not in self.calls
            self.calls[call.id] = call
        for gone in change.drop:
            self.rows.pop(gone, None)
        self.rows |= {effect.id: effect for effect in change.effects}
        self.told += [f"{event.type} {event.data}" for event in change.events]

    def _end(self, call: Call, how: Disposition, *, other_number: bool = True) -> None:
        self._ended(call)
        self._keep(
            attempts.end_attempt(
                self.handoff,
                self._attempt(call).id,
                how,
                self.rules,
                self.now,
                was_answered=call.answered_at is not None,
                other_number=other_number,
            )
        )

    def _ended(self, call: Call) -> None:
        self.calls[call.id] = call.model_copy(update={"state": CallState.ENDED, "ended_at": self.now})
        for kind in (EffectKind.PLACE_CALL, EffectKind.RECONCILE_CALL):
            self.rows.pop(f"{kind}-{call.id}", None)

    def _heard_of(self) -> bool:
        """Whether somebody who called us is on the line for it and has not decided."""
        calls = (one for one in self.calls.values() if one.inbound and self._on(one))
        return any(self._attempt(one).disposition is None for one in calls)

    def _on(self, call: Call) -> bool:
        return call.state not in (CallState.DUE, CallState.ENDED)

    def _attempt(self, call: Call) -> Attempt:
        found = self.handoff.attempt(call.entries[0].attempt)
        assert found is not None
        return found

    def _decided(self, call: Call) -> bool:
        return self._attempt(call).disposition in (Disposition.RESOLVED, Disposition.DECLINED)

    def _word(self, who: str) -> Decision:
        by = Actor(kind=ActorKind.CONTACT, id=who, name=who.title())
        return Decision(by=by, channel=Channel.CALL, proof=Proof.KEYPRESS, at=self.now)

    def _said(self, what: str) -> str:
        return "\n".join([what, *self.told])
