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
from handoff.models import Channel, Handoff, ProofAsked, Urgency
from handoff.people import mask
from handoff.policy import Contact, EscalationPolicy, People, Step, only
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
    untexted: Callable[[str], bool] = lambda _: False,
) -> Iterator[str]:
    """A line for each step: who would be rung at `now` (ms), who has quiet hours, and until when. `stopped`
    says which numbers are not to be called any more, `untexted` which ones take no texts.

    Raises Invalid for a policy or contact that there is not.
    """
    chosen = _chosen(people, policy, contact)
    name = f"contact {contact}, as in policy {people.default.name}" if contact else f"policy {chosen.name}"
    rounds = f", {chosen.rounds} times" if chosen.rounds > 1 else ""
    proof = f", decided with proof {chosen.proof}" if chosen.proof is not ProofAsked.ANY else ""
    yield f"{name}{rounds}, urgency {urgency}{proof}"
    awake = [any(_until(one, urgency, now) is None for one in _called(step)) for step in chosen.steps]
    for number, step in enumerate(chosen.steps, 1):
        # Its `quiet` counts where nobody in a step can be rung; to skip there must be somebody elsewhere.
        quiet = "text" if awake[number - 1] or (chosen.quiet == "skip" and not any(awake)) else chosen.quiet
        for one in step.contacts:
            texted = Channel.TEXT in one.channels and not untexted(one.number)
            how = _how(one, _until(one, urgency, now), quiet, step.ring_s, stopped, texted=texted)
            yield f"step {number}  {one.name:20}  {how}"
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


def _called(step: Step) -> list[Contact]:
    return [one for one in step.contacts if Channel.CALL in one.channels]


def _until(contact: Contact, urgency: Urgency, now: int) -> int | None:
    return None if urgency is Urgency.CRITICAL else contact.quiet_until(now)


def _how(
    contact: Contact,
    until: int | None,
    quiet: str,
    ring_s: int,
    stopped: Callable[[str], bool],
    *,
    texted: bool,
) -> str:
    """`until`: when their quiet hours end; `quiet`: what the policy does where nobody in a step is awake."""
    text = "not texted: they texted STOP" if Channel.TEXT in contact.channels and not texted else ""
    if until is not None and quiet == "skip":
        return f"quiet until {_there(contact, until)}: passed over, neither called nor texted"
    if Channel.CALL not in contact.channels:
        return text or f"texted at {mask(contact.number)}, takes no calls"
    if until is not None:
        called = "not called now" if quiet == "wait" else "not called"
        return f"quiet until {_there(contact, until)}: {called}{_only(text, texted)}"
    off = [number for number in contact.numbers if stopped(number)]
    numbers = ", then ".join(mask(number) for number in contact.numbers if number not in off)
    if not numbers:
        return f"not called: they asked us to stop{_only(text, texted)}"
    and_text = " and texted" if texted else f", {text}" if text else ""
    but = f", not at {', '.join(map(mask, off))}: they asked us to stop" if off else ""
    return f"called at {numbers} for {ring_s} s{and_text}{but}"


def _only(text: str, texted: bool) -> str:
    return ", only texted" if texted else f", {text}" if text else ""


def _there(contact: Contact, until: int) -> str:
    there = datetime.fromtimestamp(until / 1000, UTC).astimezone(ZoneInfo(contact.time_zone))
    return f"{there:%H:%M} in {contact.time_zone}"


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
