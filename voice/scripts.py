"""What the voice says: pure functions that return a TwiML document as text.

Every sentence is spoken inside the Gather, so that a key works at any moment, and something always follows
the Gather. What was done is said only from an Outcome, which exists only after the commit (promise 5).
The documents are sent as `text/xml; charset=utf-8`; when to say which is on_the_line.py's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from twilio.twiml.voice_response import VoiceResponse

from handoff.models import ActorKind, Decision, Handoff
from handoff.outcomes import Outcome
from handoff.states import CLOSED, CloseReason, Kind, State, Trigger
from voice.keypad import Action, Key
from voice.speech import IN_THE_TEXT, THE_REST, ago, clean, read_aloud, sentence, sentences, span

LAST_TURN = 3  #: how often a menu is read before the voice says goodbye
WAIT_S = 6  #: from the last word of the menu to the next turn
HOLD_S = 60  #: between two reminders to somebody who clears the wall while on the line

_NAME_LIMIT = 40  # characters of an agent's or a person's name: "who calls" must be over in seconds
_MAX_SAY = 3_000  # characters; https://www.twilio.com/docs/voice/twiml/say
_MAX_SAY_ENCODED = 4_500  # the same text URL-encoded; https://www.twilio.com/docs/api/errors/13521
_MAX_BYTES = 65_536  # of a document; https://www.twilio.com/docs/api/errors/11750


@dataclass(frozen=True)
class Voice:
    """How Say sounds; `name` None leaves it to the account's setting."""

    language: str = "en-US"
    name: str | None = None


PLAIN = Voice()


def greeting(
    handoff: Handoff,
    keys: Sequence[Key],
    *,
    key_url: str,
    again_url: str,
    turn: int,
    text_sent: bool,
    caller_word: str | None = None,
    slow: bool = False,
    voice: Voice = PLAIN,
) -> str:
    """The caller word, who calls, for which agent and why, at once; then the menu. Turns count from 1, later
    ones are shorter. `slow`: with a breath after each sentence.

    `key_url` gets the key; `again_url` is asked when none came and should carry the next turn. After the
    last turn this is `goodbye_no_input`. `text_sent`: whether a text with the link went out to this contact.
    """
    if turn > LAST_TURN:
        return goodbye_no_input(text_sent=text_sent, voice=voice)
    if turn <= 1:
        word = f"{sentence(clean(caller_word))} " if caller_word else ""
        why = f"{word}Handoff for {_agent(handoff)}. {_reason(handoff, text_sent)}"
        opening = [why, _where(handoff, text_sent)]
    else:
        opening = ["I did not hear a key.", f"This is for {_agent(handoff)}."]
    return _Script(voice).listen([*opening, _menu(keys)], keys, key_url, slow=slow).then(again_url)


def unknown_key(
    handoff: Handoff,
    keys: Sequence[Key],
    *,
    key_url: str,
    again_url: str,
    turn: int,
    text_sent: bool,
    voice: Voice = PLAIN,
) -> str:
    """The key pressed is not in the menu: says so and reads it again, up to the last turn as `greeting`."""
    if turn > LAST_TURN:
        return goodbye_no_input(text_sent=text_sent, voice=voice)
    said = ["That key does nothing here.", f"This is for {_agent(handoff)}.", _menu(keys)]
    return _Script(voice).listen(said, keys, key_url).then(again_url)


def holding(
    handoff: Handoff, keys: Sequence[Key], *, key_url: str, again_url: str, voice: Voice = PLAIN
) -> str:
    """For who has it and stayed on the line: a short reminder, then a long wait. The call's limit ends it."""
    said = [f"{_agent(handoff)} is waiting.", _menu(keys)]
    return _Script(voice).listen(said, keys, key_url, wait_s=HOLD_S).then(again_url)


def goodbye_no_input(*, text_sent: bool, voice: Voice = PLAIN) -> str:
    """After the last turn without a key. Nothing was decided, and the voice says so."""
    link = " The link in the text still works." if text_sent else ""
    return _Script(voice).say(f"Nothing is decided.{link} Goodbye.").hang_up()


