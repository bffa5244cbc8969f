"""What Twilio asks us during a call, and what it tells us about calls and texts.

Every request is verified before anything else, over the configured public address. Documents are spoken
only from committed outcomes; a request that comes twice gets the same answer and acts once. Which words
are spoken is scripts.py's business, what a key means keypad.py's.
"""

from __future__ import annotations

from urllib.parse import urlencode

import redis
import structlog
from flask import Blueprint, Response, abort, current_app, request

from handoff import attempts, ladder
from handoff.bootstrap import Services
from handoff.errors import HandoffError
from handoff.models import Actor, ActorKind, Attempt, Call, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.states import CallState, Disposition, State
from voice import dialling, dispositions, scripts, urls
from voice.keypad import Action, Key, keys_for, meaning

log = structlog.get_logger(__name__)
bp = Blueprint("twilio", __name__, url_prefix="/twilio")

#: Documents in one call, so that somebody leaning on a key does not keep a line for ever.
MOST_TURNS = 40


@bp.before_request
def only_twilio() -> None:
    """403 unless the request is signed by our account, for exactly this address and body."""
    raw = str(request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or request.full_path)
    path, _, query = raw.partition("?")
    services = _services()
    body = request.get_data(cache=True)  # before the form is read, which would leave nothing of it
    genuine = services.verifier.verify(
        path_raw=path.removeprefix(request.script_root),
        query_raw=query,
        content_type=request.content_type,
        form=request.form,
        body=body,
        signature=request.headers.get("X-Twilio-Signature"),
    )
    if not genuine:
        log.warning("webhook_refused", path=path)
        abort(403)


@bp.post("/calls/<call_id>/voice")
def answered(call_id: str) -> Response:
    """The call was answered: who calls, why, and the menu."""
    services = _services()
    services.calls.answered(call_id, request.form.get("CallSid"))
    call, handoff, attempt = _spoken_for(call_id)
    if call is None or handoff is None or attempt is None:
        return _twiml(scripts.nobody_home())
    if handoff.closed:
        return _twiml(
            scripts.settled(handoff, now=services.clock(), contact=call.contact, voice=_voice(call))
        )
    return _twiml(_menu(call, handoff, attempt, turn=1, silent=1))


@bp.post("/calls/<call_id>/attempts/<attempt_id>/again")
def again(call_id: str, attempt_id: str) -> Response:
    """No key came: read the menu again, a few times, then say goodbye."""
    services = _services()
    call, handoff, attempt = _spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return _twiml(scripts.nobody_home())
    if handoff.closed:
        return _twiml(
            scripts.settled(handoff, now=services.clock(), contact=call.contact, voice=_voice(call))
        )
    turn, silent, held = _where()
    if held or _holds(handoff, call):
        return _twiml(
            scripts.holding(
                handoff,
                _keys(handoff),
                key_url=_key_url(call_id, attempt.id, turn=turn, silent=silent, held=True),
                again_url=_again_url(call_id, attempt.id, turn=turn + 1, silent=silent, held=True),
            )
        )
    if silent > scripts.LAST_TURN or turn > MOST_TURNS:
        services.calls.heard_everything(call_id)
        return _twiml(scripts.goodbye_no_input(text_sent=_text_sent(handoff, attempt), voice=_voice(call)))
    return _twiml(_menu(call, handoff, attempt, turn=turn, silent=silent))


@bp.post("/calls/<call_id>/attempts/<attempt_id>/key")
def key(call_id: str, attempt_id: str) -> Response:
    """A key was pressed: do what it means, then say what was done."""
    services = _services()
    call, handoff, attempt = _spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return _twiml(scripts.nobody_home())
    turn, silent, held = _where()
    digits = request.values.get("Digits", "") or request.args.get("key", "")
    keys = _keys(handoff) if not handoff.closed else keys_for(_as_open(handoff), has_next=False)
    action = meaning(keys, digits)
    command = f"key-{attempt.id}-{turn}-{digits}"
    # The key may have been acted on, and only the answer lost: then what is in the menu now is no matter.
    _, outcome = services.store.read_for(handoff.id, command)
    if outcome is None and (action in (None, Action.REPEAT) or turn > MOST_TURNS):
        if handoff.closed:
            return _twiml(
                scripts.settled(handoff, now=services.clock(), contact=call.contact, voice=_voice(call))
            )
        return _twiml(_once_more(call, handoff, attempt, action, turn, silent))
    if outcome is None:
        assert action is not None
        outcome = _act(services, call, handoff, attempt, action, command)
    services.calls.pressed(call_id, digits, turn)
    fresh = services.handoffs.get(handoff.id)
    return _twiml(
        scripts.after(
            outcome,
            fresh,
            _keys(fresh),
            now=services.clock(),
            key_url=_key_url(call_id, attempt.id, turn=turn + 1, silent=1, held=True),
            again_url=_again_url(call_id, attempt.id, turn=turn + 1, silent=1, held=True),
            contact=call.contact,
            text_sent=_text_sent(fresh, attempt),
            voice=_voice(call),
        )
    )


