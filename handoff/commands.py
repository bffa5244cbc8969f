"""Read, decide, commit, hand out what is due: the one loop through which every handoff changes.

The decisions are lifecycle.py's; the atomic step is the store's. What happens on a phone call is
calls.py's. Nothing here speaks HTTP, Twilio or RQ: `enqueue` is how due effects reach a worker at once,
and losing it costs seconds, never an effect, since the row in the outbox is the truth.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

import structlog

from handoff import attempts, ids, lifecycle
from handoff.changes import Change, Decided, Rules
from handoff.errors import AnswerDeleted, IdempotencyConflict, Invalid, NotFound, Unavailable
from handoff.messages import OpenRequest
from handoff.models import Actor, ApiKey, Channel, Decision, EventType, Handoff, Proof, Result
from handoff.notices import Notices, OptOut, Warning
from handoff.outcomes import Outcome
from handoff.policy import Contact
from handoff.states import CloseReason
from handoff.store import Again, Done, OptOuts, Plan, Store, Warnings, sha256

log = structlog.get_logger(__name__)

#: How often a decision is taken anew because somebody else changed the record in between. Each round
#: means that somebody else got through, so this is reached only if a hundred others did.
MAX_ROUNDS = 100


class Enqueue(Protocol):
    """Hands effects that are due to the workers, each under the number of its claim (1 at first). Those of
    `urgent` are done before all that waits."""

    def __call__(self, effect_ids: Collection[str], lease: int = 1, urgent: Collection[str] = ()) -> None: ...


class RulesOfNow(Protocol):
    """The rules of this moment. People may be a second old; `fresh` ones are looked for at once."""

    def __call__(self, *, fresh: bool = False) -> Rules: ...


@dataclass(frozen=True)
class OpenedHandoff:
    """The handoff, and whether an earlier request with the same key had opened it."""

    handoff: Handoff
    replayed: bool


class Handoffs:
    """Commands on handoffs. Every method answers only after its change was committed."""

    def __init__(
        self,
        store: Store,
        rules: RulesOfNow,
        enqueue: Enqueue,
        clock: Callable[[], int],
    ):
        self.store = store
        self.rules = rules
        self.enqueue = enqueue
        self.clock = clock
        self.opt_outs = OptOuts(store.connections, store.keys)
        self.warnings = Warnings(store.connections, store.keys)

    def open(
        self, request: OpenRequest, key: ApiKey, idempotency_key: str | None, body_hash: str | None = None
    ) -> OpenedHandoff:
        """Opens a handoff, or finds the one that this idempotency key names for this API key; without one it
        is always a new handoff. Raises Invalid and Forbidden as lifecycle.open_handoff does.

        Raises IdempotencyConflict when the key named another request, AnswerDeleted when the handoff it
        named is past its retention time. Neither rings anybody.
        """
        # A key of our own tells a commit whose reply was lost from one that was refused.
        key_hash = sha256(idempotency_key or ids.random_text(22))
        body_hash = body_hash or fingerprint(request)
        if found := self._opened(key, key_hash, body_hash):
            return found
        now = self.clock()
        change = self._opening(request, key, now)
        named = (key.id, key_hash, body_hash)
        plan = Plan(changes=[change], idempotency=named, unnamed=idempotency_key is None)
        if isinstance(self.store.commit(plan, now), Done):
            self.hand_out(plan)
            return OpenedHandoff(change.handoff, replayed=False)
        # Either another request with this key was quicker, or this very commit was made and its reply was
        # lost on the way: then the handoff is ours and new.
        found = self._opened(key, key_hash, body_hash)
        if found is None:
            raise Unavailable("The handoff could not be recorded. Please send the request again.")
        if found.handoff.id == change.handoff.id:
            due = [effect.id for effect in change.effects if effect.due <= now]
            self.enqueue(due, urgent=plan.urgent)
            return OpenedHandoff(found.handoff, replayed=False)
        return found

    def contact(
        self, contact_id: str, *, handoff: Handoff | None = None, number: str | None = None
    ) -> Contact | None:
        """The contact with this id (and this number, E.164) who may be called now, for this handoff. Before
        it is said that there is nobody, it is looked once more: they may have come a moment ago."""

        def find(rules: Rules) -> Contact | None:
            people = rules.people
            found = people.contact_for(handoff, contact_id) if handoff else people.contact(contact_id)
            return found if found and number in (None, *found.numbers) else None

        return find(self.rules()) or find(self.rules(fresh=True))

    def get(self, handoff_id: str) -> Handoff:
        """The handoff as it is. Raises NotFound."""
        handoff = self.store.read(handoff_id)
        if handoff is None:
            raise NotFound("There is no such handoff.")
        return handoff

    def acknowledge(
        self, handoff_id: str, decision: Decision, command: str, attempt: str | None = None
    ) -> Outcome:
        """A person is on it."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.acknowledge(handoff, decision, self.rules(), now, attempt=attempt),
        )

    def extend(
        self, handoff_id: str, decision: Decision, command: str, *, known: Handoff | None = None
    ) -> Outcome:
        """A person needs more time."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.extend(handoff, decision, self.rules(), now),
            known,
        )

    def ring_again(self, handoff_id: str, decision: Decision, command: str) -> Outcome:
        """An operator wants people rung again."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.ring_again(handoff, decision, self.rules(), now),
        )

    def pass_on(self, handoff_id: str, decision: Decision, command: str, attempt: str) -> Outcome:
        """A person hands it to the next one."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.pass_on(handoff, decision, self.rules(), now, attempt=attempt),
        )

    def call_back(self, handoff_id: str, decision: Decision, command: str, attempt: str) -> Outcome:
        """A person on the line wants to be called again in a while."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.call_back(handoff, decision, self.rules(), now, attempt=attempt),
        )

    def resolve(
        self,
        handoff_id: str,
        decision: Decision,
        command: str,
        *,
        result: Result | None = None,
        attempt: str | None = None,
        known: Handoff | None = None,
    ) -> Outcome:
        """A person says that it is done, or answers. Raises Invalid for an answer that does not fit."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.resolve(
                handoff, decision, self.rules(), now, result=result, attempt=attempt
            ),
            known,
        )

    def decline(
        self,
        handoff_id: str,
        decision: Decision,
        command: str,
        *,
        attempt: str | None = None,
        known: Handoff | None = None,
    ) -> Outcome:
        """A person says no."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.decline(handoff, decision, self.rules(), now, attempt=attempt),
            known,
        )

    def observe(self, handoff_id: str, by: Actor, command: str) -> Outcome:
        """The agent saw that the wall is gone. Only for `clear`; it never looks like a person's word."""
        decision = Decision(by=by, channel=Channel.API, proof=Proof.OBSERVED, at=self.clock())
        return self.resolve(handoff_id, decision, command)

    def cancel(self, handoff_id: str, by: Actor, reason: CloseReason, command: str) -> Outcome:
        """It is withdrawn."""
        return self.decide(
            handoff_id,
            command,
            lambda handoff, now: lifecycle.cancel(handoff, by, reason, self.rules(), now),
        )

    def expire(self, handoff_id: str) -> Outcome:
        """Its deadline may have come."""
        return self.decide(
            handoff_id, None, lambda handoff, now: lifecycle.expire(handoff, self.rules(), now)
        )

    def lapse(self, handoff_id: str, meant_for: int | None) -> Outcome:
        """The pause of an acknowledgement may have run out."""
        return self.decide(
            handoff_id, None, lambda handoff, now: lifecycle.lapse(handoff, meant_for, self.rules(), now)
        )

    def next_step(self, handoff_id: str, meant_for: int | None) -> bool:
        """The wait between two steps may be over. Whether it was."""
        return self.change(
            handoff_id, lambda handoff, now: lifecycle.next_step(handoff, meant_for, self.rules(), now)
        )

    def note(self, handoff_id: str, type_: EventType, **data: object) -> None:
        """A line on the timeline that changes no state. A handoff that is gone needs none."""

        def rule(handoff: Handoff, now: int) -> Change:
            return attempts.note(handoff, type_, now, None, **data)

        self.change(handoff_id, rule)

    def lift(self, opt_out_id: str, by: Actor) -> OptOut:
        """An operator lifts an opt-out, since the person asked for it. Raises NotFound."""
        found = next((one for one in self.opt_outs.all() if one.id == opt_out_id), None)
        if found is None:
            raise NotFound("There is no such opt-out.")
        about = (one.about.key for one in self.warnings.all() if one.about.opt_out == found.key)
        self._keep(Notices(lifted=(found.key,), cleared=tuple(about)))
        log.info("opt_out_lifted", number=found.number, channel=found.channel, by=by.id)
        return found

    def dismiss(self, warning_id: str) -> Warning:
        """An operator is done with a warning. Raises NotFound."""
        found = next((one for one in self.warnings.all() if one.id == warning_id), None)
        if found is None:
            raise NotFound("There is no such warning.")
        self._keep(Notices(cleared=(found.about.key,)))
        return found

    def _keep(self, notices: Notices) -> None:
        self.store.commit(Plan(notices=[notices]), self.clock())

    def decide(
        self,
        handoff_id: str,
        command: str | None,
        rule: Callable[[Handoff, int], Decided],
        known: Handoff | None = None,
    ) -> Outcome:
        """Reads, lets `rule` decide, commits; again from the start when somebody was quicker.

        A `command` that was carried out before gets the outcome it had, whatever happened since. `known` is
        the handoff as the caller has just read it: it is tried first, which saves a round trip in the moment
        for which an agent waits. The commit holds it to be true or refuses.
        """
        if known is not None and (outcome := self._try(known, command, rule)):
            return outcome
        for _ in range(MAX_ROUNDS):
            handoff, before = self.store.read_for(handoff_id, command or "-")
            if before is not None:
                return before
            if handoff is None:
                raise NotFound("There is no such handoff.")
            if outcome := self._try(handoff, command, rule, final=True):
                return outcome
        raise Unavailable("Too many people are deciding this at once. Please try again.")

    def hear_of(self, handoff: Handoff) -> None:
        """Looks for news if the people of this process lack somebody whom this handoff names: else it would
        be decided as if they were gone."""
        if not handoff.closed and not self.rules().people.knows(handoff):
            self.rules(fresh=True)

    def _opening(self, request: OpenRequest, key: ApiKey, now: int) -> Change:
        """As lifecycle.open_handoff, by rules that are looked for afresh before it is refused."""

        def opening(rules: Rules) -> Change:
            return lifecycle.open_handoff(
                request, agent=key.agent, api_key=key.id, rules=rules, now=now, rights=key.rights
            )

        try:
            return opening(self.rules())
        except Invalid:
            return opening(self.rules(fresh=True))

    def _try(
        self,
        handoff: Handoff,
        command: str | None,
        rule: Callable[[Handoff, int], Decided],
        *,
        final: bool = False,
    ) -> Outcome | None:
        """One round of `decide`. None: read again and decide again; so it is for a command that would change
        nothing, unless `final`, since it may be one that was carried out before."""
        self.hear_of(handoff)
        now = self.clock()
        decided = rule(handoff, now)
        if decided.change is None:
            return decided.outcome if final else None
        remembered = (handoff.id, command, decided.outcome) if command else None
        plan = Plan(changes=[decided.change], command=remembered)
        done = self.store.commit(plan, now)
        if isinstance(done, Again):
            self.enqueue(sorted(plan.dispatched), urgent=plan.urgent)
            return done.outcome
        if isinstance(done, Done):
            self.hand_out(plan)
            return decided.outcome
        return None

    def change(self, handoff_id: str, rule: Callable[[Handoff, int], Change | None]) -> bool:
        """Like `decide`, for changes nobody waits for. False when there is nothing (more) to change."""
        for _ in range(MAX_ROUNDS):
            if (handoff := self.store.read(handoff_id)) is not None:
                self.hear_of(handoff)
            now = self.clock()
            change = rule(handoff, now) if handoff else None
            if change is None:
                return False
            attempt = Plan(changes=[change])
            if isinstance(self.store.commit(attempt, now), Done):
                self.hand_out(attempt)
                return True
        raise Unavailable("Too much is going on with this handoff. Please try again.")

    def hand_out(self, plan: Plan) -> None:
        """Says in the log what was committed, and gives the workers at once what it left due."""
        for change in plan.changes:
            for event in change.events:
                log.info(event.type, handoff=change.handoff.id, seq=event.seq, by=event.by.kind)
        if plan.dispatched:
            self.enqueue(sorted(plan.dispatched), urgent=plan.urgent)
        for notices in (*plan.notices, *(one for change in plan.changes for one in change.notices)):
            for warned in notices.warned:
                if self.warnings.told_first(warned):
                    log.warning("operator_needed", kind=warned.kind, number=warned.number, code=warned.code)

    def _opened(self, key: ApiKey, key_hash: str, body_hash: str) -> OpenedHandoff | None:
        opened = self.store.opened(key.id, key_hash)
        if opened is None:
            return None
        if opened.deleted:
            raise AnswerDeleted(
                "This idempotency key was used before, and its handoff was deleted after the retention time. "
                "A new question needs a new key."
            )
        if opened.body_hash != body_hash:
            raise IdempotencyConflict(
                f"This idempotency key was used for another request (handoff {opened.handoff}). "
                "The same key always names the same question; a new question needs a new key."
            )
        handoff = self.store.read(opened.handoff)
        if handoff is None:
            raise Unavailable("The handoff is being deleted. Please send the request again.")
        return OpenedHandoff(handoff, replayed=True)


def fingerprint(request: OpenRequest) -> str:
    """A hash of what was asked, the same however the JSON was spelled."""
    # Without defaults, so that a field that a later version adds does not make old questions new ones.
    asked = request.model_dump(mode="json", exclude_defaults=True)
    return sha256(json.dumps(asked, sort_keys=True))
