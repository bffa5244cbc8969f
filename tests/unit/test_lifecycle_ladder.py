"""How a handoff climbs its ladder: opening, acknowledging, lapsing, passing on, calls that end in vain."""

from __future__ import annotations

from handoff import attempts, ladder, lifecycle
from handoff.changes import Change, Rules
from handoff.effects import EffectKind, timer_id
from handoff.models import Actor, ActorKind, Channel, Decision, EventType, Handoff, Proof
from handoff.moments import SECOND
from handoff.states import CloseReason, Disposition, State

from .lives import (
    ADA,
    AGENT,
    BEN,
    DEADLINE,
    NOW,
    RULES,
    after,
    attempt,
    calls_of,
    check,
    handoff_in,
    opened,
    opening,
    resolve,
    rules,
    settled_by,
    until,
    word,
)


def test_opening_reaches_the_first_contact_by_call_and_text_and_sets_the_deadline() -> None:
    change = opening()
    check(None, change)
    handoff = change.handoff
    assert (handoff.state, handoff.deadline) == (State.ESCALATING, DEADLINE)
    assert [(one.contact, one.channel) for one in handoff.attempts] == [
        ("ada", Channel.CALL),
        ("ada", Channel.TEXT),
    ]
    assert [(effect.kind, effect.due) for effect in change.effects] == [
        (EffectKind.DEADLINE, DEADLINE),
        (EffectKind.PLACE_CALL, NOW),
        (EffectKind.SEND_TEXT, NOW),
    ]
    (call,) = change.calls
    assert (call.number, call.entries[0].handoff, call.entries[0].attempt) == (
        ADA.number,
        handoff.id,
        calls_of(handoff)[0].id,
    )
    assert [event.type for event in change.events] == [EventType.OPENED, EventType.STEP_STARTED]
    assert change.events[0].by == AGENT


def test_contacts_of_one_step_are_rung_together() -> None:
    change = opening(by=rules((ADA, BEN)))
    assert [call.contact for call in change.calls] == ["ada", "ben"]


def test_an_agent_that_asked_for_it_is_watched_from_the_start() -> None:
    watched = {effect.kind: effect.due for effect in opening(if_agent_gone="cancel").effects}
    assert watched[EffectKind.AGENT_GONE] == NOW + 90 * SECOND
    assert EffectKind.AGENT_GONE not in {effect.kind for effect in opening().effects}


def test_an_acknowledgement_pauses_and_hangs_up_everybody_else() -> None:
    handoff = opened(by=rules((ADA, BEN)))
    mine, other = calls_of(handoff)
    decided = lifecycle.acknowledge(handoff, word(), RULES, NOW + 5, attempt=mine.id)
    change = decided.change
    assert change is not None
    ends = NOW + 5 + 300 * SECOND
    assert until(change.handoff) == decided.outcome.holder_until == ends
    assert [(effect.kind, effect.subject, effect.due) for effect in change.effects] == [
        (EffectKind.LAPSE, handoff.id, ends),
        (EffectKind.HANG_UP, other.call, NOW + 5),
    ]
    assert attempt(change.handoff, mine.id).disposition is Disposition.ACKNOWLEDGED
    assert attempts.end_attempt(change.handoff, other.id, Disposition.WITHDRAWN, RULES, NOW + 6) is not None


def test_a_pause_ends_with_the_deadline_at_the_latest() -> None:
    handoff = opened()
    decided = lifecycle.acknowledge(handoff, word(), RULES, handoff.deadline - 1_000)
    assert decided.outcome.holder_until == handoff.deadline


def test_its_owner_may_ask_for_more_time_and_the_old_timer_then_changes_nothing() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    first_until = until(handoff)
    renewed = after(lifecycle.acknowledge(handoff, word(), RULES, NOW + 100 * SECOND))
    assert renewed.acknowledged_until == first_until + 100 * SECOND
    assert lifecycle.lapse(renewed, first_until, RULES, first_until).change is None
    assert lifecycle.lapse(renewed, until(renewed), RULES, until(renewed)).outcome.won


def test_saying_it_again_at_once_is_told_as_won_and_puts_nothing_more_on_the_record() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    decided = lifecycle.acknowledge(handoff, word(), RULES, NOW + 1)
    assert decided.outcome.won and decided.change is None
    assert decided.outcome.holder_until == until(handoff)


def test_somebody_else_who_wants_it_is_told_who_has_it_and_until_when() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    decided = lifecycle.acknowledge(handoff, word("ben"), RULES, NOW + 1)
    assert decided.change is None and not decided.outcome.won
    assert decided.outcome.holder == handoff.acknowledged
    assert decided.outcome.holder_until == handoff.acknowledged_until


def test_somebody_else_may_still_finish_what_one_person_has() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    decided = resolve(handoff, NOW + 1, "ben")
    assert decided.outcome.won and settled_by(after(decided)).by.id == "ben"