def after(
    outcome: Outcome,
    handoff: Handoff,
    keys: Sequence[Key],
    *,
    now: int,
    key_url: str,
    again_url: str,
    contact: str,
    text_sent: bool,
    voice: Voice = PLAIN,
) -> str:
    """What a key led to, said to the contact with this id. `handoff` as it stands after the outcome."""
    script = _Script(voice)
    holder = outcome.holder
    mine = holder is not None and _is(holder, contact)
    if outcome.won and outcome.asked is Trigger.PASS_ON:
        return script.say(_passed(outcome, text_sent)).hang_up()
    if outcome.won and outcome.asked in (Trigger.RESOLVE, Trigger.DECLINE):
        return script.say(_settled_by_you(outcome, handoff)).hang_up()
    if outcome.state is State.ACKNOWLEDGED and mine and keys:
        said = [_yours(outcome, now), _how_to_go_on(handoff, keys, text_sent)]
        return script.listen(said, keys, key_url, wait_s=HOLD_S).then(again_url)
    if outcome.state is State.ACKNOWLEDGED and holder is not None and not mine:
        return script.say(_taken_by(holder, now, contact)).hang_up()
    if outcome.state in CLOSED:
        return _over(outcome, handoff, now, contact, voice)
    if handoff.closed or not keys:
        return settled(handoff, now=now, contact=contact, voice=voice)
    return script.listen(["That did not work. Please try again.", _menu(keys)], keys, key_url).then(again_url)


def settled(handoff: Handoff, *, now: int, contact: str | None = None, voice: Voice = PLAIN) -> str:
    """For whoever is on the line when it is closed, or calls in later: who did it, and that it is over."""
    return _over(handoff, handoff, now, contact, voice)


def taken(handoff: Handoff, *, now: int, contact: str, voice: Voice = PLAIN) -> str:
    """For whoever is on the line when somebody else took it, or when it needs this call no more."""
    holder = handoff.acknowledged
    if holder is None:
        return _Script(voice).say("This call is not needed any more. Goodbye.").hang_up()
    return _Script(voice).say(_taken_by(holder, now, contact)).hang_up()


def nobody_home(voice: Voice = PLAIN) -> str:
    """For a call that we know nothing about (any more)."""
    return _Script(voice).say("This call is about something that is over. Goodbye.").hang_up()


def apology() -> str:
    """For a failure on our side: always the same valid document, made without anything that could fail."""
    return _APOLOGY


def one_moment(url: str, turn: int, voice: Voice = PLAIN) -> str:
    """For a slow store: asks `url` again in two seconds; from the turn after the last one an apology.

    The URL must carry the key and the next turn, since Twilio does not send Digits again.
    """
    if turn > LAST_TURN:
        return apology()
    said = "One moment, please." if turn <= 1 else "Still working on it."
    return _Script(voice).say(said).pause(2).then(url)


class _Script:
    """A document under construction. A menu can only be read through `listen`, which makes its Gather."""

    def __init__(self, voice: Voice) -> None:
        self._response = VoiceResponse()
        self._style = {"language": voice.language, "voice": voice.name}

    def say(self, text: str) -> _Script:
        self._response.say(_sayable(text), **self._style)
        return self

    def pause(self, seconds: int) -> _Script:
        self._response.pause(length=seconds)
        return self

    def listen(
        self,
        said: Sequence[str],
        keys: Sequence[Key],
        key_url: str,
        *,
        wait_s: int = WAIT_S,
        slow: bool = False,
    ) -> _Script:
        """Speaks, and takes one key at any moment. No finish key, so that `*` and `#` count as keys."""
        assert keys, "a menu without keys"
        gather = self._response.gather(
            input="dtmf", action=key_url, method="POST", num_digits=1, finish_on_key="", timeout=wait_s
        )
        for text in filter(None, said):
            for part in sentences(text) if slow else [text]:
                gather.say(_sayable(part), **self._style)
                if slow:
                    gather.pause(length=1)
        return self

    def then(self, url: str) -> str:
        """Ends with another request: what follows a Gather when no key came."""
        self._response.redirect(url, method="POST")
        return self._document()

    def hang_up(self) -> str:
        """Ends the call."""
        self._response.hangup()
        return self._document()

    def _document(self) -> str:
        document: str = self._response.to_xml()
        assert len(document.encode()) < _MAX_BYTES, "a document too large for Twilio"
        return document


Script = _Script  #: for the words of its sibling modules


def _sayable(text: str) -> str:
    assert text and len(text) < _MAX_SAY and len(quote(text)) < _MAX_SAY_ENCODED, "a text that Say refuses"
    return text


def _agent(handoff: Handoff) -> str:
    return clean(handoff.agent)[:_NAME_LIMIT].strip() or "an agent"


def _reason(handoff: Handoff, text_sent: bool) -> str:
    rest = IN_THE_TEXT if text_sent else THE_REST
    reason = sentence(read_aloud(handoff.reason, rest=rest)) or "It gives no reason that can be read aloud."
    return f"It asks: {reason}" if handoff.kind is Kind.ASK else reason