@bp.post("/calls/<call_id>/settled")
def settled(call_id: str) -> Response:
    """Somebody else settled it while this person was on the line."""
    call, handoff, _ = _spoken_for(call_id)
    if call is None or handoff is None:
        return _twiml(scripts.nobody_home())
    if not handoff.closed:
        return _twiml(
            scripts.taken(handoff, now=_services().clock(), contact=call.contact, voice=_voice(call))
        )
    return _twiml(scripts.settled(handoff, now=_services().clock(), contact=call.contact, voice=_voice(call)))


@bp.post("/calls/<call_id>/status")
def call_status(call_id: str) -> Response:
    """What became of a call. Twice, late, early and out of order are all fine."""
    services, form = _services(), request.form
    status, provider_id = form.get("CallStatus", ""), form.get("CallSid")
    state = dispositions.call_state(status)
    _spoken_for(call_id)
    log.info("call_status", status=status, seq=form.get("SequenceNumber"))
    if state is CallState.PLACED and provider_id:
        services.calls.placed(call_id, provider_id)
    elif state is CallState.RINGING:
        services.calls.ringing(call_id, provider_id)
    elif state is CallState.ANSWERED:
        services.calls.answered(call_id, provider_id)
    elif state is CallState.ENDED:
        sip, by = form.get("SipResponseCode", type=int), form.get("AnsweredBy")
        services.calls.end(
            call_id, lambda call: dialling.ended_as(call, status, sip, by), provider_id=provider_id
        )
    return Response(status=204)


@bp.post("/texts/<handoff_id>/<attempt_id>/status")
def text_status(handoff_id: str, attempt_id: str) -> Response:
    """How far a text has come. Late and repeated reports never lower it."""
    services, form = _services(), request.form
    status = form.get("MessageStatus", "")
    code = form.get("ErrorCode", type=int)
    structlog.contextvars.bind_contextvars(handoff=handoff_id)
    log.info("text_status", status=status, code=code)
    services.handoffs.change(
        handoff_id,
        lambda handoff, now: attempts.text_moved(
            handoff,
            attempt_id,
            now,
            rank=dispositions.text_rank(status),
            disposition=dispositions.text_disposition(status, code),
            detail=f"Twilio error {code}" if code else None,
        ),
    )
    return Response(status=204)


@bp.errorhandler(Exception)
def broken(error: Exception) -> Response:
    """A caller hears a sentence, never a stack trace; a status callback may come again."""
    code = getattr(error, "code", None)
    if code in (403, 404, 405, 408, 413):
        return Response(status=code)
    log.error("webhook_failed", path=request.path, exc_info=error)
    if request.path.endswith("/status"):
        return Response(status=503)
    retry = request.args.get("retry", 0, type=int) + 1
    if isinstance(error, redis.RedisError | HandoffError):
        # Twilio does not send Digits again after a Redirect, so the key rides along.
        pressed = request.form.get("Digits") or request.args.get("key", "")
        args = request.args.to_dict() | {"retry": str(retry), "key": pressed}
        again = f"{_services().settings.public_url}{request.path}?{urlencode(args)}"
        return _twiml(scripts.one_moment(again, retry))
    return _twiml(scripts.apology())


def _act(
    services: Services, call: Call, handoff: Handoff, attempt: Attempt, action: Action, command: str
) -> Outcome:
    decision = Decision(
        by=Actor(kind=ActorKind.CONTACT, id=call.contact, name=call.contact_name),
        channel=Channel.CALL,
        proof=Proof.KEYPRESS,
        at=services.clock(),
    )
    do = services.handoffs
    match action:
        case Action.YES:
            return do.resolve(handoff.id, decision, command, attempt=attempt.id)
        case Action.NO:
            return do.decline(handoff.id, decision, command, attempt=attempt.id)
        case Action.NEXT:
            return do.pass_on(handoff.id, decision, command, attempt.id)
        case _:
            return do.acknowledge(handoff.id, decision, command, attempt=attempt.id)