def test_an_operator_with_a_contacts_id_is_not_that_contact() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    operator = Decision(
        by=Actor(kind=ActorKind.OPERATOR, id="ada"), channel=Channel.CONSOLE, proof=Proof.CONSOLE, at=NOW
    )
    assert not lifecycle.acknowledge(handoff, operator, RULES, NOW).outcome.won


def test_a_lapse_goes_on_with_the_next_step() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    decided = lifecycle.lapse(handoff, until(handoff), RULES, until(handoff))
    change = decided.change
    assert change is not None
    assert [call.contact for call in change.calls] == ["ben"]
    assert [event.type for event in change.events] == [EventType.LAPSED, EventType.STEP_STARTED]
    assert change.handoff.acknowledged is None and change.handoff.state is State.ESCALATING


def test_a_lapse_does_not_come_early_and_not_for_another_pause() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    ends = until(handoff)
    assert lifecycle.lapse(handoff, ends, RULES, ends - 1).change is None
    assert lifecycle.lapse(handoff, ends - 1, RULES, ends).change is None
    assert lifecycle.lapse(handoff, None, RULES, ends).change is None


def test_after_a_lapse_on_the_last_step_the_first_is_rung_again() -> None:
    alone = rules((ADA,))
    handoff = after(lifecycle.acknowledge(opened(by=alone), word(), alone, NOW))
    decided = lifecycle.lapse(handoff, until(handoff), alone, until(handoff))
    change = decided.change
    assert change is not None
    assert [call.contact for call in change.calls] == ["ada"]
    assert EffectKind.SEND_TEXT not in {effect.kind for effect in change.effects}, "the text was sent before"


def test_a_pause_that_ran_into_the_deadline_ends_as_expired() -> None:
    handoff = after(lifecycle.acknowledge(opened(), word(), RULES, DEADLINE - 10))
    decided = lifecycle.lapse(handoff, DEADLINE, RULES, DEADLINE)
    assert after(decided).state is State.EXPIRED


def test_passing_it_on_reaches_the_next_person_at_once_and_names_them() -> None:
    handoff = opened()
    mine = calls_of(handoff)[0]
    decided = lifecycle.pass_on(handoff, word(), RULES, NOW + 1, attempt=mine.id)
    change = decided.change
    assert decided.outcome.next_name == "Ben" and change is not None
    assert [call.contact for call in change.calls] == ["ben"]
    assert attempt(change.handoff, mine.id).disposition is Disposition.DECLINED
    assert change.handoff.state is State.ESCALATING, "passing on is no refusal"
    ended = attempts.end_attempt(change.handoff, mine.id, Disposition.HUNG_UP, RULES, NOW + 2)
    assert ended is not None
    assert not ended.calls, "the end of that call must not reach anybody a second time"
    assert attempt(ended.handoff, mine.id).disposition is Disposition.DECLINED


def test_passing_on_while_another_phone_of_the_step_rings_wakes_nobody_new() -> None:
    both = rules((ADA, BEN), (ADA,))
    handoff = opened(by=both)
    decided = lifecycle.pass_on(handoff, word(), both, NOW + 1, attempt=calls_of(handoff)[0].id)
    assert decided.change is not None and not decided.change.calls


def test_passing_on_with_nobody_left_says_so_and_the_link_stays_good() -> None:
    alone = rules((ADA,))
    handoff = opened(by=alone)
    decided = lifecycle.pass_on(handoff, word(), alone, NOW + 1, attempt=calls_of(handoff)[0].id)
    assert decided.outcome.won and decided.outcome.next_name is None
    assert after(decided).exhausted and after(decided).state is State.ESCALATING


def test_who_hears_what_their_own_key_did_is_not_cut_off_when_that_was_the_last_way() -> None:
    alone = rules((ADA,))
    handoff = opened(by=alone, on_exhausted="fail")
    mine = calls_of(handoff)[0]
    passed = lifecycle.pass_on(handoff, word(), alone, NOW + 1, attempt=mine.id)
    assert passed.change is not None and passed.change.handoff.state is State.EXPIRED
    assert EffectKind.HANG_UP not in [effect.kind for effect in passed.change.effects]


def test_nobody_is_the_next_person_after_themselves() -> None:
    alone = rules((ADA,), (ADA,))
    assert ladder.next_name(opened(by=alone), alone, NOW, "ada") is None
    both = rules((ADA,), (ADA, BEN))
    assert ladder.next_name(opened(by=both), both, NOW, "ada") == "Ada and Ben"


def test_the_holder_may_pass_it_on_and_nobody_else_may() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    mine = calls_of(handoff)[0].id
    refused = lifecycle.pass_on(handoff, word("ben"), RULES, NOW + 1, attempt=mine)
    assert refused.change is None and not refused.outcome.won
    passed = lifecycle.pass_on(handoff, word(), RULES, NOW + 1, attempt=mine)
    assert passed.change is not None and passed.outcome.holder is None
    assert timer_id(EffectKind.LAPSE, handoff.id) in passed.change.drop
    assert [call.contact for call in passed.change.calls] == ["ben"]


