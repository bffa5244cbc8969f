"""A key of the menu that needs more than the key: the code that was read out, or the contact's PIN.

What is typed here goes into no URL, log or record: when our memory is away it is asked for again. A request
that comes twice acts once, counts once, and gets the same answer. The words are scripts_confirm.py's.
"""

from __future__ import annotations

import hmac

import structlog
from flask import Response, request

from handoff import attempts, pins
from handoff.models import Attempt, Call, Handoff, Proof, ProofAsked
from handoff.outcomes import Outcome
from handoff.states import CLOSED, Trigger
from voice import codes, scripts, scripts_confirm, urls
from voice.guarded import blueprint, services, spoken_for, twiml
from voice.keypad import REPEAT, Action, keys_for, meaning
from voice.on_the_line import SETTLING, act, over, text_sent, told, voice_of
from voice.scripts_confirm import Before

log = structlog.get_logger(__name__)
bp = blueprint("confirming", secret_digits=True)


@bp.post("/calls/<call_id>/attempts/<attempt_id>/confirm/<key>")
def confirm(call_id: str, attempt_id: str, key: str) -> Response:
    """Without digits it asks for them; with the right ones the key counts, and what was done is said."""
    at = services()
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return twiml(scripts.nobody_home())
    action, typed, (turn, tries) = _action(handoff, key), request.form.get("Digits", ""), _where()
    if action is None:
        return twiml(scripts.nobody_home())
    mark = codes.mark(at.settings.secret_keys[0], attempt.id, turn, typed)
    command = f"confirm-{attempt.id}-{turn}-{key}-{mark}"
    _, outcome = at.store.read_for(handoff.id, command)
    if outcome is None and handoff.closed:
        return over(call, handoff)
    if outcome is None and not typed:
        return _ask(call, handoff, attempt, key, turn, tries, Before.SILENCE if tries > 1 else Before.NOTHING)
    if outcome is None and REPEAT in typed:  # as in the menu: no try, and no wrong one
        return _ask(call, handoff, attempt, key, turn + 1, tries + 1, Before.NOTHING)
    if outcome is None and handoff.proof is ProofAsked.PIN and _tried_too_often(call):
        log.warning("pin_locked", contact=call.contact)
        return _gave_up(call, handoff, attempt, Before.LOCKED)
    outcome = outcome or _judge(call, handoff, attempt, action, key, typed, command)
    if outcome is None or not (outcome.won or outcome.state in CLOSED):
        return _ask(call, handoff, attempt, key, turn + 1, tries + 1, Before.WRONG)
    return told(call, attempt, handoff.id, outcome, key, turn)


def _judge(
    call: Call, handoff: Handoff, attempt: Attempt, action: Action, key: str, typed: str, command: str
) -> Outcome | None:
    """The key counts when what was typed is right; else None, or an outcome that decided nothing."""
    at = services()
    if handoff.proof is ProofAsked.CODE:
        turn, tries = _where()
        code = codes.code_for(at.settings.secret_keys[0], attempt.id, key, turn=turn, tries=tries)
        if not hmac.compare_digest(code.encode(), typed.encode()):
            return None
        return act(call, handoff, attempt, action, command, Proof.KEYPRESS_CODE)
    contact = at.handoffs.contact(call.contact)
    if pins.matches(typed, contact.pin if contact else None):
        outcome = act(call, handoff, attempt, action, command, Proof.KEYPRESS_PIN)
        at.store.uncount(pins.counter(call.contact), pins.TRIES_WINDOW_S)
        return outcome
    asked = Trigger.RESOLVE if action is Action.YES else Trigger.DECLINE
    return at.handoffs.decide(
        handoff.id, command, lambda fresh, now: attempts.pin_refused(fresh, attempt, asked, now)
    )


def _ask(
    call: Call, handoff: Handoff, attempt: Attempt, key: str, turn: int, tries: int, before: Before
) -> Response:
    if tries > scripts_confirm.MOST_TRIES:
        return _gave_up(call, handoff, attempt, before)
    at = services()
    base = at.settings.public_url
    url = base + urls.confirm(call.id, attempt.id, key, turn=turn, tries=tries)
    again_url = base + urls.confirm(call.id, attempt.id, key, turn=turn + 1, tries=tries + 1)
    voice = voice_of(call)
    if handoff.proof is ProofAsked.PIN:
        return twiml(scripts_confirm.ask_pin(before, url=url, again_url=again_url, voice=voice))
    code = codes.code_for(at.settings.secret_keys[0], attempt.id, key, turn=turn, tries=tries)
    return twiml(scripts_confirm.ask_code(code, before, url=url, again_url=again_url, voice=voice))


def _gave_up(call: Call, handoff: Handoff, attempt: Attempt, before: Before) -> Response:
    services().calls.heard_everything(call.id)
    sent = text_sent(handoff, attempt)
    return twiml(scripts_confirm.gave_up(handoff.proof, before, text_sent=sent, voice=voice_of(call)))


def _tried_too_often(call: Call) -> bool:
    name, most, window_s = pins.counter(call.contact), pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S
    return services().store.over_rate(name, most, window_s)


def _action(handoff: Handoff, key: str) -> Action | None:
    """What the key meant in the menu; None where this handoff has no use for a code or a PIN."""
    found = meaning(keys_for(handoff, has_next=False), key) if not handoff.closed else Action.YES
    asked = handoff.proof in (ProofAsked.CODE, ProofAsked.PIN)
    return found if asked and found in SETTLING else None


def _where() -> tuple[int, int]:
    """Which document this is, and how often it was asked."""
    args = request.args
    return args.get("turn", 1, type=int), args.get("tries", 1, type=int)
