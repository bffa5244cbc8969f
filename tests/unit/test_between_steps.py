"""From one step to the next: what is waited for, a contact's second number, and a request for one person."""

from __future__ import annotations

from typing import Literal

import pytest

from handoff import lifecycle
from handoff.attempts import end_attempt
from handoff.changes import Rules
from handoff.effects import EffectKind, timer_id
from handoff.errors import Forbidden, Invalid
from handoff.messages import OpenRequest
from handoff.models import Channel, Handoff, Urgency
from handoff.moments import SECOND
from handoff.policy import Contact, EscalationPolicy, People, Step
from handoff.quiet import QuietHours
from handoff.rights import Rights
from handoff.states import Disposition, State

from .lives import ADA, BEN, NOW, after, calls_of, opening, word

ADA_TWICE = Contact(id="ada", name="Ada", numbers=("+12125550123", "+12125550126"))


def rules(*steps: Step, rounds: int = 1) -> Rules:
    contacts = {one.id: one for step in steps for one in step.contacts}
    policy = EscalationPolicy(name="default", steps=steps, rounds=rounds)
    return Rules(people=People(contacts=tuple(contacts.values()), policies=(policy,)))


WAITS = rules(Step(contacts=(ADA,), ring_s=25, wait_s=60), Step(contacts=(BEN,), ring_s=25))
TWO_NUMBERS = rules(Step(contacts=(ADA_TWICE,), ring_s=25), Step(contacts=(BEN,), ring_s=25))


def missed(handoff: Handoff, by: Rules, at: int, how: Disposition = Disposition.NO_ANSWER) -> Handoff:
    """The newest call of it ended like this."""
    change = end_attempt(handoff, calls_of(handoff)[-1].id, how, by, at)
    assert change is not None
    return change.handoff


def rung(handoff: Handoff) -> list[tuple[str, int]]:
    """Who was rung, on which of their numbers."""
    return [(one.contact, one.line) for one in calls_of(handoff)]


def test_the_next_step_begins_when_the_wait_since_this_one_began_is_over() -> None:
    opened = opening(by=WAITS).handoff
    change = end_attempt(opened, calls_of(opened)[0].id, Disposition.NO_ANSWER, WAITS, NOW + 25 * SECOND)
    assert change is not None
    waiting = change.handoff
    due = NOW + 60 * SECOND
    assert rung(waiting) == [("ada", 0)] and waiting.next_step_at == due
    assert [(one.kind, one.due) for one in change.effects] == [(EffectKind.NEXT_STEP, due)]
    assert lifecycle.next_step(waiting, due, WAITS, due - 1) is None
    begun = lifecycle.next_step(waiting, due, WAITS, due)
    assert begun is not None and rung(begun.handoff) == [("ada", 0), ("ben", 0)]
    assert begun.handoff.next_step_at is None
    assert lifecycle.next_step(begun.handoff, due, WAITS, due) is None


def test_a_wait_that_is_over_when_the_call_ends_costs_nothing() -> None:
    assert rung(missed(opening(by=WAITS).handoff, WAITS, NOW + 61 * SECOND)) == [("ada", 0), ("ben", 0)]


def test_passing_it_on_does_not_wait() -> None:
    opened = opening(by=WAITS).handoff
    passed = lifecycle.pass_on(opened, word(), WAITS, NOW + SECOND, attempt=calls_of(opened)[0].id)
    assert rung(after(passed)) == [("ada", 0), ("ben", 0)]


def test_whoever_takes_it_during_the_wait_ends_it() -> None:
    waiting = missed(opening(by=WAITS).handoff, WAITS, NOW + 25 * SECOND)
    taken = lifecycle.acknowledge(waiting, word(), WAITS, NOW + 30 * SECOND)
    assert taken.change is not None
    assert taken.change.handoff.next_step_at is None
    assert timer_id(EffectKind.NEXT_STEP, waiting.id) in taken.change.drop
    assert lifecycle.next_step(taken.change.handoff, NOW + 60 * SECOND, WAITS, NOW + 60 * SECOND) is None


def test_an_operator_who_rings_again_during_the_wait_does_not_ring_twice() -> None:
    waiting = missed(opening(by=WAITS).handoff, WAITS, NOW + 25 * SECOND)
    again = after(lifecycle.ring_again(waiting, word(), WAITS, NOW + 30 * SECOND))
    assert rung(again) == [("ada", 0), ("ada", 0)]
    assert lifecycle.next_step(again, NOW + 60 * SECOND, WAITS, NOW + 60 * SECOND) is None


def test_after_the_last_step_its_wait_is_waited_for_before_the_agent_hears_that_nobody_is_left() -> None:
    alone = rules(Step(contacts=(ADA,), ring_s=25, wait_s=60))
    waiting = missed(opening(by=alone, on_exhausted="fail").handoff, alone, NOW + 25 * SECOND)
    assert waiting.state is State.ESCALATING
    over = lifecycle.next_step(waiting, waiting.next_step_at, alone, NOW + 60 * SECOND)
    assert over is not None and over.handoff.state is State.EXPIRED


