"""What happened, in sentences: every kind of event has words, and they answer "who pressed what?"."""

from __future__ import annotations

import pytest

from handoff import attempts, lifecycle
from handoff.changes import Change
from handoff.models import Actor, ActorKind, Call, Channel, Event, EventType, Handoff, Proof
from handoff.moments import SECOND, rfc3339
from handoff.states import CallState, CloseReason, Disposition, Kind, State, Trigger
from handoff.web import words
from handoff.web.reached import reached
from handoff.web.timeline import KEYS, Tone, lines
from voice.keypad import Action, keys_for

from .lives import ADA, AGENT, BEN, NOW, RULES, after, calls_of, opened, opening, rules, text_of, word

OPS = Actor(kind=ActorKind.OPERATOR, id="ak_2", name="ops")
#: What each type of event carries; a new type without an entry here, or without words, fails.
DATA: dict[EventType, dict[str, object]] = {
    EventType.OPENED: {"deadline": rfc3339(NOW + 600 * SECOND)},
    EventType.STEP_STARTED: {"round": 0, "step": 0, "contacts": ["ada"]},
    EventType.POLICY_EXHAUSTED: {},
    EventType.CALL_HELD: {"contact": "ada", "why": "rate", "until": rfc3339(NOW + 60 * SECOND)},
    EventType.TEXT_HELD: {"contact": "ada", "why": "texts", "until": rfc3339(NOW + 60 * SECOND)},
    EventType.CALL_PLACED: {"contact": "ada"},
    EventType.CALL_UNKNOWN: {"contact": "ada", "detail": "the answer was lost"},
    EventType.CALL_RINGING: {"contact": "ada"},
    EventType.CALL_ANSWERED: {"contact": "ada"},
    EventType.CALLED_IN: {"contact": "ada"},
    EventType.CALLS_BACK: {"contact": "ada", "why": "dropped"},
    EventType.PIN_REFUSED: {"contact": "ada"},
    EventType.MACHINE_HEARD: {"contact": "ada"},
    EventType.OPTED_OUT: {"contact": "ada"},
    EventType.ATTEMPT_ENDED: {"contact": "ada", "channel": "call", "disposition": "voicemail"},
    EventType.TEXT_SENT: {"contact": "ada"},
    EventType.TEXT_MOVED: {"contact": "ada", "disposition": "delivered"},
    EventType.ACKNOWLEDGED: {"until": rfc3339(NOW + 300 * SECOND)},
    EventType.EXTENDED: {"deadline": rfc3339(NOW + 1200 * SECOND)},
    EventType.RUNG_AGAIN: {},
    EventType.LAPSED: {},
    EventType.RESOLVED: {"close_reason": "person", "channel": "call", "result": {"cleared": True}},
    EventType.DECLINED: {"close_reason": "person", "channel": "link", "comment": "no access"},
    EventType.EXPIRED: {"close_reason": "nobody"},
    EventType.CANCELLED: {"close_reason": "operator"},
    EventType.LATE_ANSWER_REFUSED: {"asked": "resolve", "channel": "link", "standing": "resolved"},
    EventType.RESUME_DELIVERED: {"tries": 1},
    EventType.RESUME_FAILED: {"why": "status", "detail": "answered 503", "tries": 1, "given_up": False},
}
HAVING = opened()


def event(type_: EventType, by: Actor = OPS, proof: Proof | None = None, **data: object) -> Event:
    return Event(seq=1, id="e", type=type_, at=NOW, by=by, proof=proof, data=DATA[type_] | data)


def said(one: Event, handoff: Handoff = HAVING, calls: dict[str, Call] | None = None) -> str:
    [line] = lines(handoff, [one], calls or {})
    return line.words


def by(contact: str, type_: EventType, proof: Proof = Proof.KEYPRESS, **data: object) -> str:
    return said(event(type_, word(contact).by, proof, **data))


@pytest.mark.parametrize("type_", list(EventType))
def test_every_type_of_event_has_a_sentence(type_: EventType) -> None:
    sentence = said(event(type_))
    assert sentence.endswith((".", ":")) and type_.value not in sentence
    assert "None" not in sentence and "_" not in sentence and "  " not in sentence


