"""A person needs more time, and an operator has people rung again."""

from __future__ import annotations

import pytest

from handoff import lifecycle
from handoff.effects import EffectKind, timer_id
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.moments import MINUTE, SECOND
from handoff.states import State

from .lives import DEADLINE, NOW, RULES, after, calls_of, handoff_in, opened, until, word

OPS = Decision(
    by=Actor(kind=ActorKind.OPERATOR, id="ak_9", name="ops"),
    channel=Channel.CONSOLE,
    proof=Proof.CONSOLE,
    at=NOW,
)


def extended(handoff: Handoff, who: str = "ada", now: int = NOW + 1) -> Handoff:
    return after(lifecycle.extend(handoff, word(who), RULES, now))


def test_ten_more_minutes_put_the_deadline_off_and_its_timer_with_it() -> None:
    decided = lifecycle.extend(opened(), word(), RULES, NOW + 1)
    assert decided.change is not None
    assert after(decided).deadline == DEADLINE + 10 * MINUTE
    timers = {one.id: one.due for one in decided.change.effects}
    assert timers[timer_id(EffectKind.DEADLINE, after(decided).id)] == DEADLINE + 10 * MINUTE
    assert [event.type for event in decided.change.events] == ["extended", "acknowledged"]


def test_the_old_deadline_closes_nothing_any_more() -> None:
    assert not lifecycle.expire(extended(opened()), RULES, DEADLINE).outcome.won


def test_who_needs_more_time_has_it_for_as_long() -> None:
    later = extended(opened())
    assert later.state is State.ACKNOWLEDGED
    assert until(later) == NOW + 1 + 10 * MINUTE


def test_more_time_for_what_another_has_leaves_it_with_them() -> None:
    bens = after(lifecycle.acknowledge(opened(), word("ben"), RULES, NOW))
    later = extended(bens)
    assert later.acknowledged == bens.acknowledged
    assert later.deadline == DEADLINE + 10 * MINUTE


def test_people_get_half_an_hour_when_the_agent_said_nothing_and_then_no_more() -> None:
    handoff, now = opened(), NOW
    for _ in range(3):
        handoff = extended(handoff, now=now)
    assert handoff.deadline == DEADLINE + 30 * MINUTE == handoff.latest_deadline
    decided = lifecycle.extend(handoff, word(), RULES, now)
    assert (decided.outcome.won, decided.outcome.state, decided.change) == (False, State.ACKNOWLEDGED, None)


def test_the_agent_bounds_it_and_the_last_step_is_as_long_as_is_left() -> None:
    handoff = extended(opened(max_timeout_s=660))
    assert handoff.deadline == NOW + 660 * SECOND


def test_an_agent_that_allows_no_more_time_is_obeyed() -> None:
    assert not lifecycle.extend(opened(max_timeout_s=600), word(), RULES, NOW).outcome.won


@pytest.mark.parametrize("state", [State.RESOLVED, State.DECLINED, State.EXPIRED, State.CANCELLED])
def test_what_is_over_gets_no_more_time(state: State) -> None:
    decided = lifecycle.extend(handoff_in(state), word(), RULES, NOW + 2)
    assert (decided.outcome.won, decided.outcome.state) == (False, state)


def test_after_the_deadline_it_is_too_late_to_ask_for_more() -> None:
    assert after(lifecycle.extend(opened(), word(), RULES, DEADLINE)).state is State.EXPIRED


def test_people_are_rung_again_from_the_first_step_on() -> None:
    handoff = opened(notify="none")
    assert (handoff.state, calls_of(handoff)) == (State.PENDING, [])
    rung = after(lifecycle.ring_again(handoff, OPS, RULES, NOW + 1))
    assert rung.state is State.ESCALATING
    assert [one.contact for one in calls_of(rung)] == ["ada"]


def test_nobody_is_rung_a_second_time_while_a_phone_may_still_ring() -> None:
    assert not lifecycle.ring_again(opened(), OPS, RULES, NOW + 1).outcome.won


@pytest.mark.parametrize("state", [State.ACKNOWLEDGED, State.RESOLVED, State.CANCELLED])
def test_nobody_is_rung_again_for_what_somebody_has_or_what_is_over(state: State) -> None:
    assert not lifecycle.ring_again(handoff_in(state), OPS, RULES, NOW + 1).outcome.won


def test_nobody_is_rung_for_a_handoff_that_rings_nobody_when_a_pause_runs_out() -> None:
    held = after(lifecycle.acknowledge(opened(notify="none"), word(), RULES, NOW))
    lapsed = after(lifecycle.lapse(held, until(held), RULES, until(held)))
    assert (lapsed.state, lapsed.attempts) == (State.ESCALATING, ())


def test_where_an_operator_had_people_rung_the_ladder_goes_on_when_a_pause_runs_out() -> None:
    rung = after(lifecycle.ring_again(opened(notify="none"), OPS, RULES, NOW))
    held = after(lifecycle.acknowledge(rung, word(), RULES, NOW))
    lapsed = after(lifecycle.lapse(held, until(held), RULES, until(held)))
    assert [one.contact for one in calls_of(lapsed)] == ["ada", "ben"]


def test_an_operator_and_a_contact_with_the_same_id_are_two() -> None:
    held = after(lifecycle.acknowledge(opened(), word("ops"), RULES, NOW))
    assert held.held_by(ActorKind.CONTACT, "ops")
    assert not held.held_by(ActorKind.OPERATOR, "ops")


def test_a_handoff_that_rings_nobody_says_where_its_page_is_and_one_that_rings_does_not() -> None:
    rules = RULES.model_copy(update={"public_url": "https://handoff.example.com"})
    silent = opened(notify="none", by=rules)
    assert silent.page_url == f"https://handoff.example.com/p/{silent.id}"
    assert opened(by=rules).page_url is None
