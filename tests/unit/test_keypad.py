"""One table decides what a key does and what is read about it."""

from __future__ import annotations

import pytest

from handoff.models import Handoff
from handoff.states import Kind, State
from voice.keypad import Action, keys_for, meaning


def handoff(kind: Kind, state: State = State.ESCALATING) -> Handoff:
    """A handoff of this kind; nothing else about it matters to the keypad."""
    return Handoff(
        id="ho_1",
        kind=kind,
        state=state,
        reason="A checkbox is blocking checkout",
        agent="shopper",
        api_key="ak_1",
        timeout_s=600,
        policy="default",
        created_at=0,
        deadline=600_000,
    )


def test_a_wall_can_be_done_taken_refused_passed_on_and_heard_again() -> None:
    keys = keys_for(handoff(Kind.CLEAR), has_next=True)
    assert [(key.digit, key.action) for key in keys] == [
        ("1", Action.YES),
        ("3", Action.ACKNOWLEDGE),
        ("2", Action.NO),
        ("0", Action.NEXT),
        ("*", Action.REPEAT),
        ("8", Action.STOP),
    ]


def test_a_question_is_never_answered_by_a_single_key() -> None:
    keys = keys_for(handoff(Kind.ASK), has_next=True)
    assert meaning(keys, "1") is None
    assert {key.digit for key in keys} == {"3", "2", "0", "*", "8"}


def test_nobody_is_offered_a_next_person_who_does_not_exist() -> None:
    for kind in Kind:
        keys = keys_for(handoff(kind), has_next=False)
        assert meaning(keys, "0") is None
        assert not any("next person" in key.words for key in keys)


def test_who_called_us_can_stop_no_number() -> None:
    """A caller's number is only said to be theirs."""
    assert meaning(keys_for(handoff(Kind.CLEAR), has_next=True, inbound=True), "8") is None


def test_a_closed_handoff_has_no_keys() -> None:
    for state in (State.RESOLVED, State.DECLINED, State.EXPIRED, State.CANCELLED):
        assert keys_for(handoff(Kind.CLEAR, state), has_next=True) == ()


@pytest.mark.parametrize("pressed", ["", "4", "11", "#", " 1", "1 ", "one", "\u0661"])
def test_anything_that_is_no_key_of_the_menu_means_nothing(pressed: str) -> None:
    # The last one is an Arabic-Indic digit one: int() would take it, the keypad does not.
    assert meaning(keys_for(handoff(Kind.CLEAR), has_next=True), pressed) is None


def test_every_kind_can_be_refused_taken_and_heard_again_and_no_digit_means_two_things() -> None:
    for kind in Kind:
        keys = keys_for(handoff(kind), has_next=True)
        assert len({key.digit for key in keys}) == len(keys)
        assert {Action.NO, Action.ACKNOWLEDGE, Action.REPEAT} <= {key.action for key in keys}
        assert all(key.words and meaning(keys, key.digit) is key.action for key in keys)


def test_a_star_is_read_as_a_word() -> None:
    spoken = [key.spoken for key in keys_for(handoff(Kind.CLEAR), has_next=False)]
    assert spoken == ["1", "3", "2", "star", "8"]