def _where(handoff: Handoff, text_sent: bool) -> str:
    if text_sent:
        return "Answer by the link in the text." if handoff.kind is Kind.ASK else "The text has the link."
    return "It is answered by link, and no text went out to you." if handoff.kind is Kind.ASK else ""


def _menu(keys: Sequence[Key]) -> str:
    return " ".join(f"Press {key.spoken} {key.words}." for key in keys)


def _passed(outcome: Outcome, text_sent: bool) -> str:
    if outcome.next_name:
        return f"{_name(outcome.next_name)} is next. You can hang up. Goodbye."
    link = " The link in the text still works." if text_sent else ""
    return f"Nobody else is left to call.{link} Goodbye."


def _settled_by_you(outcome: Outcome, handoff: Handoff) -> str:
    agent = _agent(handoff)
    if outcome.state is State.RESOLVED:
        return f"Thank you. It is handed back to {agent}. Goodbye."
    if outcome.state is State.DECLINED:
        word = {
            Kind.CLEAR: "the word that it can't be done",
            Kind.ASK: "the word that you can't answer",
            Kind.APPROVE: "a no",
        }[handoff.kind]
        return f"All right. {agent} gets {word}. Goodbye."
    return f"Thank you. Your word counts. {agent} still needs other people. Goodbye."


def _yours(outcome: Outcome, now: int) -> str:
    left = outcome.holder_until - now if outcome.holder_until is not None else 0
    return f"You have it for {span(left)}." if left > 0 else "You have it."


def _how_to_go_on(handoff: Handoff, keys: Sequence[Key], text_sent: bool) -> str:
    wanted = (Action.YES, Action.NO) if handoff.kind is Kind.APPROVE else (Action.YES,)
    presses = ", or ".join(f"press {key.spoken} {key.words}" for key in keys if key.action in wanted)
    if presses and text_sent:
        return f"The text has the link. Stay on the line and {presses}, or hang up and use the link."
    if presses:
        return f"Stay on the line and {presses}."
    return "Hang up and answer by the link in the text." if text_sent else "Hang up and answer by the link."


def _over(end: Outcome | Handoff, handoff: Handoff, now: int, contact: str | None, voice: Voice) -> str:
    """`end` says how it was closed; `handoff` says what it was about."""
    said = _what_happened(end, handoff, now, contact)
    return _Script(voice).say(f"{said} Nothing is left to do. Goodbye.").hang_up()


def _taken_by(holder: Decision, now: int, contact: str) -> str:
    return f"{_person(holder, contact)} took it {ago(now - holder.at)}. You can hang up. Goodbye."


def _what_happened(end: Outcome | Handoff, handoff: Handoff, now: int, contact: str | None) -> str:
    agent, when = _agent(handoff), ago(now - (end.closed_at or now))
    who = _person(end.settlement, contact)
    match end.close_reason:
        case CloseReason.PERSON if end.state is State.RESOLVED:
            deed = {Kind.CLEAR: "did it", Kind.ASK: "answered", Kind.APPROVE: "approved it"}[handoff.kind]
            return f"{who} {deed} {when}."
        case CloseReason.PERSON:
            return f"{who} said no {when}."
        case CloseReason.OBSERVED:
            return f"{agent} saw {when} that it is gone."
        case CloseReason.DEFAULT:
            return f"Nobody answered in time. {agent} took its default answer {when}."
        case CloseReason.POLICY:
            return f"It counted as a no {when}, because nobody answered."
        case CloseReason.NOBODY:
            return f"Time ran out {when}."
        case CloseReason.UNREACHABLE:
            return f"Nobody was reached. It ended {when}."
        case CloseReason.AGENT:
            return f"{agent} withdrew it {when}."
        case CloseReason.OPERATOR:
            return f"{who} withdrew it {when}."
        case CloseReason.AGENT_GONE:
            return f"{agent} is gone, so it was withdrawn {when}."
        case None:
            return "It is over."


def _person(decision: Decision | None, contact: str | None) -> str:
    if decision is None:
        return "An operator"
    if contact is not None and _is(decision, contact):
        return "You"
    fallback = "An operator" if decision.by.kind is ActorKind.OPERATOR else "Somebody"
    return _name(decision.by.name or "") or fallback


def _is(decision: Decision, contact: str) -> bool:
    return decision.by.kind is ActorKind.CONTACT and decision.by.id == contact


def _name(name: str) -> str:
    return clean(name)[:_NAME_LIMIT].strip()


_APOLOGY = (
    '<?xml version="1.0" encoding="UTF-8"?><Response><Say language="en-US">'
    "Sorry, something went wrong here. If you got a text, its link still works. Goodbye."
    "</Say><Hangup/></Response>"
)
