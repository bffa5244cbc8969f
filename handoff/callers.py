"""People who call us, committed: what waits for them, what they have on the line now, who is called back.

The rules are inbound.py's. Each step is found again when it is asked for twice, since a webhook may come
twice: the call's id is made of the provider's.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable

from handoff import attempts, ids, inbound
from handoff.calls import Calls
from handoff.changes import Change
from handoff.commands import Handoffs
from handoff.errors import Unavailable
from handoff.ladder import may_be_rung
from handoff.loop import MAX_ROUNDS
from handoff.models import Call, Handoff, Proof
from handoff.policy import Contact
from handoff.states import CLOSED, CallState, State
from handoff.store import Done, Plan

#: Open handoffs of a contact that are looked at, newest first; and of each open state, for people whom their
#: policies would reach later. More would take longer than somebody on the phone should wait.
MOST_OF_THEIRS, MOST_OF_A_STATE = 200, 100
_OPEN = tuple(state for state in State if state not in CLOSED)


def call_id(server_key: str, provider_id: str, what: str) -> str:
    """The id of our record of this call of the provider's: the same whenever it is asked for."""
    digest = hmac.digest(server_key.encode(), f"call|{what}|{provider_id}".encode(), hashlib.sha256)
    return ids.derived_id(ids.CALL, digest)


def waiting(handoffs: Handoffs, contact: Contact) -> list[Handoff]:
    """What waits for this contact, as inbound.waiting. Costs the same however many are closed."""
    store = handoffs.store
    found = store.open_of(contact.id, MOST_OF_THEIRS)
    for state in _OPEN:
        found += store.page(agent=None, state=state, before=None, limit=MOST_OF_A_STATE)[0]
    return inbound.waiting(found, contact, handoffs.rules(), handoffs.clock())


def enter(
    calls: Calls,
    call_id: str,
    contact: Contact,
    number: str,
    provider_id: str,
    proof: Proof,
    handoff_id: str,
) -> Call | None:
    """They are on the line for this handoff now, and their number's line is taken, unless a call of ours has
    it; None when it is closed. Raises NotFound when it is gone."""
    handoffs = calls.handoffs
    for _ in range(MAX_ROUNDS):
        if call := handoffs.store.read_call(call_id):
            return call
        now, handoff = handoffs.clock(), handoffs.get(handoff_id)
        if handoff.closed:
            return None
        change = inbound.enter(handoff, contact, number, call_id, provider_id, proof, now)
        free = handoffs.store.line_of(number) is None
        plan = Plan(changes=[change], take_line=change.calls[0] if free else None)
        if isinstance(handoffs.store.commit(plan, now), Done):
            handoffs.hand_out(plan)
            return change.calls[0]
    raise Unavailable("Too much is going on with this handoff. Please call again.")


def go_on(calls: Calls, call_id: str, contact: Contact, after: str) -> tuple[Call, int]:
    """Leaves the attempt `after`, and takes up what waits next, if anything does: the call as it is then,
    and how many things wait, the one on the line among them; 0: nothing does. The same when it comes twice.

    Who showed a code was let in to one handoff, and nothing follows it.
    """
    handoffs = calls.handoffs
    for _ in range(MAX_ROUNDS):
        call = handoffs.store.read_call(call_id)
        if call is None or call.state is CallState.ENDED or call.proof is not Proof.KEYPRESS_PIN:
            return _left(handoffs, call, after), 0
        heard = {entry.handoff for entry in call.entries}
        left = [one for one in waiting(handoffs, contact) if one.id not in heard]
        if call.entries[-1].attempt != after:  # it came twice
            return call, len(left) + 1
        _left(handoffs, call, after)
        if not left:
            return call, 0
        now = handoffs.clock()
        change, moved = inbound.go_on(left[0], contact, call, now)
        plan = Plan(changes=[change], calls=[moved])
        if isinstance(handoffs.store.commit(plan, now), Done):
            handoffs.hand_out(plan)
            return moved, len(left)
    raise Unavailable("Too much is going on with this call. Please call again.")


def call_back(handoffs: Handoffs, call_id: str, contact: Contact, number: str) -> bool:
    """Calls them back for the newest thing that waits, on their own number. False when nothing does, or they
    are being rung already, or have quiet hours: who asks may be somebody else. Asked twice, they are called
    once."""
    for _ in range(MAX_ROUNDS):
        if handoffs.store.read_call(call_id) is not None:
            return True
        now, rules = handoffs.clock(), handoffs.rules()
        free = [
            one
            for one in waiting(handoffs, contact)
            if one.acknowledged is None and may_be_rung(one, contact, now + inbound.BACK_AFTER_MS) is None
        ]
        newest = max(free, key=lambda one: one.created_at, default=None)
        change = inbound.call_back(newest, contact, number, call_id, rules, now) if newest else None
        if change is None:
            return False
        plan = Plan(changes=[change])
        if isinstance(handoffs.store.commit(plan, now), Done):
            handoffs.hand_out(plan)
            return True
    raise Unavailable("Too much is going on. Please call again.")


def _left(handoffs: Handoffs, call: Call | None, attempt: str) -> Call:
    """The caller hears no more of what this attempt was for: its end is no news to the line any more."""
    if call is None:
        raise Unavailable("This call is not known.")
    entry = next((one for one in call.entries if one.attempt == attempt), None)
    if entry is not None:
        handoffs.change(entry.handoff, _ended(handoffs, attempt))
    return call


def _ended(handoffs: Handoffs, attempt: str) -> Callable[[Handoff, int], Change | None]:
    return lambda handoff, now: attempts.end_attempt(handoff, attempt, inbound.LEFT, handoffs.rules(), now)
