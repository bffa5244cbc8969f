"""A handoff's events as sentences: what happened, in the order in which it did.

Pure: records in, values out; the page lays them out. Nothing is escaped here: what people and agents wrote
stays apart from our own words, in `said`. Numbers come masked. Words for states and proofs are words.py's;
the table of who was reached is reached.py's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from handoff.limits import Held
from handoff.models import ActorKind, Attempt, Call, CallsBack, Channel, Event, EventType, Handoff, Proof
from handoff.people import mask
from handoff.states import CloseReason, Disposition, Kind, Trigger
from handoff.web import words

#: The key that makes each decision. The phone's own table is voice/keypad.py; a test holds the two together.
KEYS = {
    Trigger.RESOLVE: "1",
    Trigger.DECLINE: "2",
    Trigger.ACKNOWLEDGE: "3",
    Trigger.PASS_ON: "0",
    Trigger.CALL_BACK: "9",
}
#: What is on record of a decision that was made by a key.
KEY_PROOFS = frozenset({Proof.KEYPRESS, Proof.KEYPRESS_CODE, Proof.KEYPRESS_PIN})
#: What a decision says, after "Ada pressed 1: " and the like.
MEANINGS = {
    Trigger.RESOLVE: "it’s done",
    Trigger.DECLINE: "it can’t be done",
    Trigger.ACKNOWLEDGE: "I’m on it",
    Trigger.PASS_ON: "not me, the next person",
    Trigger.EXTEND: "10 more minutes",
    Trigger.RING_AGAIN: "ring again",
}


class Tone(StrEnum):
    """What kind of line it is: the page gives each a mark of its own."""

    DECISION = "decision"  #: a person, or the agent, decided something
    REACH = "reach"  #: a phone rang, a text went out
    TROUBLE = "trouble"  #: something did not work
    NOTE = "note"  #: anything else


@dataclass(frozen=True)
class Line:
    """One event. `words` are ours; `said` is what somebody wrote, to be shown as untrusted text; `detail` is
    small print, such as a provider's error."""

    seq: int
    at: int
    words: str
    tone: Tone = Tone.NOTE
    said: str | None = None
    detail: str | None = None


def lines(handoff: Handoff, events: Sequence[Event], calls: Mapping[str, Call]) -> list[Line]:
    """Every event as a line, in its order. `calls` are the handoff's call records by id."""
    story = Story(handoff, calls)
    return [_LINES[event.type](story, event) for event in events]


@dataclass(frozen=True)
class Story:
    """What the sentences need to know beside their event."""

    handoff: Handoff
    calls: Mapping[str, Call]

    def attempt(self, event: Event) -> Attempt | None:
        return self.handoff.attempt(str(event.data.get("attempt")))

    def person(self, event: Event) -> str:
        """Whom the event is about."""
        if attempt := self.attempt(event):
            return attempt.contact_name
        return self.named(str(event.data.get("contact", "somebody")))

    def named(self, contact: str) -> str:
        """A contact's name, by id."""
        found = (one.contact_name for one in self.handoff.attempts if one.contact == contact)
        return next(found, contact)

    def call(self, attempt: Attempt | None) -> Call | None:
        return self.calls.get(attempt.call) if attempt and attempt.call else None

    def number(self, event: Event) -> str:
        call = self.call(self.attempt(event))
        return f" at {mask(call.number)}" if call else ""


def _opened(story: Story, event: Event) -> Line:
    if story.handoff.enrols:
        return _line(event, f"{words.name(event.by)} has somebody asked whether they may be called.")
    what = "asked a question" if story.handoff.kind is Kind.ASK else "ran into a wall"
    rings = " Nobody is rung for it." if story.handoff.notify == "none" else ""
    return _line(
        event, f"{words.name(event.by)} {what}; people have until {_until(event, 'deadline')}.{rings}"
    )


def _step_started(story: Story, event: Event) -> Line:
    names = words.all_of([story.named(one) for one in event.data.get("contacts", [])])
    again = f"Round {event.data['round'] + 1}, step" if event.data.get("round") else "Step"
    quiet = words.all_of([story.named(one) for one in event.data.get("quiet", {})])
    asleep = f" {quiet} has quiet hours and is not called." if quiet else ""
    return _line(event, f"{again} {event.data.get('step', 0) + 1}: it is {names or 'nobody'}’s turn.{asleep}")


def _policy_exhausted(story: Story, event: Event) -> Line:
    left = "" if story.handoff.on_exhausted == "fail" else " The links stay good until the deadline."
    return _line(event, f"Everybody was tried.{left}", Tone.TROUBLE)


#: Why a call is not placed yet, or a text not sent, after "waits:".
WHY_HELD: Mapping[str, str] = {
    Held.RATE: "more calls are due than may be placed in a second",
    Held.NUMBER: "this number was called as often as it may be",
    Held.SHARE: "this agent had this number called as often as it may",
    Held.TEXTS: "this number was texted as often as it may be",
    Held.DAY: "the ceiling for today is reached",
    Held.LINE: "another call is on this number",
}


