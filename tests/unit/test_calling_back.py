"""Who is called back, when, and how often. How it sounds is told in tests/scenarios/test_calls_back.py."""

from __future__ import annotations

import pytest

from handoff import attempts, calling_back, lifecycle
from handoff.changes import Change, Rules, open_calls
from handoff.models import Attempt, CallsBack, Channel, EventType, Handoff
from handoff.moments import MINUTE, SECOND
from handoff.quiet import parse_hours
from handoff.states import Disposition
from tests.unit.lives import ADA, BEN, DEADLINE, NOW, RULES, after, attempt, calls_of, opened, rules, word
from voice.keypad import Action, keys_for
from voice.speech import span


def newest(handoff: Handoff) -> Attempt:
    return calls_of(handoff)[-1]


def ended(
    handoff: Handoff, how: Disposition, *, was_answered: bool = True, by: Rules = RULES, now: int = NOW + 9
) -> Change:
    """The newest call ended like this."""
    change = attempts.end_attempt(handoff, newest(handoff).id, how, by, now, was_answered=was_answered)
    assert change is not None
    return change


def asks(handoff: Handoff, now: int = NOW) -> Change:
    """Whoever is on the newest call presses 9."""
    decided = lifecycle.call_back(handoff, word(at=now), RULES, now, attempt=newest(handoff).id)
    assert decided.change is not None and decided.outcome.won
    return decided.change


def reached(handoff: Handoff) -> list[tuple[str, CallsBack | None]]:
    return [(one.contact, one.back) for one in calls_of(handoff)]


def may_ask(handoff: Handoff, now: int = NOW, by: Rules = RULES) -> bool:
    return calling_back.may_ask(handoff, newest(handoff), by, now)


@pytest.mark.parametrize("how", [Disposition.HUNG_UP, Disposition.PROVIDER_ERROR])
def test_who_was_cut_off_is_called_again_at_once_on_the_same_number(how: Disposition) -> None:
    change = ended(opened(), how)
    [call] = change.calls
    assert (call.number, call.back, call.due_at) == (ADA.number, CallsBack.DROPPED, None)
    assert [effect.due for effect in change.effects if effect.subject == call.id] == [NOW + 9]
    assert reached(change.handoff) == [("ada", None), ("ada", CallsBack.DROPPED)]
    told = next(event for event in change.events if event.type is EventType.CALLS_BACK)
    assert (told.data["contact"], told.data["why"]) == ("ada", "dropped")
    assert calls_of(change.handoff)[0].disposition is how


def test_the_second_drop_goes_on_to_the_next_person() -> None:
    again = ended(opened(), Disposition.HUNG_UP).handoff
    on = ended(again, Disposition.HUNG_UP).handoff
    assert reached(on) == [("ada", None), ("ada", CallsBack.DROPPED), ("ben", None)]


def test_it_is_once_for_each_contact_and_not_for_each_step() -> None:
    twice = rules((ADA,), (ADA,))
    handoff = ended(opened(by=twice), Disposition.HUNG_UP, by=twice).handoff
    handoff = ended(handoff, Disposition.NO_ANSWER, by=twice, was_answered=False).handoff
    handoff = ended(handoff, Disposition.HUNG_UP, by=twice).handoff
    assert reached(handoff) == [("ada", None), ("ada", CallsBack.DROPPED), ("ada", None)]
    assert handoff.exhausted


@pytest.mark.parametrize("how", [one for one in Disposition if one not in calling_back.CUT_OFF])
def test_every_other_end_of_a_call_goes_on(how: Disposition) -> None:
    assert reached(ended(opened(), how).handoff)[1:] == [("ben", None)]


def test_a_call_that_nobody_answered_was_not_cut_off() -> None:
    change = ended(opened(), Disposition.PROVIDER_ERROR, was_answered=False)
    assert reached(change.handoff)[1:] == [("ben", None)]


def test_who_has_said_something_is_not_called_back() -> None:
    before = opened()
    taken = after(lifecycle.acknowledge(before, word(), RULES, NOW, attempt=newest(before).id))
    assert not ended(taken, Disposition.HUNG_UP).calls
    passed = after(lifecycle.pass_on(before, word(), RULES, NOW, attempt=newest(before).id))
    change = attempts.end_attempt(
        passed, newest(before).id, Disposition.HUNG_UP, RULES, NOW + 9, was_answered=True
    )
    assert change is not None and not change.calls


def test_whose_number_was_taken_out_or_who_sleeps_by_now_is_not_called_back() -> None:
    moved = rules((ADA.model_copy(update={"numbers": ("+12125550199",)}),), (BEN,))
    assert reached(ended(opened(), Disposition.HUNG_UP, by=moved).handoff)[1:] == [("ben", None)]
    asleep = rules((ADA.model_copy(update={"quiet_hours": (parse_hours("07:00-12:00"),)}),), (BEN,))
    assert reached(ended(opened(), Disposition.HUNG_UP, by=asleep).handoff)[1:] == [("ben", None)]


def test_9_is_a_call_in_two_minutes_and_until_then_nobody_else_is_rung() -> None:
    change = asks(opened())
    [call] = change.calls
    assert (call.number, call.back, call.due_at) == (ADA.number, CallsBack.ASKED, NOW + 2 * MINUTE)
    assert [effect.due for effect in change.effects if effect.subject == call.id] == [NOW + 2 * MINUTE]
    first = calls_of(change.handoff)[0]
    assert first.disposition is Disposition.CALL_BACK
    over = attempts.end_attempt(
        change.handoff, first.id, Disposition.HUNG_UP, RULES, NOW + 9, was_answered=True
    )
    assert over is not None and not over.calls and open_calls(over.handoff)
    assert attempt(over.handoff, first.id).disposition is Disposition.CALL_BACK
    later = ended(over.handoff, Disposition.NO_ANSWER, was_answered=False, now=NOW + 3 * MINUTE).handoff
    assert reached(later) == [("ada", None), ("ada", CallsBack.ASKED), ("ben", None)]


def test_9_is_offered_twice_and_only_while_it_helps() -> None:
    handoff = opened()
    assert may_ask(handoff)
    assert may_ask(handoff, DEADLINE - 3 * MINUTE - 1) and not may_ask(handoff, DEADLINE - 3 * MINUTE)
    taken = after(lifecycle.acknowledge(handoff, word(), RULES, NOW, attempt=newest(handoff).id))
    assert not may_ask(taken)
    once = asks(handoff).handoff
    twice = asks(once, NOW + SECOND).handoff
    assert not may_ask(twice)
    refused = lifecycle.call_back(twice, word(), RULES, NOW, attempt=newest(twice).id)
    assert refused.change is None and not refused.outcome.won


def test_9_is_not_offered_into_quiet_hours_nor_to_who_called_us() -> None:
    handoff = opened()
    asleep_soon = ADA.model_copy(update={"quiet_hours": (parse_hours("08:02-12:00"),)})
    assert not may_ask(handoff, by=rules((asleep_soon,), (BEN,)))
    texts_only = ADA.model_copy(update={"channels": (Channel.TEXT,)})
    assert not may_ask(handoff, by=rules((texts_only,), (BEN,)))
    called_in = newest(handoff).model_copy(update={"inbound": True})
    assert not calling_back.may_ask(handoff, called_in, RULES, NOW)


def test_the_menu_says_how_long_it_takes() -> None:
    handoff = opened()
    [key] = [
        one for one in keys_for(handoff, has_next=True, calls_back=True) if one.action is Action.CALL_BACK
    ]
    assert span(calling_back.WAIT_MS) in key.words
    assert all(one.digit != "9" for one in keys_for(handoff, has_next=True))