def _menu(
    call: Call, handoff: Handoff, attempt: Attempt, *, turn: int, silent: int, slow: bool = False
) -> str:
    return scripts.greeting(
        handoff,
        _keys(handoff),
        key_url=_key_url(call.id, attempt.id, turn=turn, silent=silent),
        again_url=_again_url(call.id, attempt.id, turn=turn + 1, silent=silent + 1),
        turn=silent,
        text_sent=_text_sent(handoff, attempt),
        caller_word=_caller_word(call),
        slow=slow,
        voice=_voice(call),
    )


def _once_more(
    call: Call, handoff: Handoff, attempt: Attempt, action: Action | None, turn: int, silent: int
) -> str:
    """`*` reads it from the start, slowly when it was read before; a key without a meaning says so. Both are
    turns of the call."""
    if action is Action.REPEAT and turn <= MOST_TURNS:
        return _menu(call, handoff, attempt, turn=turn + 1, silent=1, slow=turn > 1)
    if turn > MOST_TURNS or silent > scripts.LAST_TURN:
        _services().calls.heard_everything(call.id)
        return scripts.goodbye_no_input(text_sent=_text_sent(handoff, attempt), voice=_voice(call))
    return scripts.unknown_key(
        handoff,
        _keys(handoff),
        key_url=_key_url(call.id, attempt.id, turn=turn + 1, silent=silent + 1),
        again_url=_again_url(call.id, attempt.id, turn=turn + 2, silent=silent + 1),
        turn=silent,
        text_sent=_text_sent(handoff, attempt),
        voice=_voice(call),
    )


def _spoken_for(
    call_id: str, attempt_id: str | None = None
) -> tuple[Call | None, Handoff | None, Attempt | None]:
    """The call, and the handoff and attempt that it is about, or that the URL names."""
    store = _services().store
    call = store.read_call(call_id)
    entries = call.entries if call else ()
    entry = next((one for one in entries if attempt_id in (None, one.attempt)), None)
    if call is None or entry is None:
        return call, None, None
    structlog.contextvars.bind_contextvars(handoff=entry.handoff, call=call_id)
    handoff = store.read(entry.handoff)
    return call, handoff, handoff.attempt(entry.attempt) if handoff else None


def _key_url(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    """Whole, so that a public URL with a path prefix is kept."""
    return _services().settings.public_url + urls.key(call, attempt, turn=turn, silent=silent, held=held)


def _again_url(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    return _services().settings.public_url + urls.again(call, attempt, turn=turn, silent=silent, held=held)


def _keys(handoff: Handoff) -> tuple[Key, ...]:
    services = _services()
    following = ladder.next_name(handoff, services.handoffs.rules(), services.clock())
    return keys_for(handoff, has_next=following is not None)


def _voice(call: Call) -> scripts.Voice:
    """As this contact wants it."""
    contact = _services().handoffs.rules().people.contact(call.contact)
    return scripts.Voice(language=contact.language) if contact else scripts.PLAIN


def _caller_word(call: Call) -> str | None:
    contact = _services().handoffs.rules().people.contact(call.contact)
    return contact.caller_word if contact else None


def _as_open(handoff: Handoff) -> Handoff:
    """A closed handoff has no keys any more; a late key is read by the menu that was spoken."""
    return handoff.model_copy(update={"state": State.ESCALATING})


def _holds(handoff: Handoff, call: Call) -> bool:
    return handoff.held_by(ActorKind.CONTACT, call.contact)


def _text_sent(handoff: Handoff, attempt: Attempt) -> bool:
    good = (None, Disposition.SENT, Disposition.DELIVERED)
    return any(
        one.channel is Channel.TEXT and one.contact == attempt.contact and one.disposition in good
        for one in handoff.attempts
    )


def _where() -> tuple[int, int, bool]:
    """Which document this is, how many menus went by without a key, and whether the person has it."""
    args = request.args
    return args.get("turn", 1, type=int), args.get("silent", 1, type=int), args.get("held") == "1"


def _services() -> Services:
    services: Services = current_app.extensions["handoff"]
    return services


def _twiml(document: str) -> Response:
    return Response(document, content_type="text/xml; charset=utf-8")