def _call_held(story: Story, event: Event) -> Line:
    why = WHY_HELD.get(event.data.get("why", ""), "a limit is reached")
    return _line(event, f"The call to {story.person(event)} waits: {why}.", Tone.TROUBLE)


def _text_held(story: Story, event: Event) -> Line:
    why = WHY_HELD.get(event.data.get("why", ""), "a limit is reached")
    return _line(event, f"The text to {story.person(event)} waits: {why}.", Tone.TROUBLE)


def _call_placed(story: Story, event: Event) -> Line:
    return _line(event, f"Calling {story.person(event)}{story.number(event)}.", Tone.REACH)


def _call_unknown(story: Story, event: Event) -> Line:
    who = story.person(event)
    return _line(
        event, f"Nobody knows yet whether {who} is being called; the call is not placed twice.", Tone.TROUBLE
    )


def _call_ringing(story: Story, event: Event) -> Line:
    return _line(event, f"{story.person(event)}’s phone rang.", Tone.REACH)


def _call_answered(story: Story, event: Event) -> Line:
    return _line(event, f"{story.person(event)}’s phone was picked up.", Tone.REACH)


def _called_in(story: Story, event: Event) -> Line:
    return _line(event, f"{story.person(event)} called in.", Tone.REACH)


def _calls_back(story: Story, event: Event) -> Line:
    who = story.person(event)
    why = {
        CallsBack.ASKED: f"{who} asked to be called back",
        CallsBack.CALLER: f"A caller who showed {who}’s number asked to be called back",
    }.get(event.data.get("why", CallsBack.DROPPED), f"The call with {who} broke off")
    when = f" at {_until(event, 'at')}" if "at" in event.data else ""
    return _line(event, f"{why}: {who} is called again{when}.", Tone.REACH)


def _pin_refused(story: Story, event: Event) -> Line:
    return _line(event, f"A wrong PIN was given on the call to {story.person(event)}.", Tone.TROUBLE)


def _machine_heard(story: Story, event: Event) -> Line:
    return _line(
        event, f"A machine took the call to {story.person(event)}: nobody was reached.", Tone.TROUBLE
    )


def _opted_out(story: Story, event: Event) -> Line:
    return _line(event, f"{story.person(event)} asked not to be called on this number.", Tone.TROUBLE)


def _attempt_ended(story: Story, event: Event) -> Line:
    if event.by.kind is ActorKind.CONTACT:
        to = event.data.get("passed_to")
        then = f"{to} is next" if to else "nobody is left to pass it to"
        return _line(event, f"{_did(event, Trigger.PASS_ON)}; {then}.", Tone.DECISION)
    disposition = Disposition(event.data["disposition"])
    tone = Tone.NOTE if disposition is Disposition.WITHDRAWN else Tone.TROUBLE
    if event.data.get("channel") == Channel.TEXT:
        return _line(event, f"Text to {story.person(event)}: {words.TEXT_ENDS[disposition]}.", tone)
    return _line(event, f"Call to {story.person(event)}: {words.CALL_ENDS[disposition]}.", tone)


def _text_sent(story: Story, event: Event) -> Line:
    return _line(event, f"A text with the link went out to {story.person(event)}.", Tone.REACH)


def _text_moved(story: Story, event: Event) -> Line:
    disposition = Disposition(event.data["disposition"])
    good = disposition in (Disposition.SENT, Disposition.DELIVERED, Disposition.WITHDRAWN)
    what = words.TEXT_ENDS[disposition]
    return _line(event, f"Text to {story.person(event)}: {what}.", Tone.REACH if good else Tone.TROUBLE)


def _acknowledged(_: Story, event: Event) -> Line:
    until = f" until {_until(event, 'until')}" if "until" in event.data else ""
    return _line(event, f"{_did(event, Trigger.ACKNOWLEDGE)}. Nobody else is rung{until}.", Tone.DECISION)


def _extended(_: Story, event: Event) -> Line:
    until = _until(event, "deadline")
    return _line(event, f"{_did(event, Trigger.EXTEND)}. The deadline is {until} now.", Tone.DECISION)


def _rung_again(_: Story, event: Event) -> Line:
    return _line(event, f"{_did(event, Trigger.RING_AGAIN)}. The policy began anew.", Tone.DECISION)


def _lapsed(_: Story, event: Event) -> Line:
    if event.by.kind is ActorKind.CONTACT:
        return _line(event, f"{words.name(event.by)} gave it back.")
    return _line(event, "Whoever was on it did not finish in time: ringing goes on.", Tone.TROUBLE)


