"""Somebody calls our number: who they are, what waits for them, and being called back.

Caller ID proves nothing: from a contact's number one is asked for a PIN or a code, and hears nothing before
that, not who is known here nor whether anything waits. That a number is some contact's can be told from being
asked, by whoever shows it as theirs. A PIN or code is in no URL, no log, no record and no command's id.
After it the call is one like ours: on_the_line.py reads the menu and acts. Rules: handoff/inbound.py.
"""

from __future__ import annotations

import redis
import structlog
from flask import Response, request

from handoff import callers, code_book, pins
from handoff.errors import HandoffError
from handoff.models import Call, Proof
from handoff.moments import HOUR, SECOND
from handoff.people import mask
from handoff.policy import Contact
from handoff.states import CallState
from voice import dispositions, inbound_words, scripts, urls
from voice.documents import Voice
from voice.guarded import blueprint, broken, services, twiml

log = structlog.get_logger(__name__)
bp = blueprint("inbound_calls")

#: Tries in one call; for one person in an hour there are pins.TRIES_PER_PERSON. A code has a million values
#: and this person has a few live ones, so that an hour of guessing hits one in 10,000 times.
TRIES = 3
#: How often one person may be called back in an hour on nobody's word but the caller ID's, beside all caps.
BACK_AN_HOUR, WINDOW_S = 3, HOUR // SECOND
CALL_BACK = "9"


@bp.post("/calls/inbound")
def called() -> Response:
    """Somebody calls. Whose number it is decides only whether they are asked anything."""
    log.info("called_in", number=mask(request.form.get("From", "")))
    silent = request.args.get("silent", 0, type=int)
    if _contact() is None or silent >= inbound_words.MOST_ASKED:
        return twiml(inbound_words.nothing_here())
    return _ask(1, silent)


@bp.post("/calls/inbound/proof")
def proof() -> Response:
    """A PIN, a code, or the key that asks for a call back."""
    turn, given = request.args.get("turn", 1, type=int), request.form.get("Digits", "").rstrip("#")
    contact, provider_id = _contact(), request.form.get("CallSid", "")
    if contact is None or not 1 <= turn <= TRIES:
        return twiml(inbound_words.nothing_here())
    if given == CALL_BACK:
        return _call_back(contact, provider_id)
    shown = _shown(contact, provider_id, turn, given)
    if shown is None:
        log.warning("caller_refused", contact=contact.id, turn=turn)
        return _ask(turn + 1, 0) if turn < TRIES else twiml(inbound_words.nothing_here())
    what, only = shown
    log.info("caller_known", contact=contact.id, proof=what)
    return _let_in(contact, provider_id, what, only)


@bp.post("/calls/inbound/<call_id>/next")
def next_thing(call_id: str) -> Response:
    """One thing is over, and the caller is still there: what waits next."""
    at = services()
    call = at.store.read_call(call_id)
    contact = at.handoffs.rules().people.contact(call.contact) if call else None
    if call is None or contact is None or not call.inbound:
        return twiml(scripts.nobody_home())
    moved, waits = callers.go_on(at.calls, call.id, contact, request.args.get("after", ""))
    if waits:
        return _on_the_line(moved, waits)
    voice = Voice(language=contact.language)
    if call.proof is Proof.KEYPRESS_PIN:
        return twiml(inbound_words.nothing_waits(more=True, voice=voice))
    return twiml(inbound_words.goodbye(voice))


@bp.post("/calls/inbound/status")
def inbound_status() -> Response:
    """What became of a call to us; of one that was let in nowhere there is no record."""
    form = request.form
    status, provider_id = form.get("CallStatus", ""), form.get("CallSid", "")
    if dispositions.call_state(status) is CallState.ENDED:
        by = form.get("AnsweredBy")
        services().calls.end(_call_id(provider_id), lambda call: dispositions.end_of(call, status, None, by))
    return Response(status=204)


def failed(error: Exception) -> Response:
    """As guarded.broken, but what was typed is asked for again: it must not ride along in a URL."""
    if not request.path.endswith("/proof") or not isinstance(error, redis.RedisError | HandoffError):
        return broken(error)
    log.error("webhook_failed", path=request.path, why=type(error).__name__)
    retry = request.args.get("retry", 0, type=int) + 1
    ask = f"{services().settings.public_url}{urls.inbound_calls()}?retry={retry}"
    return twiml(scripts.one_moment(ask, retry))


bp.register_error_handler(Exception, failed)


def _contact() -> Contact | None:
    """The contact whose number the caller shows, which proves nothing."""
    return services().handoffs.rules().people.whose(request.form.get("From", ""))


def _ask(turn: int, silent: int) -> Response:
    base = services().settings.public_url
    return twiml(
        inbound_words.who_are_you(
            base + urls.inbound_proof(turn), base + urls.inbound_ask(silent + 1), wrong=turn > 1
        )
    )


def _shown(contact: Contact, provider_id: str, turn: int, given: str) -> tuple[Proof, str | None] | None:
    """What they showed, and the one handoff that it lets in to (None: all). None when it is not right.

    PIN and code are both looked at in any case, so that the time taken tells nothing.
    """
    at = services()
    counter = pins.counter(contact.id, anybody=True)
    many = at.store.over_rate(counter, pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S)
    right = pins.matches(given, contact.pin)
    found = code_book.find(at.handoffs, at.settings.secret_keys, given)
    if many:
        return None
    if right:
        return Proof.KEYPRESS_PIN, None
    if found is None or found[1].contact != contact.id:
        return None
    used = code_book.use(at.handoffs, found, f"call-{provider_id}-{turn}")
    return (Proof.KEYPRESS_CODE, found[1].handoff) if used else None


def _let_in(contact: Contact, provider_id: str, what: Proof, only: str | None) -> Response:
    at, voice = services(), Voice(language=contact.language)
    waits = [] if only else callers.waiting(at.handoffs, contact)
    handoff_id = only or (waits[0].id if waits else None)
    if known := at.store.read_call(_call_id(provider_id)):  # this request came before, and was answered
        return _on_the_line(known, len(waits))
    if handoff_id is None:
        return twiml(inbound_words.nothing_waits(more=False, voice=voice))
    number = request.form["From"]
    call = callers.enter(at.calls, _call_id(provider_id), contact, number, provider_id, what, handoff_id)
    if call is None:
        handoff = at.handoffs.get(handoff_id)
        return twiml(scripts.settled(handoff, now=at.clock(), contact=contact.id, voice=voice))
    return _on_the_line(call, len(waits))


def _on_the_line(call: Call, waits: int) -> Response:
    """The menu of what the call is about now. Turns go on where the last key was."""
    attempt = call.entries[-1].attempt
    turn = call.pressed_turn + 1
    menu = urls.again(call.id, attempt, turn=turn, silent=1, waits=waits)
    return twiml(inbound_words.on_to(services().settings.public_url + menu))


def _call_back(contact: Contact, provider_id: str) -> Response:
    """The same words whatever comes of it. Who only claims to be this person can make a phone ring that we
    ring anyway, for something that waits, at most so often."""
    at, id_ = services(), callers.call_id(services().settings.secret_keys[0], provider_id, "back")
    if not at.store.over_rate(f"back-of:{contact.id}", BACK_AN_HOUR, WINDOW_S):
        callers.call_back(at.handoffs, id_, contact, request.form["From"])
    return twiml(inbound_words.called_back())


def _call_id(provider_id: str) -> str:
    return callers.call_id(services().settings.secret_keys[0], provider_id, "inbound")
