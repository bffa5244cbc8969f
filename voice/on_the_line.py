"""What Twilio asks us during a call: the menu, what a key did, and who settled it meanwhile.

Documents are spoken only from committed outcomes; a request that comes twice gets the same answer and acts
once. Which words are spoken is scripts.py's business, what a key means keypad.py's, who may ask guarded.py's.
"""

from __future__ import annotations

from flask import Response, request

from handoff import calling_back, ladder, proofs
from handoff.models import Actor, ActorKind, Attempt, Call, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.states import Disposition, State
from voice import asking, by_code, scripts, scripts_confirm, scripts_stop, unattended, urls
from voice.documents import PLAIN, Voice
from voice.guarded import blueprint, services, spoken_for, twiml
from voice.keypad import Action, Key, keys_for, meaning

bp = blueprint("on_the_line")

#: Keys that decide something, which may need more than the key.
SETTLING = (Action.YES, Action.NO)
#: Documents in one call, so that somebody leaning on a key does not keep a line for ever; what ends the call
#: anyway is done however long somebody was on hold before.
MOST_TURNS = 40
_LASTING = (None, Action.REPEAT, Action.STOP, Action.ACKNOWLEDGE)


@bp.post("/calls/<call_id>/voice")
def answered(call_id: str) -> Response:
    """The call was answered: who calls, why, and the menu."""
    at = services()
    at.calls.answered(call_id, request.form.get("CallSid"))
    call, handoff, attempt = spoken_for(call_id)
    if call is None or handoff is None or attempt is None:
        return twiml(scripts.nobody_home())
    if _not_theirs(handoff, call):
        return over(call, handoff)
    if handoff.enrols:
        return asking.question(call, handoff, attempt)
    return twiml(_menu(call, handoff, attempt, turn=1, silent=1, listens=_screens_calls(call)))


@bp.post("/calls/<call_id>/attempts/<attempt_id>/again")
def again(call_id: str, attempt_id: str) -> Response:
    """No key came: read the menu again, a few times, then say goodbye."""
    at = services()
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return twiml(scripts.nobody_home())
    if _not_theirs(handoff, call):
        return over(call, handoff)
    turn, silent, held = _where()
    if held or _holds(handoff, call):
        return twiml(
            scripts.holding(
                handoff,
                _keys(handoff, attempt),
                key_url=_key_url(call_id, attempt.id, turn=turn, silent=silent, held=True),
                again_url=_again_url(call_id, attempt.id, turn=turn + 1, silent=silent, held=True),
            )
        )
    if silent > scripts.LAST_TURN or turn > MOST_TURNS:
        at.calls.heard_everything(call_id)
        return twiml(scripts.goodbye_no_input(text_sent=text_sent(handoff, attempt), voice=voice_of(call)))
    waits = request.args.get("waits", 0, type=int)
    return twiml(_menu(call, handoff, attempt, turn=turn, silent=silent, waits=waits))


@bp.post("/calls/<call_id>/attempts/<attempt_id>/key")
def key(call_id: str, attempt_id: str) -> Response:
    """A key was pressed: do what it means, then say what was done."""
    at = services()
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return twiml(scripts.nobody_home())
    turn, silent, held = _where()
    digits = request.values.get("Digits", "") or request.args.get("key", "")
    if digits:
        at.calls.keyed(call_id)
        call = call.model_copy(update={"keyed": True})
    late = _as_open(handoff) if handoff.closed else None
    keys = keys_for(late, has_next=False, inbound=attempt.inbound) if late else _keys(handoff, attempt)
    action = meaning(keys, digits)
    command = f"key-{attempt.id}-{turn}-{digits}"
    # The key may have been acted on, and only the answer lost: then what is in the menu now is no matter.
    _, outcome = at.store.read_for(handoff.id, command)
    if outcome is None and action is Action.STOP and turn <= MOST_TURNS:
        at.calls.pressed(call_id, digits, turn)
        return twiml(_whether_to_stop(call, attempt, turn, silent, held))
    too_long = turn > MOST_TURNS and action in _LASTING
    if outcome is None and (action in (None, Action.REPEAT) or too_long):
        if handoff.closed:
            return over(call, handoff)
        return twiml(_once_more(call, handoff, attempt, action, turn, silent))
    if outcome is None and at.handoffs.contact(call.contact, handoff=handoff) is None:
        return twiml(scripts.nobody_home())  # who was taken out meanwhile has no say any more, as on the page
    shown = call.proof or Proof.KEYPRESS
    if outcome is None and action in SETTLING and not proofs.enough(handoff.proof, shown):
        if handoff.closed:
            return over(call, handoff)
        where = urls.confirm(call_id, attempt.id, digits, turn=turn + 1, tries=1)
        return twiml(scripts.go_on(at.settings.public_url + where))
    if outcome is None:
        assert action is not None
        outcome = act(call, handoff, attempt, action, command, shown)
    return told(call, attempt, handoff.id, outcome, digits, turn)


