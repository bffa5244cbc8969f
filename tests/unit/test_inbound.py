"""Who calls in: what waits for them, and that it changes nothing for the others."""

from __future__ import annotations

import pytest

from handoff import attempts, calling_back, inbound, lifecycle
from handoff.changes import Rules, open_calls
from handoff.effects import EffectKind
from handoff.models import CallsBack, Handoff, Proof
from handoff.policy import Contact
from handoff.states import CallState, CloseReason, Disposition, State

from .lives import ADA, BEN, NOW, RULES, after, calls_of, check, handoff_in, opened, rules, word

CY = Contact(id="cy", name="Cy", numbers=("+12125550125",))


def entered(handoff: Handoff, contact: Contact = ADA) -> Handoff:
    """After this contact called in and was let in to it."""
    change = inbound.enter(handoff, contact, contact.number, "ca_in", "CA1", Proof.KEYPRESS_PIN, NOW)
    check(handoff, change)
    return change.handoff


def missed(handoff: Handoff, by: Rules, at: int) -> Handoff:
    """The newest call of ours was not answered."""
    change = attempts.end_attempt(handoff, open_calls(handoff)[-1].id, Disposition.NO_ANSWER, by, at)
    assert change is not None
    return change.handoff


def test_the_most_urgent_comes_first_and_then_the_newest() -> None:
    old, new = opened(), opened().model_copy(update={"created_at": NOW + 1})
    urgent = opened(urgency="high").model_copy(update={"created_at": NOW - 1})
    assert inbound.waiting([old, urgent, new, old], ADA, RULES, NOW) == [urgent, new, old]


def test_what_a_later_step_would_reach_them_for_waits_for_them_too() -> None:
    handoff = opened()
    assert inbound.waiting([handoff], BEN, RULES, NOW) == [handoff]
    assert inbound.waiting([handoff], CY, RULES, NOW) == []


@pytest.mark.parametrize("state", [State.RESOLVED, State.DECLINED, State.EXPIRED, State.CANCELLED])
def test_what_is_over_waits_for_nobody(state: State) -> None:
    assert inbound.waiting([handoff_in(state)], ADA, RULES, NOW) == []
    assert inbound.waiting([opened()], ADA, RULES, opened().deadline) == []


def test_what_somebody_has_waits_for_them_alone_and_what_enrols_for_nobody() -> None:
    held = handoff_in(State.ACKNOWLEDGED)
    assert inbound.waiting([held], ADA, RULES, NOW) == [held]
    assert inbound.waiting([held], BEN, RULES, NOW) == []
    assert inbound.waiting([opened().model_copy(update={"enrols": True})], ADA, RULES, NOW) == []
    assert inbound.waiting([opened(notify="none")], ADA, RULES, NOW) == []


def test_a_call_to_us_is_on_the_record_answered_and_with_what_was_shown() -> None:
    change = inbound.enter(opened(), ADA, ADA.number, "ca_in", "CA1", Proof.KEYPRESS_CODE, NOW)
    [call] = change.calls
    assert (call.state, call.inbound, call.proof) == (CallState.ANSWERED, True, Proof.KEYPRESS_CODE)
    assert [effect.kind for effect in change.effects] == [EffectKind.RECONCILE_CALL]
    assert change.events[-1].type == "called_in"


def test_it_neither_holds_the_ladder_up_nor_moves_it_on() -> None:
    before = opened()
    ringing = calls_of(before)[0]
    handoff = entered(before)
    assert open_calls(handoff) == [ringing]
    went = attempts.end_attempt(handoff, ringing.id, Disposition.NO_ANSWER, RULES, NOW)
    assert went is not None and went.calls[0].contact == "ben", "Ben is rung while Ada listens"


def test_a_call_to_us_that_is_lost_track_of_rings_nobody_on_another_number() -> None:
    two = Contact(id="ada", name="Ada", numbers=(ADA.number, "+12125550126"))
    by = rules((two,), (BEN,))
    handoff = entered(opened(by=by), two)
    left = attempts.end_attempt(handoff, calls_of(handoff)[-1].id, Disposition.UNKNOWN, by, NOW)
    assert left is not None and not left.calls and left.handoff.position == handoff.position


def test_who_called_in_is_told_when_somebody_else_settles_it() -> None:
    handoff = entered(opened())
    done = lifecycle.resolve(handoff, word("ben"), RULES, NOW)
    assert done.change is not None
    assert "ca_in" in {effect.subject for effect in done.change.effects if effect.kind is EffectKind.HANG_UP}


def test_a_wait_that_is_over_while_they_are_called_back_rings_nobody_beside_them() -> None:
    by = rules((ADA,), rounds=2, wait_s=60)
    handoff = missed(opened(by=by), by, NOW + 25_000)
    due = handoff.next_step_at
    assert due is not None
    back = inbound.call_back(handoff, ADA, ADA.number, "ca_b", by, due - 1)
    assert back is not None
    over = lifecycle.next_step(back.handoff, due, by, due)
    assert over is not None and not over.calls and over.handoff.next_step_at is None
    assert len(calls_of(missed(over.handoff, by, due + 9_000))) == 3, "and then it goes on"


def test_nobody_is_unreachable_while_they_are_on_the_line() -> None:
    handoff = entered(opened(by=rules((BEN,)), on_exhausted="fail"))
    ringing, calling = calls_of(handoff)
    missed_ben = attempts.end_attempt(handoff, ringing.id, Disposition.NO_ANSWER, rules((BEN,)), NOW)
    assert missed_ben is not None and not missed_ben.handoff.closed and missed_ben.handoff.exhausted
    left = attempts.end_attempt(missed_ben.handoff, calling.id, Disposition.HUNG_UP, RULES, NOW)
    assert left is not None and left.handoff.close_reason is CloseReason.UNREACHABLE


def test_a_call_back_goes_to_their_own_number_unless_it_rings_already() -> None:
    ringing = opened()
    assert inbound.call_back(ringing, ADA, ADA.number, "ca_b", RULES, NOW) is None
    change = inbound.call_back(ringing, BEN, BEN.number, "ca_b", RULES, NOW)
    assert change is not None
    check(ringing, change)
    assert [(call.number, call.back) for call in change.calls] == [(BEN.number, "caller")]
    [effect] = change.effects
    assert effect.kind is EffectKind.PLACE_CALL and effect.due > NOW, "their line has to be free first"
    held = after(lifecycle.acknowledge(opened(), word(), RULES, NOW))
    assert inbound.call_back(held, BEN, BEN.number, "ca_b", RULES, NOW) is None


def test_a_caller_id_alone_brings_two_calls_back_for_a_handoff_and_takes_none_of_the_contacts_own() -> None:
    handoff = opened()
    for number in range(inbound.MOST_BACKS):
        change = inbound.call_back(handoff, BEN, BEN.number, f"ca_{number}", RULES, NOW)
        assert change is not None and change.calls[0].api_key == handoff.api_key, "it counts for its key"
        went = attempts.end_attempt(
            change.handoff, change.handoff.attempts[-1].id, Disposition.NO_ANSWER, RULES, NOW
        )
        assert went is not None
        handoff = went.handoff
    assert inbound.call_back(handoff, BEN, BEN.number, "ca_9", RULES, NOW) is None
    asked = [one for one in handoff.attempts if one.back is not None]
    assert len(asked) == 2 and {one.back for one in asked} == {CallsBack.CALLER}
    on_the_line = asked[0].model_copy(update={"ended_at": None, "disposition": None})
    assert calling_back.may_ask(handoff, on_the_line, RULES, NOW)
