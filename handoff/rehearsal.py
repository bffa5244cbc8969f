"""Before it matters: who would be rung now (`handoff who`), and a call to try it (`handoff call`).

The words that the command line prints; nothing here prints. A test call is a handoff like any other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from handoff.bootstrap import Services
from handoff.errors import Invalid
from handoff.messages import OpenRequest
from handoff.models import Channel, Handoff, Urgency
from handoff.people import mask
from handoff.policy import Contact, EscalationPolicy, People, only
from handoff.rights import ApiKey
from handoff.web import timeline

TEST_TIMEOUT_S = 300
_AGENT = "test-call"
_REASON = "This is a test call. Nothing is wrong. Please press 1, so that we know that we can reach you."
#: How the last line of a test call ends when they pressed the key.
REACHED = "can be reached."
#: How long is waited for the next line of a test call.
_LOOK_S = 0.3
#: Contacts that are named to who asks for one that there is not.
_MOST_NAMED = 20


def who(
    people: People,
    urgency: Urgency,
    now: int,
    *,
    policy: str | None = None,
    contact: str | None = None,
    stopped: Callable[[str], bool] = lambda _: False,
) -> Iterator[str]:
    """A line for each step: who would be rung at `now` (ms), who has quiet hours, and until when. `stopped`
    says which numbers are not to be called any more.

    Raises Invalid for a policy or contact that there is not.
    """
    chosen = _chosen(people, policy, contact)
    rounds = f", {chosen.rounds} times" if chosen.rounds > 1 else ""
    yield f"policy {chosen.name}{rounds}, urgency {urgency}"
    for number, step in enumerate(chosen.steps, 1):
        for one in step.contacts:
            yield f"step {number}  {one.name:20}  {_how(one, urgency, now, step.ring_s, stopped)}"
        if step.wait_s:
            yield f"        then waits until {step.wait_s} s have passed since step {number} began"


def _chosen(people: People, policy: str | None, contact: str | None) -> EscalationPolicy:
    if contact is not None:
        found = people.contact(contact)
        if found is None:
            ids = [one for one in people.ids if people.contact(one)]
            some = ", ".join(ids[:_MOST_NAMED]) + (", …" if len(ids) > _MOST_NAMED else "")
            raise Invalid.field("contact", f"There is no contact {contact!r}; there are {some}.")
        return only(found, people.default)
    named = people.policy(policy) if policy else people.default
    if named is None:
        known = ", ".join(one.name for one in people.policies)
        raise Invalid.field("policy", f"There is no policy {policy!r}; there are {known}.")
    return named


def _how(contact: Contact, urgency: Urgency, now: int, ring_s: int, stopped: Callable[[str], bool]) -> str:
    off = [number for number in contact.numbers if stopped(number)]
    numbers = ", then ".join(mask(number) for number in contact.numbers if number not in off)
    text = " and texted" if Channel.TEXT in contact.channels else ""
    if Channel.CALL not in contact.channels:
        return f"texted at {mask(contact.number)}, takes no calls"
    until = contact.quiet_until(now)
    if until is not None and urgency is not Urgency.CRITICAL:
        there = datetime.fromtimestamp(until / 1000, UTC).astimezone(ZoneInfo(contact.time_zone))
        return (
            f"quiet until {there:%H:%M} in {contact.time_zone}: not called{', only texted' if text else ''}"
        )
    if not numbers:
        return f"not called: they asked us to stop{', only texted' if text else ''}"
    but = f", not at {', '.join(map(mask, off))}: they asked us to stop" if off else ""
    return f"called at {numbers} for {ring_s} s{text}{but}"


def call(services: Services, contact: str) -> Iterator[str]:
    """Places a test call to this contact and tells what happens, until it is over.

    It is critical, so that it rings in quiet hours too: who asks for it is awake. Raises Invalid for a
    contact that there is not.
    """
    wanted = {"kind": "clear", "reason": _REASON, "contact": contact, "urgency": "critical"}
    request = OpenRequest.model_validate({**wanted, "timeout_s": TEST_TIMEOUT_S, "on_exhausted": "fail"})
    key = ApiKey(id=_AGENT, hash="", agent=_AGENT, scopes=("agent",), created=services.clock())
    opened = services.handoffs.open(request, key, None).handoff
    yield f"{opened.id}  {services.settings.public_url}/handoffs/{opened.id}"
    shown = 0
    while True:
        handoff = services.handoffs.get(opened.id)
        events = services.store.events(handoff.id)
        calls = {one.call: services.store.read_call(one.call) for one in handoff.attempts if one.call}
        known = {call_id: record for call_id, record in calls.items() if record is not None}
        told = timeline.lines(handoff, events, known)
        for line in told[shown:]:
            moment = datetime.fromtimestamp(line.at / 1000, UTC)
            yield f"{moment:%H:%M:%S}  {line.words}{f' ({line.detail})' if line.detail else ''}"
        shown = len(told)
        if handoff.closed:
            yield _conclusion(handoff)
            return
        threading.Event().wait(_LOOK_S)


def _conclusion(handoff: Handoff) -> str:
    if handoff.settlement is not None:
        return f"{handoff.attempts[0].contact_name} {REACHED}"
    came = sorted({str(one.disposition) for one in handoff.attempts if one.disposition})
    return f"{handoff.attempts[0].contact_name} was not reached: {', '.join(came) or 'nothing is known'}."