def told(
    call: Call, attempt: Attempt, handoff_id: str, outcome: Outcome, pressed: str, turn: int
) -> Response:
    """Says what the key of the menu that was pressed led to, and keeps that it was; `turn` is the document
    in which it, or what confirms it, was typed."""
    at = services()
    at.calls.pressed(call.id, pressed, turn)
    fresh = at.handoffs.get(handoff_id)
    return twiml(
        scripts.after(
            outcome,
            fresh,
            _keys(fresh, attempt),
            now=at.clock(),
            key_url=_key_url(call.id, attempt.id, turn=turn + 1, silent=1, held=True),
            again_url=_again_url(call.id, attempt.id, turn=turn + 1, silent=1, held=True),
            contact=call.contact,
            text_sent=text_sent(fresh, attempt),
            page=_page(call, fresh, attempt) if _holds(fresh, call) else "",
            voice=voice_of(call),
        )
    )


@bp.post("/calls/<call_id>/settled")
def settled(call_id: str) -> Response:
    """Somebody else settled it while this person was on the line."""
    call, handoff, _ = spoken_for(call_id)
    if call is None or handoff is None:
        return twiml(scripts.nobody_home())
    return over(call, handoff)


def act(
    call: Call,
    handoff: Handoff,
    attempt: Attempt,
    action: Action,
    command: str,
    proof: Proof = Proof.KEYPRESS,
) -> Outcome:
    """Does what a key means, for the contact who was called, with what they have shown."""
    at = services()
    decision = Decision(
        by=Actor(kind=ActorKind.CONTACT, id=call.contact, name=call.contact_name),
        channel=Channel.CALL,
        proof=proof,
        at=at.clock(),
    )
    do = at.handoffs
    match action:
        case Action.YES:
            return do.resolve(handoff.id, decision, command, attempt=attempt.id)
        case Action.NO:
            return do.decline(handoff.id, decision, command, attempt=attempt.id)
        case Action.NEXT:
            return do.pass_on(handoff.id, decision, command, attempt.id)
        case Action.CALL_BACK:
            return do.call_back(handoff.id, decision, command, attempt.id)
        case _:
            return do.acknowledge(handoff.id, decision, command, attempt=attempt.id)


def from_the_start(call: Call, handoff: Handoff, attempt: Attempt, *, turn: int, once: bool = False) -> str:
    """Everything again, for somebody who may have come to the phone only now; `once`: no menu after it."""
    if turn > MOST_TURNS:
        services().calls.heard_everything(call.id)
        return scripts.goodbye_no_input(text_sent=text_sent(handoff, attempt), voice=voice_of(call))
    silent = scripts.LAST_TURN if once else 1
    return _menu(call, handoff, attempt, turn=turn, silent=silent, first=True)


def _menu(
    call: Call,
    handoff: Handoff,
    attempt: Attempt,
    *,
    turn: int,
    silent: int,
    waits: int = 0,
    slow: bool = False,
    every_key: bool = False,
    first: bool = False,
    listens: bool = False,
) -> str:
    """`first`: as if nothing had been said yet. `every_key`: as in scripts.greeting. `listens`: words
    are heard too, for a screener's are among them."""
    voice = voice_of(call)
    heard_url = services().settings.public_url + urls.heard(call.id, attempt.id, turn=turn)
    return scripts.greeting(
        handoff,
        _keys(handoff, attempt),
        key_url=heard_url if listens else _key_url(call.id, attempt.id, turn=turn, silent=silent),
        again_url=_again_url(call.id, attempt.id, turn=turn + 1, silent=silent + 1),
        turn=1 if first else silent,
        text_sent=text_sent(handoff, attempt),
        caller_word=_caller_word(call),
        back=call.back,
        elsewhere=_elsewhere(handoff, attempt),
        page=_page(call, handoff, attempt),
        waits=waits,
        slow=slow,
        every_key=every_key,
        hears=unattended.listening(voice) if listens else None,
        voice=voice,
    )


def _once_more(
    call: Call, handoff: Handoff, attempt: Attempt, action: Action | None, turn: int, silent: int
) -> str:
    """`*` reads it from the start with every key, slowly when it was read before; a key without a meaning
    says so. Both are turns of the call."""
    if action is Action.REPEAT and turn <= MOST_TURNS:
        return _menu(call, handoff, attempt, turn=turn + 1, silent=1, slow=turn > 1, every_key=True)
    if turn > MOST_TURNS or silent > scripts.LAST_TURN:
        services().calls.heard_everything(call.id)
        return scripts.goodbye_no_input(text_sent=text_sent(handoff, attempt), voice=voice_of(call))
    return scripts.unknown_key(
        handoff,
        _keys(handoff, attempt),
        key_url=_key_url(call.id, attempt.id, turn=turn + 1, silent=silent + 1),
        again_url=_again_url(call.id, attempt.id, turn=turn + 2, silent=silent + 1),
        turn=silent,
        text_sent=text_sent(handoff, attempt),
        elsewhere=_elsewhere(handoff, attempt),
        voice=voice_of(call),
    )