def test_an_unanswered_call_leads_to_the_next_step() -> None:
    handoff = opened()
    change = attempts.end_attempt(handoff, calls_of(handoff)[0].id, Disposition.NO_ANSWER, RULES, NOW + 9)
    assert change is not None
    check(handoff, change)
    assert [call.contact for call in change.calls] == ["ben"]
    assert [event.type for event in change.events] == [EventType.ATTEMPT_ENDED, EventType.STEP_STARTED]


def test_an_attempt_ends_once_however_often_it_is_reported() -> None:
    handoff = opened()
    call = calls_of(handoff)[0].id
    change = attempts.end_attempt(handoff, call, Disposition.BUSY, RULES, NOW + 9)
    assert change is not None
    assert attempts.end_attempt(change.handoff, call, Disposition.NO_ANSWER, RULES, NOW + 10) is None
    assert attempts.end_attempt(handoff, "at_nobody", Disposition.BUSY, RULES, NOW + 9) is None


def test_two_phones_of_one_step_must_both_end_before_the_next_step() -> None:
    both = rules((ADA, BEN), (ADA,))
    handoff = opened(by=both)
    first, second = calls_of(handoff)
    one = attempts.end_attempt(handoff, first.id, Disposition.BUSY, both, NOW + 9)
    assert one is not None and not one.calls
    two = attempts.end_attempt(one.handoff, second.id, Disposition.BUSY, both, NOW + 10)
    assert two is not None and [call.contact for call in two.calls] == ["ada"]


def exhaust(handoff: Handoff, by: Rules, now: int = NOW + 9) -> Change:
    """Lets every call ring in vain."""
    change = None
    while open_calls := [one for one in calls_of(handoff) if one.ended_at is None]:
        change = attempts.end_attempt(handoff, open_calls[0].id, Disposition.NO_ANSWER, by, now)
        assert change is not None
        check(handoff, change)
        handoff = change.handoff
    assert change is not None
    return change


def test_a_policy_that_ran_out_is_no_state_and_the_link_stays_good() -> None:
    change = exhaust(opened(), RULES)
    assert change.handoff.exhausted and change.handoff.state is State.ESCALATING
    assert change.events[-1].type is EventType.POLICY_EXHAUSTED
    assert resolve(change.handoff, NOW + 99).outcome.won


def test_every_round_rings_everybody_and_texts_them_once() -> None:
    twice = rules((ADA,), (BEN,), rounds=2)
    handoff = exhaust(opened(by=twice), twice).handoff
    assert [one.contact for one in calls_of(handoff)] == ["ada", "ben", "ada", "ben"]
    assert [one.contact for one in handoff.attempts if one.channel is Channel.TEXT] == ["ada", "ben"]


def test_an_agent_that_asked_to_fail_then_gets_unreachable_with_every_disposition() -> None:
    change = exhaust(opened(on_exhausted="fail"), RULES)
    handoff = change.handoff
    assert (handoff.state, handoff.close_reason) == (State.EXPIRED, CloseReason.UNREACHABLE)
    assert [one.disposition for one in calls_of(handoff)] == [Disposition.NO_ANSWER] * 2
    assert change.events[-1].by.kind is ActorKind.CLOCK
    assert handoff.settlement is None


def test_a_call_that_ends_after_the_close_rings_nobody() -> None:
    handoff = handoff_in(State.RESOLVED)
    change = attempts.end_attempt(handoff, calls_of(handoff)[0].id, Disposition.WITHDRAWN, RULES, NOW + 9)
    assert change is not None and not change.calls and not change.effects
    assert change.handoff.state is State.RESOLVED


def test_a_call_that_ends_while_somebody_has_it_rings_nobody() -> None:
    handoff = handoff_in(State.ACKNOWLEDGED)
    change = attempts.end_attempt(handoff, calls_of(handoff)[0].id, Disposition.NO_INPUT, RULES, NOW + 9)
    assert change is not None and not change.calls


def test_a_call_that_ends_at_the_deadline_rings_nobody() -> None:
    handoff = opened()
    call = calls_of(handoff)[0].id
    change = attempts.end_attempt(handoff, call, Disposition.NO_ANSWER, RULES, handoff.deadline)
    assert change is not None and not change.calls and not change.handoff.exhausted


def test_the_call_in_which_it_was_settled_is_not_hung_up() -> None:
    """Whoever pressed the key still has to hear what was done."""
    handoff = opened()
    mine = calls_of(handoff)[0]
    decided = lifecycle.resolve(handoff, word(), RULES, NOW + 1, attempt=mine.id)
    assert decided.change is not None
    assert EffectKind.HANG_UP not in {effect.kind for effect in decided.change.effects}
    assert attempt(after(decided), mine.id).disposition is Disposition.RESOLVED
