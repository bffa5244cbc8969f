"""Read, decide, commit, hand out what is due: the one loop through which every handoff changes.

The decisions are lifecycle.py's; the atomic step is the store's; the commands by name are commands.py's,
what happens on a phone call calls.py's. Nothing here speaks HTTP, Twilio or RQ: `enqueue` is how due effects
reach a worker at once, and losing it costs seconds, never an effect, since the outbox is the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import structlog

from handoff.changes import Change, Decided, Rules
from handoff.errors import NotFound, Unavailable
from handoff.models import Handoff
from handoff.outcomes import Outcome
from handoff.policy import Contact
from handoff.store import Again, Done, OptOuts, Plan, Store, Warnings

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


class Loop:
    """Changes handoffs. Every method answers only after its change was committed."""

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

    def hear_of(self, handoff: Handoff) -> None:
        """Looks for news if the people of this process lack somebody whom this handoff names: else it would
        be decided as if they were gone."""
        if not handoff.closed and not self.rules().people.knows(handoff):
            self.rules(fresh=True)

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