@pytest.mark.parametrize(
    "how", [Disposition.BUSY, Disposition.NO_ANSWER, Disposition.INVALID_NUMBER, Disposition.VOICEMAIL]
)
def test_somebody_who_was_not_there_is_tried_on_their_second_number(how: Disposition) -> None:
    first = missed(opening(by=TWO_NUMBERS).handoff, TWO_NUMBERS, NOW + 25 * SECOND, how)
    assert rung(first) == [("ada", 0), ("ada", 1)]
    assert len(first.attempts) == 3, "and gets no second text"
    second = missed(first, TWO_NUMBERS, NOW + 50 * SECOND, how)
    assert rung(second) == [("ada", 0), ("ada", 1), ("ben", 0)]


@pytest.mark.parametrize("how", [Disposition.NO_INPUT, Disposition.HUNG_UP, Disposition.WITHDRAWN])
def test_somebody_who_picked_up_is_not_rung_on_their_other_number(how: Disposition) -> None:
    assert rung(missed(opening(by=TWO_NUMBERS).handoff, TWO_NUMBERS, NOW + SECOND, how)) == [
        ("ada", 0),
        ("ben", 0),
    ]


def test_the_second_number_of_one_is_tried_while_the_other_still_rings() -> None:
    both = rules(Step(contacts=(ADA_TWICE, BEN), ring_s=25))
    opened = opening(by=both).handoff
    change = end_attempt(opened, calls_of(opened)[0].id, Disposition.BUSY, both, NOW + SECOND)
    assert change is not None and rung(change.handoff) == [("ada", 0), ("ben", 0), ("ada", 1)]


def test_a_request_for_one_person_reaches_nobody_else() -> None:
    opened = opening(by=TWO_NUMBERS, contact="ben").handoff
    assert (rung(opened), opened.policy) == ([("ben", 0)], "contact:ben")
    over = missed(opened, TWO_NUMBERS, NOW + SECOND)
    assert rung(over) == [("ben", 0)] and over.exhausted


@pytest.mark.parametrize(("field", "value"), [("policy", "night"), ("contact", "eve")])
def test_nobody_is_rung_for_a_name_that_there_is_not(field: str, value: str) -> None:
    with pytest.raises(Invalid) as refused:
        opening(by=TWO_NUMBERS, **{field: value})
    assert refused.value.errors[0].field == field


def test_a_handoff_whose_policy_was_taken_out_of_the_file_goes_the_default_way() -> None:
    night = EscalationPolicy(name="night", steps=(Step(contacts=(BEN,), ring_s=25),))
    people = TWO_NUMBERS.people
    both = Rules(people=people.model_copy(update={"policies": (*people.policies, night)}))
    opened = opening(by=both, policy="night").handoff
    assert rung(opened) == [("ben", 0)]
    again = after(
        lifecycle.ring_again(missed(opened, both, NOW + SECOND), word(), TWO_NUMBERS, NOW + 2 * SECOND)
    )
    assert rung(again) == [("ben", 0), ("ada", 0)]


# Quiet hours

NIGHT = (QuietHours(begins=0, ends=24 * 60 - 1),)
ASLEEP = ADA.model_copy(update={"quiet_hours": NIGHT})
ONE_ASLEEP = (Step(contacts=(ASLEEP,), ring_s=25), Step(contacts=(BEN,), ring_s=25))


def quiet_rules(quiet: Literal["text", "wait", "skip"], *steps: Step) -> Rules:
    people = rules(*(steps or ONE_ASLEEP)).people
    policy = people.default.model_copy(update={"quiet": quiet})
    return Rules(people=people.model_copy(update={"policies": (policy,)}))


def texted(handoff: Handoff) -> list[str]:
    return [one.contact for one in handoff.attempts if one.channel is Channel.TEXT]


def test_whoever_sleeps_gets_a_text_and_the_next_one_is_rung_a_ring_time_later() -> None:
    by = quiet_rules("text")
    opened = opening(by=by).handoff
    assert (rung(opened), texted(opened)) == ([], ["ada"])
    assert opened.state is State.ESCALATING and opened.next_step_at == NOW + 25 * SECOND
    later = lifecycle.next_step(opened, opened.next_step_at, by, NOW + 25 * SECOND)
    assert later is not None and rung(later.handoff) == [("ben", 0)]


def test_what_is_critical_rings_through() -> None:
    assert rung(opening(by=quiet_rules("text"), urgency="critical").handoff) == [("ada", 0)]


@pytest.mark.parametrize("urgency", ["low", "normal", "high", None])
def test_nothing_less_does(urgency: str | None) -> None:
    assert rung(opening(by=quiet_rules("text"), urgency=urgency).handoff) == []


