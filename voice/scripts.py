"""What the voice says: pure functions that return a TwiML document as text.

Every sentence is spoken inside the Gather, so that a key works at any moment, and something always follows
the Gather. What was done is said only from an Outcome, which exists only after the commit (promise 5).
The documents are sent as `text/xml; charset=utf-8`; when to say which is on_the_line.py's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handoff import calling_back
from handoff.models import CallsBack, Decision, Handoff, ProofAsked
from handoff.outcomes import Outcome
from handoff.states import CLOSED, Kind, State, Trigger
from voice.documents import PLAIN, Script, Voice
from voice.endings import agent_name as _agent
from voice.endings import is_contact as _is
from voice.endings import name as _name
from voice.endings import what_happened as _what_happened
from voice.endings import who as _person
from voice.keypad import MORE, Action, Key
from voice.speech import IN_THE_TEXT, THE_REST, ago, clean, count, read_aloud, sentence, sentences, span

LAST_TURN = 3  #: how often a menu is read before the voice says goodbye
HOLD_S = 60  #: between two reminders to somebody who clears the wall while on the line

#: Said to whoever was on the line before.
_BACK = {
    CallsBack.DROPPED: "We were cut off.",
    CallsBack.ASKED: "You asked to be called back.",
    CallsBack.CALLER: "A caller from this number asked us to call back.",
}


def greeting(
    handoff: Handoff,
    keys: Sequence[Key],
    *,
    key_url: str,
    again_url: str,
    turn: int,
    text_sent: bool,
    caller_word: str | None = None,
    back: CallsBack | None = None,
    elsewhere: str = "",
    page: str = "",
    waits: int = 0,
    slow: bool = False,
    every_key: bool = False,
    hears: Mapping[str, str] | None = None,
    voice: Voice = PLAIN,
) -> str:
    """The caller word, who calls, for which agent and why, at once; then the menu. Turns count from 1, later
    ones say the reason again, for who came in the middle, and the whole menu, which the first does for
    `every_key` only. `slow`: with a breath after each sentence. `hears`: what the Gather needs to take words
    too, which go to `key_url`.

    `key_url` gets the key; `again_url` is asked when none came and should carry the next turn. After the
    last turn this is `goodbye_no_input`. `text_sent`: whether a text with the link went out to this contact;
    `page`: the sentence with the page and a code for it. `back`: they were on the line before. `elsewhere`:
    why nothing can be decided by key, and where it can. `waits`: how many things wait for who called us.
    """
    if turn > LAST_TURN:
        return goodbye_no_input(text_sent=text_sent, voice=voice)
    if turn <= 1:
        word = f"{sentence(clean(caller_word))} " if caller_word else ""
        again = f"{_BACK[back]} " if back else ""
        who = f"{word}{again}{_how_many(waits)}Handoff for {_agent(handoff)}."
        where = "" if elsewhere else _where(handoff, text_sent, bool(page), voice)
        opening = [f"{who} {_reason(handoff, text_sent, voice)}", elsewhere, where]
    else:
        brief = sentences(_reason(handoff, text_sent, voice))[0]
        opening = ["I did not hear a key.", f"This is for {_agent(handoff)}.", brief, elsewhere]
    menu = _menu(keys, brief=turn <= 1 and not every_key)
    if any(key.action is Action.YES for key in keys):  # the page is one way more, said with the rarer keys
        said = [*opening, menu, f"Or {page[0].lower()}{page[1:]}" if page and every_key else ""]
    else:
        said = [*opening, page if turn <= 1 or not text_sent else "", menu]
    return Script(voice).listen(said, keys, key_url, slow=slow, hears=hears).then(again_url)


def unknown_key(
    handoff: Handoff,
    keys: Sequence[Key],
    *,
    key_url: str,
    again_url: str,
    turn: int,
    text_sent: bool,
    elsewhere: str = "",
    voice: Voice = PLAIN,
) -> str:
    """The key pressed is not in the menu: says so and reads it again, up to the last turn as `greeting`."""
    if turn > LAST_TURN:
        return goodbye_no_input(text_sent=text_sent, voice=voice)
    said = ["That key does nothing here.", f"This is for {_agent(handoff)}.", elsewhere, _menu(keys)]
    return Script(voice).listen(said, keys, key_url).then(again_url)


def holding(
    handoff: Handoff, keys: Sequence[Key], *, key_url: str, again_url: str, voice: Voice = PLAIN
) -> str:
    """For who has it and stayed on the line: a short reminder, then a long wait. The call's limit ends it."""
    left = [key for key in keys if key.action is not Action.ACKNOWLEDGE]  # they are on it
    said = [f"{_agent(handoff)} is waiting.", _menu(left, brief=True)]
    return Script(voice).listen(said, keys, key_url, wait_s=HOLD_S).then(again_url)