def _whether_to_stop(call: Call, attempt: Attempt, turn: int, silent: int, held: bool) -> str:
    """The first 8: one key alone must not take a number away. stopping.py has the second."""
    base = services().settings.public_url
    return scripts_stop.ask(
        key_url=base + urls.stop(call.id, attempt.id, turn=turn + 1, silent=silent, held=held),
        again_url=_again_url(call.id, attempt.id, turn=turn + 2, silent=silent, held=held),
        voice=voice_of(call),
    )


def _key_url(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    """Whole, so that a public URL with a path prefix is kept."""
    return services().settings.public_url + urls.key(call, attempt, turn=turn, silent=silent, held=held)


def _again_url(call: str, attempt: str, *, turn: int, silent: int, held: bool = False) -> str:
    return services().settings.public_url + urls.again(call, attempt, turn=turn, silent=silent, held=held)


def _keys(handoff: Handoff, attempt: Attempt) -> tuple[Key, ...]:
    at = services()
    rules, now = at.handoffs.rules(), at.clock()
    # The record as it is now: the attempt may have ended, or been acknowledged, since the call was read.
    fresh = handoff.attempt(attempt.id) or attempt
    return keys_for(
        handoff,
        has_next=ladder.next_name(handoff, rules, now, attempt.contact) is not None,
        calls_back=calling_back.may_ask(handoff, fresh, rules, now),
        settles=not _elsewhere(handoff, attempt),
        inbound=attempt.inbound,
    )


def _elsewhere(handoff: Handoff, attempt: Attempt) -> str:
    """Why this contact can't decide it by key, and where it can be; nothing where they can."""
    contact = services().handoffs.contact(attempt.contact)
    return scripts_confirm.elsewhere(
        handoff.proof,
        has_pin=contact is not None and contact.pin is not None,
        screen=contact is None or contact.screen,
        text_sent=text_sent(handoff, attempt),
    )


def voice_of(call: Call) -> Voice:
    """As this contact wants it; who called us goes on to what else waits for them."""
    contact = services().handoffs.contact(call.contact)
    then = urls.inbound_next(call.id, call.entries[-1].attempt) if call.inbound and call.entries else None
    return Voice(
        language=contact.language if contact else PLAIN.language,
        screen=contact.screen if contact else True,
        then=services().settings.public_url + then if then else None,
    )


def _screens_calls(call: Call) -> bool:
    contact = services().handoffs.contact(call.contact)
    return contact is not None and contact.screens_calls


def _page(call: Call, handoff: Handoff, attempt: Attempt) -> str:
    """Where the page is, and a code for it, when no link can be had."""
    return by_code.said_page(services(), call, handoff, attempt, text_sent(handoff, attempt))


def _caller_word(call: Call) -> str | None:
    """Said by us when we call; who calls us knows whom they called."""
    if call.inbound:
        return None
    contact = services().handoffs.contact(call.contact)
    return contact.caller_word if contact else None


def _as_open(handoff: Handoff) -> Handoff:
    """A closed handoff has no keys any more; a late key is read by the menu that was spoken."""
    return handoff.model_copy(update={"state": State.ESCALATING})


def _holds(handoff: Handoff, call: Call) -> bool:
    return handoff.held_by(ActorKind.CONTACT, call.contact)


def _not_theirs(handoff: Handoff, call: Call) -> bool:
    """Whether nothing is left to do for who is on the line: it is closed, or somebody else has it."""
    return handoff.closed or (handoff.acknowledged is not None and not _holds(handoff, call))


def over(call: Call, handoff: Handoff) -> Response:
    """Tells who settled it, or who has it."""
    say = scripts.settled if handoff.closed else scripts.taken
    return twiml(say(handoff, now=services().clock(), contact=call.contact, voice=voice_of(call)))


def text_sent(handoff: Handoff, attempt: Attempt) -> bool:
    """Whether a text with the link went out to this attempt's contact and they can read it, as far as is
    known. One that a cap holds has not."""
    if not by_code.sees_pages(services(), attempt.contact):
        return False
    good = (None, Disposition.SENT, Disposition.DELIVERED)
    return any(
        one.channel is Channel.TEXT
        and one.contact == attempt.contact
        and one.disposition in good
        and not one.held
        for one in handoff.attempts
    )


def _where() -> tuple[int, int, bool]:
    """Which document this is, how many menus went by without a key, and whether the person has it."""
    args = request.args
    return args.get("turn", 1, type=int), args.get("silent", 1, type=int), args.get("held") == "1"
