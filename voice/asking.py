"""The call that asks somebody who was enrolled whether they may be called: the question, and what a key did.

A menu of its own, so that nothing but its key 1 is a yes: nobody is passed on to, nothing is acknowledged.
What an answer makes of the record is handoff/enrolment.py's business.
"""

from __future__ import annotations

from typing import Literal

from flask import Response, request

from handoff import enrolment
from handoff.models import Actor, ActorKind, Attempt, Call, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.policy import Contact
from voice import scripts, scripts_asking, urls
from voice.documents import PLAIN, Voice
from voice.guarded import blueprint, services, spoken_for, twiml
from voice.keypad import ASKED_KEYS, Action, meaning

bp = blueprint("asking")


def question(call: Call, handoff: Handoff, attempt: Attempt, *, turn: int = 1) -> Response:
    """Who calls, the question, and its two keys; a goodbye after the last turn without one."""
    if turn > scripts.LAST_TURN:
        services().calls.heard_everything(call.id)
        return twiml(scripts_asking.no_key(handoff, voice=_voice(call)))
    contact = _contact(call)
    return twiml(
        scripts_asking.question(
            handoff,
            key_url=_url(call, attempt, "key", turn),
            again_url=_url(call, attempt, "again", turn + 1),
            turn=turn,
            caller_word=contact.caller_word if contact else None,
            voice=_voice(call),
        )
    )


@bp.post("/calls/<call_id>/attempts/<attempt_id>/question/again")
def again(call_id: str, attempt_id: str) -> Response:
    """No key came: ask again, a few times."""
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None or not handoff.enrols:
        return twiml(scripts.nobody_home())
    if handoff.closed:
        return _over(call, handoff)
    return question(call, handoff, attempt, turn=_turn())


@bp.post("/calls/<call_id>/attempts/<attempt_id>/question/key")
def key(call_id: str, attempt_id: str) -> Response:
    """A key was pressed: keep the answer, then say what was kept. The same request twice is one answer."""
    at = services()
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None or not handoff.enrols:
        return twiml(scripts.nobody_home())
    turn = _turn()
    digits = request.values.get("Digits", "") or request.args.get("key", "")
    action = meaning(ASKED_KEYS, digits)
    command = f"asked-{attempt.id}-{turn}-{digits}"
    _, outcome = at.store.read_for(handoff.id, command)
    if outcome is None:
        if action not in (Action.YES, Action.NO):
            if handoff.closed:
                return _over(call, handoff)
            return question(call, handoff, attempt, turn=turn + 1)
        outcome = _answer(call, handoff, attempt, action, command)
    at.calls.pressed(call_id, digits, turn)
    if not outcome.won:
        return _over(call, at.handoffs.get(handoff.id))
    record = at.enrolments.contacts.read(call.contact)
    card = record is not None and enrolment.gets_card(record, handoff.id)
    card = card and not at.enrolments.stopped(call.number)
    return twiml(scripts_asking.kept(outcome, handoff, card=card, voice=_voice(call)))


def _answer(call: Call, handoff: Handoff, attempt: Attempt, action: Action, command: str) -> Outcome:
    at = services()
    decision = Decision(
        by=Actor(kind=ActorKind.CONTACT, id=call.contact, name=call.contact_name),
        channel=Channel.CALL,
        proof=Proof.KEYPRESS,
        at=at.clock(),
    )
    if action is Action.YES:
        return at.handoffs.resolve(handoff.id, decision, command, attempt=attempt.id)
    return at.handoffs.decline(handoff.id, decision, command, attempt=attempt.id)


def _over(call: Call, handoff: Handoff) -> Response:
    now = services().clock()
    return twiml(scripts.settled(handoff, now=now, contact=call.contact, voice=_voice(call)))


def _contact(call: Call) -> Contact | None:
    """As the operator gave them, whatever they have said by now."""
    record = services().enrolments.contacts.read(call.contact)
    return record.contact if record else None


def _voice(call: Call) -> Voice:
    contact = _contact(call)
    return Voice(language=contact.language) if contact else PLAIN


def _url(call: Call, attempt: Attempt, what: Literal["key", "again"], turn: int) -> str:
    return services().settings.public_url + urls.question(call.id, attempt.id, what, turn=turn)


def _turn() -> int:
    """Which document of the call this answers."""
    return request.args.get("turn", 1, type=int)