def test_keys_that_were_pressed_are_told_with_what_they_mean() -> None:
    assert by("ada", EventType.RESOLVED) == "Ada pressed 1: it’s done."
    assert by("ada", EventType.DECLINED) == "Ada pressed 2: it can’t be done."
    assert by("ada", EventType.ACKNOWLEDGED).startswith(
        "Ada pressed 3: I’m on it. Nobody else is rung until "
    )
    late = by("ben", EventType.LATE_ANSWER_REFUSED)
    assert late == "Too late: Ben pressed 1: it’s done. It was resolved already; nothing was changed."


def test_the_keys_are_those_of_the_phones_menu() -> None:
    """The voice's table acts; this one only tells."""
    meant = {
        Action.YES: Trigger.RESOLVE,
        Action.NO: Trigger.DECLINE,
        Action.ACKNOWLEDGE: Trigger.ACKNOWLEDGE,
        Action.NEXT: Trigger.PASS_ON,
        Action.CALL_BACK: Trigger.CALL_BACK,
    }
    menu = keys_for(HAVING, has_next=True, calls_back=True)
    assert {meant[key.action]: key.digit for key in menu if key.action in meant} == KEYS


def test_other_ways_to_decide_are_told_by_their_proof() -> None:
    assert by("ben", EventType.RESOLVED, Proof.LINK) == "Ben (link in the text): it’s done."
    refused = lines(HAVING, [event(EventType.DECLINED, word("ben").by, Proof.LINK)], {})[0]
    assert (refused.words, refused.said) == ("Ben (link in the text): it can’t be done.", "no access")
    assert said(event(EventType.RUNG_AGAIN, OPS, Proof.CONSOLE)).startswith(
        "ops (operator’s page): ring again."
    )
    seen = event(EventType.RESOLVED, AGENT, Proof.OBSERVED, close_reason="observed")
    assert said(seen) == "checkout-bot saw that the wall is gone."


def test_who_only_showed_a_number_is_not_said_to_be_its_owner() -> None:
    back = event(EventType.CALLS_BACK, contact="ada", why="caller")
    assert said(back) == "A caller who showed Ada’s number asked to be called back: Ada is called again."


def test_every_proof_and_disposition_and_state_has_words() -> None:
    assert set(words.PROOFS) == set(Proof)
    assert set(words.CALL_ENDS) == set(words.TEXT_ENDS) == set(Disposition)
    assert set(words.STATES) == set(State)


def test_an_answer_is_kept_apart_from_our_own_words() -> None:
    asked = opened(Kind.ASK)
    one = event(EventType.RESOLVED, word("ada").by, Proof.LINK, result={"kind": "ask", "answer": "<b>1</b>"})
    [line] = lines(asked, [one], {})
    assert (line.words, line.said) == ("Ada answered (link in the text):", "<b>1</b>")
    assert line.tone is Tone.DECISION


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (CloseReason.OPERATOR, "ops withdrew it."),
        (CloseReason.AGENT, "ops withdrew it."),
        (CloseReason.AGENT_GONE, "It was withdrawn: checkout-bot had stopped waiting."),
    ],
)
def test_a_withdrawal_says_whose_it_was(reason: CloseReason, sentence: str) -> None:
    assert said(event(EventType.CANCELLED, close_reason=reason)) == sentence


def test_silence_is_told_as_silence() -> None:
    assert "Time ran out" in said(event(EventType.EXPIRED))
    unreachable = event(EventType.EXPIRED, close_reason="unreachable")
    assert said(unreachable) == "It ended: nobody could be reached."


def test_a_moment_on_another_day_has_its_date() -> None:
    later = event(EventType.OPENED, AGENT, deadline=rfc3339(NOW + 90_000 * SECOND))
    assert said(later).endswith("until 09:00:00 on 16 January.")
    assert said(event(EventType.OPENED, AGENT)).endswith("until 08:10:00.")


def call_of(change: Change, **fields: object) -> Call:
    return change.calls[0].model_copy(update=fields)


