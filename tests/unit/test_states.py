"""The state machines as data: complete, reachable, closed at their ends, and drawn as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from handoff import states
from handoff.states import (
    CALL_TRANSITIONS,
    CLOSE_REASONS,
    CLOSED,
    TRANSITIONS,
    CallState,
    CloseReason,
    Disposition,
    State,
    Trigger,
    may_move,
    target,
)

DOCUMENT = Path(__file__).parents[2] / "docs" / "states.md"
OPEN = [state for state in State if state not in CLOSED]
CLOSING = {
    Trigger.RESOLVE: State.RESOLVED,
    Trigger.DECLINE: State.DECLINED,
    Trigger.EXPIRE: State.EXPIRED,
    Trigger.CANCEL: State.CANCELLED,
}
#: A call's states in the order in which it goes through them; PLACING alone may fall back, to DUE.
FORWARD = list(CallState)


def test_every_state_has_its_row_and_every_row_leads_to_a_state() -> None:
    assert set(TRANSITIONS) == set(State)
    assert {to for edges in TRANSITIONS.values() for to in edges.values()} <= set(State)
    assert {trigger for edges in TRANSITIONS.values() for trigger in edges} == set(Trigger)


def test_every_question_to_the_table_has_an_answer() -> None:
    for state in State:
        for trigger in Trigger:
            to = target(state, trigger)
            assert to is None or isinstance(to, State)


def test_every_state_can_be_reached_from_the_opening() -> None:
    reached = {State.PENDING}
    while more := {to for state in reached for to in TRANSITIONS[state].values()} - reached:
        reached |= more
    assert reached == set(State)


def test_nothing_leads_back_to_pending() -> None:
    away = {state: set(edges.values()) for state, edges in TRANSITIONS.items() if state is not State.PENDING}
    assert State.PENDING not in set().union(*away.values())


@pytest.mark.parametrize("state", OPEN)
def test_every_open_state_can_be_resolved_declined_expired_and_cancelled(state: State) -> None:
    assert {trigger: target(state, trigger) for trigger in CLOSING} == CLOSING


def test_the_four_ways_to_close_are_the_only_ends_and_lead_nowhere() -> None:
    assert set(CLOSING.values()) == CLOSED
    for state in CLOSED:
        assert [target(state, trigger) for trigger in Trigger] == [None] * len(Trigger)


@pytest.mark.parametrize("trigger", Trigger)
def test_a_trigger_leads_to_one_state_from_wherever_it_may_happen_or_leaves_it_as_it_is(
    trigger: Trigger,
) -> None:
    leads = {state: edges[trigger] for state, edges in TRANSITIONS.items() if trigger in edges}
    assert len(set(leads.values())) == 1 or all(to is state for state, to in leads.items())


def test_only_an_acknowledgement_can_lapse() -> None:
    assert [state for state in State if target(state, Trigger.LAPSE)] == [State.ACKNOWLEDGED]


def test_a_step_never_starts_while_somebody_has_it() -> None:
    assert target(State.ACKNOWLEDGED, Trigger.START_STEP) is None


def test_close_reasons_are_there_for_closed_states_only_and_every_reason_is_used() -> None:
    assert set(CLOSE_REASONS) == CLOSED
    assert set().union(*CLOSE_REASONS.values()) == set(CloseReason)
    assert all(CLOSE_REASONS.values())


def test_silence_is_never_a_persons_yes_or_no() -> None:
    assert CLOSE_REASONS[State.EXPIRED] == {CloseReason.NOBODY, CloseReason.UNREACHABLE}
    by_a_person = {state for state, reasons in CLOSE_REASONS.items() if CloseReason.PERSON in reasons}
    assert by_a_person == {State.RESOLVED, State.DECLINED}
    shared = {
        reason for reason in CloseReason if sum(reason in reasons for reasons in CLOSE_REASONS.values()) > 1
    }
    assert shared == {CloseReason.PERSON}


def test_every_call_state_has_its_row_and_can_be_reached() -> None:
    assert set(CALL_TRANSITIONS) == set(CallState)
    reached = {CallState.DUE}
    while more := {to for state in reached for to in CALL_TRANSITIONS[state]} - reached:
        reached |= more
    assert reached == set(CallState)


@pytest.mark.parametrize("old", CallState)
def test_a_call_never_goes_back_but_from_placing_to_due(old: CallState) -> None:
    back = {new for new in CALL_TRANSITIONS[old] if FORWARD.index(new) <= FORWARD.index(old)}
    assert back == ({CallState.DUE} if old is CallState.PLACING else set())


def test_an_ended_call_stays_ended_and_every_other_can_end() -> None:
    assert not CALL_TRANSITIONS[CallState.ENDED]
    assert [old for old in CallState if may_move(old, CallState.ENDED)] == FORWARD[:-1]


def test_a_call_is_created_only_from_due_so_a_lost_create_is_never_repeated() -> None:
    assert [old for old in CallState if may_move(old, CallState.PLACING)] == [CallState.DUE]
    assert not may_move(CallState.UNKNOWN, CallState.DUE)


def test_a_calls_state_is_never_a_handoffs_state_and_only_unknown_is_also_a_disposition() -> None:
    assert not {state.value for state in CallState} & {state.value for state in State}
    assert {state.value for state in CallState} & {one.value for one in Disposition} == {"unknown"}


def test_the_document_draws_every_transition_and_no_other() -> None:
    text = states.document()
    arrows = [line.strip() for line in text.splitlines() if "-->" in line]
    expected = [f"{old} --> {to}: {how}" for old, edges in TRANSITIONS.items() for how, to in edges.items()]
    expected += [f"{old} --> {new}" for old in CallState for new in CallState if may_move(old, new)]
    expected += [f"{state} --> [*]" for state in CLOSED] + ["ended --> [*]"]
    expected += ["[*] --> pending: open", "[*] --> due"]
    assert sorted(arrows) == sorted(expected)


def test_docs_states_md_is_fresh() -> None:
    assert DOCUMENT.read_text() == states.document(), "run: python -m handoff states > docs/states.md"