def goodbye_no_input(*, text_sent: bool, voice: Voice = PLAIN) -> str:
    """After the last turn without a key. Nothing was decided, and the voice says so."""
    link = " The link in the text still works." if text_sent else ""
    return Script(voice).say(f"Nothing is decided.{link} Goodbye.").hang_up()


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
    page: str = "",
    voice: Voice = PLAIN,
) -> str:
    """What a key led to, said to the contact with this id. `handoff` as it stands after the outcome; `page`
    as in `greeting`."""
    script = Script(voice)
    holder = outcome.holder
    mine = holder is not None and _is(holder, contact)
    if outcome.won and outcome.asked is Trigger.PASS_ON:
        return script.part(_passed(outcome, text_sent))
    if outcome.won and outcome.asked is Trigger.CALL_BACK:
        return script.say(f"We call you back in {span(calling_back.WAIT_MS)}. Goodbye.").hang_up()
    if outcome.won and outcome.asked in (Trigger.RESOLVE, Trigger.DECLINE):
        return script.part(_settled_by_you(outcome, handoff))
    if outcome.state is State.ACKNOWLEDGED and mine and keys:
        said = [
            _yours(outcome, now),
            page,
            _how_to_go_on(handoff, keys, text_sent, by_page=bool(page), voice=voice),
        ]
        return script.listen(said, keys, key_url, wait_s=HOLD_S).then(again_url)
    if outcome.state is State.ACKNOWLEDGED and holder is not None and not mine:
        return script.part(_taken_by(holder, now, contact))
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
        return Script(voice).part("This call is not needed any more. Goodbye.")
    return Script(voice).part(_taken_by(holder, now, contact))


def go_on(url: str) -> str:
    """Nothing is said: the next document is at this address."""
    return Script(PLAIN).then(url)


def nobody_home(voice: Voice = PLAIN) -> str:
    """For a call that we know nothing about (any more)."""
    return Script(voice).say("This call is about something that is over. Goodbye.").hang_up()


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
    return Script(voice).say(said).pause(2).then(url)


def _how_many(waits: int) -> str:
    if not waits:
        return ""
    return "One thing waits for you. " if waits == 1 else f"{count(waits)} things wait for you. The first: "


def _reason(handoff: Handoff, text_sent: bool, voice: Voice) -> str:
    rest = IN_THE_TEXT if text_sent else THE_REST if voice.screen else "The rest is left out."
    reason = sentence(read_aloud(handoff.reason, rest=rest)) or "It gives no reason that can be read aloud."
    return f"It asks: {reason}" if handoff.kind is Kind.ASK else reason


def _where(handoff: Handoff, text_sent: bool, by_page: bool, voice: Voice) -> str:
    if not voice.screen:
        return "I can't take the answer by phone." if handoff.kind is Kind.ASK else ""
    if text_sent:
        return "Answer by the link in the text." if handoff.kind is Kind.ASK else "The text has the link."
    if handoff.kind is not Kind.ASK:
        return ""
    return "It is answered on a page." if by_page else "It is answered by link, and no text went out to you."


def _menu(keys: Sequence[Key], *, brief: bool = False) -> str:
    """What each key does; `brief`: without those that few need, which star is said to be good for then."""
    read = [key for key in keys if not (brief and key.later)]
    more = {Action.REPEAT: MORE} if len(read) < len(keys) else {}
    return " ".join(f"Press {key.spoken} {more.get(key.action, key.words)}." for key in read)


def _passed(outcome: Outcome, text_sent: bool) -> str:
    if outcome.next_name:
        verb = "are" if " and " in outcome.next_name else "is"
        return f"{_name(outcome.next_name)} {verb} next. You can hang up. Goodbye."
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


def _how_to_go_on(
    handoff: Handoff, keys: Sequence[Key], text_sent: bool, *, by_page: bool, voice: Voice
) -> str:
    wanted = (Action.YES, Action.NO) if handoff.kind is Kind.APPROVE else (Action.YES,)
    presses = ", or ".join(f"press {key.spoken} {key.words}" for key in keys if key.action in wanted)
    if presses and text_sent:
        return f"The text has the link. Stay on the line and {presses}, or hang up and use the link."
    if presses:
        return f"Stay on the line and {presses}."
    if by_page:
        return "Hang up and answer there."
    no_pin = handoff.proof is ProofAsked.PIN and not any(key.action is Action.NO for key in keys)
    if no_pin or not voice.screen:
        return "You can hang up."
    return "Hang up and answer by the link in the text." if text_sent else "Hang up and answer by the link."


def _over(end: Outcome | Handoff, handoff: Handoff, now: int, contact: str | None, voice: Voice) -> str:
    """`end` says how it was closed; `handoff` says what it was about."""
    said = _what_happened(end, handoff, now, contact)
    return Script(voice).part(f"{said} Nothing is left to do. Goodbye.")


def _taken_by(holder: Decision, now: int, contact: str) -> str:
    return f"{_person(holder, contact)} took it {ago(now - holder.at)}. You can hang up. Goodbye."


_APOLOGY = (
    '<?xml version="1.0" encoding="UTF-8"?><Response><Say language="en-US">'
    "Sorry, something went wrong here. If you got a text, its link still works. Goodbye."
    "</Say><Hangup/></Response>"
)