def test_who_was_reached_and_what_they_pressed_is_one_row() -> None:
    change = opening()
    attempt = calls_of(change.handoff)[0]
    placed = call_of(
        change,
        state=CallState.ENDED,
        provider_id="CA1",
        answered_at=NOW + 8 * SECOND,
        ended_at=NOW + 20 * SECOND,
        pressed="31",
    )
    handoff = after(lifecycle.resolve(change.handoff, word(), RULES, NOW + 9, attempt=attempt.id))
    ended = attempts.end_attempt(handoff, attempt.id, Disposition.HUNG_UP, RULES, NOW + 20 * SECOND)
    assert ended is not None
    rang = event(EventType.CALL_RINGING, attempt=attempt.id)
    row = reached(ended.handoff, [rang], {placed.id: placed})[0]
    assert (row.name, row.number, row.rang_at, row.answered_at) == ("Ada", "…0123", NOW, NOW + 8 * SECOND)
    assert (row.pressed, row.told, row.lasted_ms, row.good) == ("31", "settled it", 12 * SECOND, True)
    assert row.provider_id == "CA1"


def test_a_key_is_shown_before_the_calls_record_has_it() -> None:
    """The decision is committed a moment before the call's own record tells which key it was."""
    change = opening()
    attempt = calls_of(change.handoff)[0]
    decided = event(EventType.ACKNOWLEDGED, word().by, Proof.KEYPRESS, attempt=attempt.id)
    assert reached(change.handoff, [decided], {})[0].pressed == "3"


def test_whoever_passed_it_on_did_not_say_no() -> None:
    change = opening()
    attempt = calls_of(change.handoff)[0]
    passed = lifecycle.pass_on(change.handoff, word(), RULES, NOW, attempt=attempt.id).change
    assert passed is not None
    row = reached(passed.handoff, passed.events, {})[0]
    assert (row.pressed, row.told) == ("0", "passed it on")
    assert lines(passed.handoff, passed.events, {})[0].words == (
        "Ada pressed 0: not me, the next person; Ben is next."
    )


def test_a_text_says_how_far_it_came_and_why_it_did_not_arrive() -> None:
    handoff = opened()
    text = text_of(handoff)
    waits = next(row for row in reached(handoff, [], {}) if row.channel is Channel.TEXT)
    assert (waits.told, waits.good, waits.asked_at) == ("waits to be sent", None, None)
    moved = attempts.text_moved(
        handoff, text.id, NOW, rank=4, disposition=Disposition.BLOCKED, detail="Twilio error 30034"
    )
    assert moved is not None
    row = next(row for row in reached(moved.handoff, [], {}) if row.channel is Channel.TEXT)
    assert (row.good, row.detail) == (False, "Twilio error 30034") and "blocked" in row.told
    [line] = lines(moved.handoff, moved.events, {})
    assert line.tone is Tone.TROUBLE and line.detail == "Twilio error 30034"


@pytest.mark.parametrize("state", list(CallState))
def test_a_call_that_is_under_way_says_where_it_is(state: CallState) -> None:
    change = opening()
    call = call_of(change, state=state)
    told = reached(change.handoff, [], {call.id: call})[0].told
    assert told and state.value.upper() not in told


def test_people_of_one_step_are_named_together_and_rounds_are_counted() -> None:
    together = opening(by=rules((ADA, BEN)))
    assert lines(together.handoff, together.events, {})[1].words == "Step 1: it is Ada and Ben’s turn."
    again = event(EventType.STEP_STARTED, round=1, step=1, contacts=["ada"])
    assert said(again) == "Round 2, step 2: it is Ada’s turn."


def test_the_list_says_who_has_it_or_who_is_called_or_who_settled_it() -> None:
    handoff = opened()
    assert words.by_whom(handoff) == "Calling Ada"
    assert words.by_whom(after(lifecycle.acknowledge(handoff, word("ben"), RULES, NOW))) == "Ben has it"
    assert words.by_whom(after(lifecycle.resolve(handoff, word(), RULES, NOW))) == "Ada, key on the phone"
    assert words.by_whom(after(lifecycle.expire(handoff, RULES, handoff.deadline))) == "Nobody in time"
    gone = lifecycle.cancel(handoff, AGENT, CloseReason.AGENT, RULES, NOW)
    assert words.by_whom(after(gone)) == "Withdrawn by checkout-bot"