def _resolved(story: Story, event: Event) -> Line:
    if event.data.get("close_reason") == CloseReason.OBSERVED:
        return _line(event, f"{words.name(event.by)} saw that the wall is gone.", Tone.DECISION)
    result = event.data.get("result") or {}
    if story.handoff.kind is Kind.ASK:
        how = f"{words.name(event.by)} answered{_way(event)}:"
        return _line(event, how, Tone.DECISION, said=str(result.get("answer", "")) or None)
    return _line(event, f"{_did(event, Trigger.RESOLVE)}.", Tone.DECISION, said=event.data.get("comment"))


def _declined(_: Story, event: Event) -> Line:
    return _line(event, f"{_did(event, Trigger.DECLINE)}.", Tone.DECISION, said=event.data.get("comment"))


def _expired(_: Story, event: Event) -> Line:
    unreachable = event.data.get("close_reason") == CloseReason.UNREACHABLE
    what = "It ended: nobody could be reached." if unreachable else "Time ran out, and nobody had settled it."
    return _line(event, what, Tone.TROUBLE)


def _cancelled(story: Story, event: Event) -> Line:
    if event.data.get("close_reason") == CloseReason.AGENT_GONE:
        who = story.handoff.agent
        return _line(event, f"It was withdrawn: {who} had stopped waiting.", Tone.DECISION)
    return _line(event, f"{words.name(event.by)} withdrew it.", Tone.DECISION)


def _late(story: Story, event: Event) -> Line:
    asked = Trigger(event.data["asked"])
    standing = str(event.data.get("standing", story.handoff.state))
    was = standing if standing == "expired" else f"{standing} already"
    return _line(event, f"Too late: {_did(event, asked)}. It was {was}; nothing was changed.", Tone.TROUBLE)


def _resume_delivered(story: Story, event: Event) -> Line:
    tries = event.data.get("tries", 1)
    at = "" if tries == 1 else f" at try {tries}"
    return _line(event, f"The callback reached {story.handoff.agent}{at}.")


def _resume_failed(story: Story, event: Event) -> Line:
    then = "It is given up." if event.data.get("given_up") else "It is tried again."
    return _line(event, f"The callback to {story.handoff.agent} failed. {then}", Tone.TROUBLE)


_LINES: Mapping[EventType, Callable[[Story, Event], Line]] = {
    EventType.OPENED: _opened,
    EventType.STEP_STARTED: _step_started,
    EventType.POLICY_EXHAUSTED: _policy_exhausted,
    EventType.CALL_HELD: _call_held,
    EventType.TEXT_HELD: _text_held,
    EventType.CALL_PLACED: _call_placed,
    EventType.CALL_UNKNOWN: _call_unknown,
    EventType.CALL_RINGING: _call_ringing,
    EventType.CALL_ANSWERED: _call_answered,
    EventType.CALLED_IN: _called_in,
    EventType.CALLS_BACK: _calls_back,
    EventType.PIN_REFUSED: _pin_refused,
    EventType.MACHINE_HEARD: _machine_heard,
    EventType.OPTED_OUT: _opted_out,
    EventType.ATTEMPT_ENDED: _attempt_ended,
    EventType.TEXT_SENT: _text_sent,
    EventType.TEXT_MOVED: _text_moved,
    EventType.ACKNOWLEDGED: _acknowledged,
    EventType.EXTENDED: _extended,
    EventType.RUNG_AGAIN: _rung_again,
    EventType.LAPSED: _lapsed,
    EventType.RESOLVED: _resolved,
    EventType.DECLINED: _declined,
    EventType.EXPIRED: _expired,
    EventType.CANCELLED: _cancelled,
    EventType.LATE_ANSWER_REFUSED: _late,
    EventType.RESUME_DELIVERED: _resume_delivered,
    EventType.RESUME_FAILED: _resume_failed,
}


def _line(event: Event, text: str, tone: Tone = Tone.NOTE, *, said: str | None = None) -> Line:
    detail = event.data.get("detail")
    return Line(event.seq, event.at, text, tone, said, str(detail) if detail else None)


def _did(event: Event, trigger: Trigger) -> str:
    """Who said what and how: “Ada pressed 1: it’s done”."""
    who, said = words.name(event.by), MEANINGS.get(trigger, trigger.value)
    if event.proof in KEY_PROOFS and trigger in KEYS:
        return f"{who} pressed {KEYS[trigger]}: {said}"
    return f"{who}{_way(event)}: {said}"


def _way(event: Event) -> str:
    return f" ({words.PROOFS[event.proof]})" if event.proof else ""


def _until(event: Event, field: str) -> str:
    """A moment in an event's data: its time of day, with the date when that is another day."""
    at, then = datetime.fromtimestamp(event.at / 1000, UTC), datetime.fromisoformat(event.data[field])
    day = "" if then.date() == at.date() else then.strftime(" on %d %B").replace(" 0", " ")
    return then.strftime("%H:%M:%S") + day