def test_waiting_for_the_morning_rings_the_same_person_then() -> None:
    by = quiet_rules("wait")
    opened = opening(by=by, timeout_s=2 * 86_400).handoff
    morning = opened.next_step_at
    assert (rung(opened), texted(opened)) == ([], ["ada"])
    assert morning is not None and morning == ASLEEP.quiet_until(NOW)
    begun = lifecycle.next_step(opened, morning, by, morning)
    assert begun is not None and rung(begun.handoff) == [("ada", 0)]
    assert texted(begun.handoff) == ["ada"], "one text is enough"


def test_a_policy_that_skips_rings_who_is_awake_at_once_and_lets_sleepers_sleep() -> None:
    opened = opening(by=quiet_rules("skip")).handoff
    assert (rung(opened), texted(opened)) == ([("ben", 0)], ["ben"])


def test_where_everybody_sleeps_skipping_ends_with_texts_to_all() -> None:
    sleepers = [one.model_copy(update={"quiet_hours": NIGHT}) for one in (ADA, BEN)]
    by = quiet_rules("skip", *(Step(contacts=(one,), ring_s=25) for one in sleepers))
    first = opening(by=by).handoff
    second = lifecycle.next_step(first, first.next_step_at, by, NOW + 25 * SECOND)
    assert second is not None and (rung(second.handoff), texted(second.handoff)) == ([], ["ada", "ben"])


def test_of_two_who_are_rung_together_only_the_one_who_is_awake_is_rung() -> None:
    opened = opening(by=quiet_rules("text", Step(contacts=(ASLEEP, BEN), ring_s=25))).handoff
    assert (rung(opened), texted(opened)) == ([("ben", 0)], ["ada", "ben"])
    assert opened.next_step_at is None, "the step goes on for as long as Ben's phone rings"


def test_whoever_takes_no_calls_is_texted_and_given_the_time_to_read() -> None:
    texts_only = ADA.model_copy(update={"channels": (Channel.TEXT,)})
    by = rules(Step(contacts=(texts_only,), ring_s=25), Step(contacts=(BEN,), ring_s=25))
    opened = opening(by=by).handoff
    assert (rung(opened), texted(opened), opened.next_step_at) == ([], ["ada"], NOW + 25 * SECOND)


def test_whoever_takes_no_texts_is_only_rung() -> None:
    calls_only = ADA.model_copy(update={"channels": (Channel.CALL,)})
    opened = opening(by=rules(Step(contacts=(calls_only,), ring_s=25))).handoff
    assert (rung(opened), texted(opened)) == ([("ada", 0)], [])


# What a key may ask for


def asked(rights: Rights, **fields: object) -> Handoff:
    request = OpenRequest.model_validate({"kind": "clear", "reason": "A wall", **fields})
    return lifecycle.open_handoff(
        request, agent="bot", api_key="ak_1", rules=TWO_NUMBERS, now=NOW, rights=rights
    ).handoff


@pytest.mark.parametrize(
    ("rights", "fields", "word"),
    [
        (Rights(policies=("night",)), {}, "'default'"),
        (Rights(policies=()), {"policy": "default"}, "'default'"),
        (Rights(contacts=("ben",)), {"contact": "ada"}, "ask for 'ada'"),
        (Rights(contacts=("ben",)), {"contact": "nobody"}, "ask for 'nobody'"),  # nobody is found by trying
        (Rights(policies=("night",)), {"policy": "none-such"}, "'none-such'"),
        (Rights(urgency=Urgency.NORMAL), {"urgency": "critical"}, "normal at most"),
    ],
)
def test_a_key_can_not_ask_for_more_than_it_may(rights: Rights, fields: dict[str, str], word: str) -> None:
    with pytest.raises(Forbidden, match=word):
        asked(rights, **fields)


def test_within_its_rights_a_key_asks_as_it_likes() -> None:
    assert asked(Rights(contacts=("ben",)), contact="ben").contact == "ben"
    assert asked(Rights(urgency=Urgency.HIGH), urgency="high").urgency is Urgency.HIGH


def test_a_policys_own_urgency_goes_no_further_than_the_key() -> None:
    people = TWO_NUMBERS.people
    urgent = people.default.model_copy(update={"urgency": Urgency.CRITICAL})
    by = Rights(urgency=Urgency.NORMAL)
    every = Rules(people=people.model_copy(update={"policies": (urgent,)}))
    request = OpenRequest.model_validate({"kind": "clear", "reason": "A wall"})

    def opened(rights: Rights) -> Handoff:
        return lifecycle.open_handoff(
            request, agent="bot", api_key="ak_1", rules=every, now=NOW, rights=rights
        ).handoff

    assert (opened(Rights()).urgency, opened(by).urgency) == (Urgency.CRITICAL, Urgency.NORMAL)
