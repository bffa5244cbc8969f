"""The life of a handoff: every command in every state, the deadline, and words that come too late."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from handoff import lifecycle
from handoff.changes import Decided
from handoff.late import MAX_LATE_ANSWERS
from handoff.models import ActorKind, EventType, Handoff
from handoff.moments import DAY
from handoff.states import CLOSED, CloseReason, Kind, State, Trigger

from .lives import AGENT, NOW, RULES, after, calls_of, check, check_closed, handoff_in, opened, resolve, word

#: Every command as somebody gives it in time: what it asks for, and the call.
COMMANDS: dict[str, tuple[Trigger, Callable[[Handoff, int], Decided]]] = {
    "acknowledge": (
        Trigger.ACKNOWLEDGE,
        lambda handoff, now: lifecycle.acknowledge(handoff, word(at=now), RULES, now),
    ),
    "pass_on": (
        Trigger.PASS_ON,
        lambda handoff, now: lifecycle.pass_on(
            handoff, word(at=now), RULES, now, attempt=calls_of(handoff)[0].id
        ),
    ),
    "resolve": (Trigger.RESOLVE, resolve),
    "decline": (Trigger.DECLINE, lambda handoff, now: lifecycle.decline(handoff, word(at=now), RULES, now)),
    "cancel": (
        Trigger.CANCEL,
        lambda handoff, now: lifecycle.cancel(handoff, AGENT, CloseReason.AGENT, RULES, now),
    ),
    "expire": (Trigger.EXPIRE, lambda handoff, now: lifecycle.expire(handoff, RULES, now)),
    "lapse": (
        Trigger.LAPSE,
        lambda handoff, now: lifecycle.lapse(handoff, handoff.acknowledged_until, RULES, now),
    ),
}
#: What a person says; too late, it leaves a line on the timeline.
DECISIONS = ("acknowledge", "pass_on", "resolve", "decline")


def may(name: str, state: State) -> bool:
    """The rules in the words of the design, beside the table in states.py that they must agree with."""
    if state in CLOSED:
        return False
    return state is State.ACKNOWLEDGED if name == "lapse" else True


CELLS = [(name, state) for name in COMMANDS for state in State if (name, state) != ("pass_on", State.PENDING)]


def moment_for(name: str, handoff: Handoff) -> int:
    if name == "expire":
        return handoff.deadline
    if name == "lapse" and handoff.acknowledged_until is not None:
        return handoff.acknowledged_until
    if name == "acknowledge" and handoff.acknowledged_until is not None:
        return handoff.acknowledged_until - 1  # said again at once it would change nothing
    return max(NOW, handoff.closed_at or 0) + 1


@pytest.mark.parametrize("kind", [Kind.CLEAR, Kind.ASK])
@pytest.mark.parametrize(("name", "state"), [cell for cell in CELLS if may(*cell)])
def test_an_allowed_command_wins_and_leads_where_the_table_says(name: str, state: State, kind: Kind) -> None:
    handoff = handoff_in(state, kind)
    asked, command = COMMANDS[name]
    decided = command(handoff, moment_for(name, handoff))
    assert decided.outcome.won and decided.outcome.asked is asked
    assert decided.change is not None
    check(handoff, decided.change)
    ended_as = {"resolve": "resolved", "decline": "declined", "expire": "expired", "cancel": "cancelled"}
    expected = ended_as.get(name, "acknowledged" if name == "acknowledge" else "escalating")
    assert after(decided).state.value == decided.outcome.state.value == expected
    if name in ended_as:
        check_closed(handoff, decided.change)


@pytest.mark.parametrize("kind", [Kind.CLEAR, Kind.ASK])
@pytest.mark.parametrize(("name", "state"), [cell for cell in CELLS if not may(*cell)])
def test_a_command_that_comes_too_late_loses_and_changes_nothing_but_the_late_row(
    name: str, state: State, kind: Kind
) -> None:
    handoff = handoff_in(state, kind)
    asked, command = COMMANDS[name]
    decided = command(handoff, moment_for(name, handoff))
    assert not decided.outcome.won
    assert (decided.outcome.asked, decided.outcome.state) == (asked, state)
    assert decided.outcome.settlement == handoff.settlement and decided.outcome.closed_at == handoff.closed_at
    if name in DECISIONS and state in CLOSED:
        change = decided.change
        assert change is not None
        check(handoff, change)
        assert [event.type for event in change.events] == [EventType.LATE_ANSWER_REFUSED]
        assert not change.effects and not change.drop and not change.calls
        unchanged = {"rev": handoff.rev, "seq": handoff.seq, "late_answers": handoff.late_answers}
        assert change.handoff.model_copy(update=unchanged) == handoff
    else:
        assert decided.change is None


@pytest.mark.parametrize("name", [*DECISIONS, "cancel"])
@pytest.mark.parametrize("state", [State.ESCALATING, State.ACKNOWLEDGED])
def test_the_deadline_beats_a_late_word_although_no_clock_has_ticked(name: str, state: State) -> None:
    handoff = handoff_in(state)
    for now in (handoff.deadline, handoff.deadline + 1, handoff.deadline + DAY):
        decided = COMMANDS[name][1](handoff, now)
        assert not decided.outcome.won
        assert decided.outcome.state is State.EXPIRED and decided.outcome.settlement is None
        assert decided.change is not None
        check(handoff, decided.change)
        closed = after(decided)
        assert (closed.state, closed.close_reason) == (State.EXPIRED, CloseReason.NOBODY)
        assert closed.settlement is None and closed.result is None
        expired = next(event for event in decided.change.events if event.type is EventType.EXPIRED)
        assert expired.by.kind is ActorKind.CLOCK


@pytest.mark.parametrize("name", [*DECISIONS, "cancel"])
def test_one_millisecond_before_the_deadline_a_word_still_counts(name: str) -> None:
    handoff = opened()
    assert COMMANDS[name][1](handoff, handoff.deadline - 1).outcome.won


def test_saying_i_am_on_it_again_and_again_keeps_nothing_new() -> None:
    """A link must not be able to fill the store."""
    handoff = handoff_in(State.ACKNOWLEDGED)
    assert handoff.acknowledged is not None
    decided = lifecycle.acknowledge(handoff, handoff.acknowledged, RULES, handoff.acknowledged.at + 1_000)
    assert decided.outcome.won and decided.change is None


@pytest.mark.parametrize("name", DECISIONS)
def test_a_word_that_the_deadline_beat_is_on_the_timeline_as_refused(name: str) -> None:
    handoff = opened()
    decided = COMMANDS[name][1](handoff, handoff.deadline)
    assert decided.change is not None
    assert EventType.LATE_ANSWER_REFUSED in [event.type for event in decided.change.events]


def test_late_answers_are_bounded_so_that_a_link_can_not_fill_the_store() -> None:
    handoff = handoff_in(State.RESOLVED)
    for number in range(MAX_LATE_ANSWERS):
        handoff = after(lifecycle.decline(handoff, word("ben"), RULES, NOW + 2 + number))
    assert handoff.late_answers == MAX_LATE_ANSWERS
    decided = lifecycle.decline(handoff, word("ben"), RULES, NOW + 99)
    assert decided.change is None and not decided.outcome.won


def test_the_deadline_does_not_come_early() -> None:
    handoff = opened()
    assert lifecycle.expire(handoff, RULES, handoff.deadline - 1).change is None
