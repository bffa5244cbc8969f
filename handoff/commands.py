"""The commands on handoffs by name: who opens, answers, takes on, withdraws one, and what operators mend.

What each does is lifecycle.py's business, how it is committed loop.py's, what happens on a phone call
calls.py's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import structlog

from handoff import attempts, ids, lifecycle
from handoff.changes import Change, Rules
from handoff.errors import AnswerDeleted, IdempotencyConflict, Invalid, NotFound, Unavailable
from handoff.loop import Loop
from handoff.messages import OpenRequest
from handoff.models import Actor, Channel, Decision, EventType, Handoff, Proof, Result
from handoff.notices import Notices, OptOut, Warning
from handoff.outcomes import Outcome
from handoff.rights import ApiKey
from handoff.states import CloseReason
from handoff.store import Done, Plan, sha256

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class OpenedHandoff:
    """The handoff, and whether an earlier request with the same key had opened it."""

    handoff: Handoff
    replayed: bool


class Handoffs(Loop):
    """Commands on handoffs. Every method answers only after its change was committed."""

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
