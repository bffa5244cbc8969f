"""Who must not be rung now: quiet hours that begin while a call waits, and steps in which nobody is rung."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import ClassVar, Literal

import pytest

from handoff import lifecycle
from handoff.attempts import end_attempt, put_to_bed
from handoff.changes import Change, Rules
from handoff.effects import EffectKind
from handoff.ladder import may_be_rung, next_name, somebody_else
from handoff.models import Channel, EventType, Handoff
from handoff.moments import HOUR, MINUTE, SECOND
from handoff.policy import Contact, EscalationPolicy, People, Step
from handoff.quiet import QuietHours, parse_hours
from handoff.states import Disposition, State

from .lives import ADA, BEN, NOW, after, calls_of, opened, until, word

Quiet = Literal["text", "wait", "skip"]
#: Ada goes to bed two minutes after the handoffs here are opened, for eight hours.
BEDTIME = NOW + 2 * MINUTE
MORNING = BEDTIME + 8 * HOUR


def _minute(moment: int) -> int:
    there = datetime.fromtimestamp(moment / SECOND, UTC)
    return there.hour * 60 + there.minute


NIGHT = (QuietHours(begins=_minute(BEDTIME), ends=_minute(MORNING)),)
ALWAYS = (parse_hours("00:00-12:00"), parse_hours("12:00-00:00"))
SLEEPY = ADA.model_copy(update={"quiet_hours": NIGHT, "numbers": ("+12125550123", "+12125550126")})
CY = Contact(id="cy", name="Cy", numbers=("+12125550125",))


def rules(*steps: tuple[Contact, ...], quiet: Quiet = "text", rounds: int = 1, wait_s: int = 0) -> Rules:
    ladder = tuple(Step(contacts=people, ring_s=25, wait_s=wait_s) for people in steps)
    policy = EscalationPolicy(name="default", steps=ladder, rounds=rounds, quiet=quiet)
    everybody = {one.id: one for people in steps for one in people}
    return Rules(people=People(contacts=tuple(everybody.values()), policies=(policy,)))


def rung(handoff: Handoff) -> list[tuple[str, int]]:
    return [(one.contact, one.line) for one in calls_of(handoff)]


def missed(handoff: Handoff, by: Rules, at: int, how: Disposition = Disposition.NO_ANSWER) -> Handoff:
    change = end_attempt(handoff, calls_of(handoff)[-1].id, how, by, at)
    assert change is not None
    return change.handoff


def in_bed(handoff: Handoff, by: Rules, at: int = BEDTIME) -> Change:
    """Its newest call waited for its turn until its contact was in bed."""
    change = put_to_bed(handoff, calls_of(handoff)[-1].id, by, at)
    assert change is not None
    return change


def test_the_night_here_is_as_the_tests_take_it() -> None:
    assert (SLEEPY.quiet_until(BEDTIME - 1), SLEEPY.quiet_until(BEDTIME)) == (None, MORNING)


# A second number


def test_a_second_number_is_not_rung_in_quiet_hours() -> None:
    by = rules((SLEEPY,), (BEN,))
    assert rung(missed(opened(by=by), by, BEDTIME - 1)) == [("ada", 0), ("ada", 1)]
    assert rung(missed(opened(by=by), by, BEDTIME)) == [("ada", 0), ("ben", 0)]


def test_nor_is_that_of_somebody_who_takes_no_calls_any_more() -> None:
    before, now = rules((SLEEPY,), (BEN,)), rules((SLEEPY.model_copy(update={"channels": (Channel.TEXT,)}),))
    assert rung(missed(opened(by=before), now, NOW + SECOND)) == [("ada", 0)]


def test_but_for_what_is_critical_it_is() -> None:
    by = rules((SLEEPY,), (BEN,))
    assert rung(missed(opened(by=by, urgency="critical"), by, BEDTIME)) == [("ada", 0), ("ada", 1)]


# A call that waited, by a limit or for a line, until its contact was in bed


def test_who_may_be_rung_and_from_when() -> None:
    assert may_be_rung(opened(), SLEEPY, BEDTIME - 1) is None
    assert may_be_rung(opened(), SLEEPY, BEDTIME) == MORNING
    assert may_be_rung(opened(urgency="high"), SLEEPY, BEDTIME) == MORNING
    assert may_be_rung(opened(urgency="critical"), SLEEPY, BEDTIME) is None


def test_a_call_that_comes_too_late_for_today_ends_without_a_ring_and_says_why() -> None:
    by = rules((SLEEPY,), (BEN,))
    change = in_bed(opened(by=by), by)
    first = calls_of(change.handoff)[0]
    assert (first.disposition, first.detail, first.ended_at) == (
        Disposition.WITHDRAWN,
        "quiet hours",
        BEDTIME,
    )
    assert (
        change.events[0].type is EventType.ATTEMPT_ENDED and change.events[0].data["detail"] == "quiet hours"
    )
    assert put_to_bed(change.handoff, first.id, by, BEDTIME) is None
    assert end_attempt(change.handoff, first.id, Disposition.NO_ANSWER, by, BEDTIME) is None


def test_then_the_next_person_is_rung_who_has_no_text_yet_and_the_sleeper_keeps_theirs() -> None:
    by = rules((SLEEPY,), (BEN,))
    asleep = in_bed(opened(by=by), by).handoff
    assert rung(asleep) == [("ada", 0), ("ben", 0)]
    assert [one.contact for one in asleep.attempts if one.channel is Channel.TEXT] == ["ada", "ben"]


def test_whoever_had_their_text_only_now_has_the_time_to_read_it() -> None:
    soon = SLEEPY.model_copy(update={"quiet_hours": (NIGHT[0].model_copy(update={"begins": _minute(NOW)}),)})
    by = rules((SLEEPY,), (BEN,))
    asleep = in_bed(opened(by=by), rules((soon,), (BEN,)), NOW + SECOND).handoff
    assert rung(asleep) == [("ada", 0)] and asleep.next_step_at == NOW + 25 * SECOND


def test_waiting_for_the_morning_rings_them_then() -> None:
    by = rules((SLEEPY,), (BEN,), quiet="wait")
    waiting = in_bed(opened(by=by, timeout_s=86_400), by)
    assert (rung(waiting.handoff), waiting.handoff.next_step_at) == ([("ada", 0)], MORNING)
    assert [(one.kind, one.due) for one in waiting.effects] == [(EffectKind.NEXT_STEP, MORNING)]
    begun = lifecycle.next_step(waiting.handoff, MORNING, by, MORNING)
    assert begun is not None and rung(begun.handoff) == [("ada", 0), ("ada", 0)]


def test_a_record_of_the_version_before_waits_for_the_morning_too() -> None:
    by = rules((SLEEPY,), (BEN,), quiet="wait")
    document = opened(by=by, timeout_s=86_400).model_dump(mode="json")
    del document["position"]["climbed"]
    waiting = in_bed(Handoff.model_validate(document), by).handoff
    assert waiting.next_step_at == MORNING
    begun = lifecycle.next_step(waiting, MORNING, by, MORNING)
    assert begun is not None and rung(begun.handoff) == [("ada", 0), ("ada", 0)]


def test_a_policy_that_skips_goes_on_to_who_is_awake_at_once() -> None:
    dozing = BEN.model_copy(update={"quiet_hours": NIGHT})
    by = rules((SLEEPY,), (dozing,), (CY,), quiet="skip", wait_s=300)
    assert rung(in_bed(opened(by=by), by).handoff) == [("ada", 0), ("cy", 0)]
    nobody = rules((SLEEPY,), (dozing,), quiet="skip", wait_s=300)
    asleep = in_bed(opened(by=nobody, on_exhausted="fail"), nobody).handoff
    assert (rung(asleep), asleep.state) == ([("ada", 0)], State.ESCALATING)
    assert asleep.next_step_at == NOW + 300 * SECOND, "where all sleep they are texted, step by step"


@pytest.mark.parametrize("quiet", ["text", "wait", "skip"])
def test_while_another_phone_of_the_step_rings_it_goes_on(quiet: Quiet) -> None:
    by = rules((BEN, SLEEPY), (CY,), quiet=quiet)
    asleep = in_bed(opened(by=by), by).handoff
    assert rung(asleep) == [("ben", 0), ("ada", 0)] and asleep.next_step_at is None
    change = end_attempt(asleep, calls_of(asleep)[0].id, Disposition.NO_ANSWER, by, BEDTIME + SECOND)
    assert change is not None and rung(change.handoff)[2:] == [("cy", 0)]


def test_where_another_phone_of_the_step_rang_in_vain_the_next_step_is_not_kept_for_the_morning() -> None:
    by = rules((BEN, SLEEPY), (CY,), quiet="wait")
    first = opened(by=by, timeout_s=86_400)
    change = end_attempt(first, calls_of(first)[0].id, Disposition.NO_ANSWER, by, BEDTIME - 1)
    assert change is not None and not change.calls
    assert rung(in_bed(change.handoff, by).handoff)[2:] == [("cy", 0)]


def test_a_number_that_an_edit_took_out_is_not_rung_and_the_one_in_its_place_is() -> None:
    before, now = (
        rules((ADA,), (BEN,)),
        rules((ADA.model_copy(update={"numbers": ("+12125550129",)}),), (BEN,)),
    )
    first = opened(by=before)
    change = put_to_bed(first, calls_of(first)[0].id, now, NOW + 1, detail="not among the people any more")
    assert change is not None and [one.number for one in change.calls] == ["+12125550129"]


def test_whoever_has_taken_it_meanwhile_is_left_in_peace() -> None:
    by = rules((SLEEPY,), (BEN,))
    first = opened(by=by)
    taken = after(lifecycle.acknowledge(first, word(), by, NOW + 1))
    assert rung(in_bed(taken, by).handoff) == [("ada", 0)]


def test_a_late_end_of_an_old_call_does_not_cut_a_wait_short() -> None:
    """Ada took it, and a call to Ben stayed unknown; Ada let it lapse, and now sleeps until the morning."""
    by = rules((ADA, BEN), (SLEEPY,), quiet="wait")
    first = opened(by=by, timeout_s=86_400)
    taken = after(lifecycle.acknowledge(first, word(), by, NOW + 1, attempt=calls_of(first)[0].id))
    waiting = after(lifecycle.lapse(taken, until(taken), by, until(taken)))
    assert waiting.next_step_at == MORNING
    change = end_attempt(waiting, calls_of(first)[1].id, Disposition.UNKNOWN, by, until(taken) + HOUR)
    assert change is not None and change.handoff.next_step_at == MORNING and not change.effects


def test_who_is_rung_again_is_tried_on_all_their_numbers_again() -> None:
    by = rules((SLEEPY,))
    tried = missed(missed(opened(by=by), by, NOW + 1), by, NOW + 2)
    assert rung(tried) == [("ada", 0), ("ada", 1)] and tried.exhausted
    again = after(lifecycle.ring_again(tried, word(), by, NOW + 3))
    assert rung(missed(again, by, NOW + 4))[2:] == [("ada", 0), ("ada", 1)]


# Steps without a call last, however often they come


ASLEEP = tuple(
    Contact(id=f"c{at}", name=f"C{at}", numbers=(f"+1212555{1000 + at}",), quiet_hours=ALWAYS)
    for at in range(1_000)
)


def awake(people: tuple[Contact, ...]) -> tuple[Contact, ...]:
    return tuple(one.model_copy(update={"quiet_hours": ()}) for one in people)


@pytest.mark.parametrize("again", ["ring again", "lapse"])
def test_a_second_pass_at_night_is_not_raced_through(again: str) -> None:
    day, night = rules(*((one,) for one in awake(ASLEEP[:3]))), rules(*((one,) for one in ASLEEP[:3]))
    handoff, at = opened(by=day, timeout_s=86_400), NOW
    for _ in range(2):
        at += 25 * SECOND
        handoff = missed(handoff, day, at)
    assert len(rung(handoff)) == 3
    if again == "lapse":
        last = calls_of(handoff)[-1].id
        taken = after(lifecycle.acknowledge(handoff, word("c2"), day, at, attempt=last))
        at = until(taken)
        second = after(lifecycle.lapse(taken, at, night, at))
    else:
        handoff = missed(handoff, day, at)
        at += HOUR
        second = after(lifecycle.ring_again(handoff, word(), night, at))
    second = second.model_copy(update={"on_exhausted": "fail"})
    for step in range(3):
        assert second.position is not None and (second.position.step, len(rung(second))) == (step, 3)
        assert (second.state, second.next_step_at) == (State.ESCALATING, at + 25 * SECOND)
        at += 25 * SECOND
        change = lifecycle.next_step(second, at, night, at)
        assert change is not None
        second = change.handoff
    assert second.state is State.EXPIRED


def test_a_step_without_a_call_lasts_even_where_the_clock_stands_still() -> None:
    people = tuple(one.model_copy(update={"channels": (Channel.TEXT,)}) for one in awake(ASLEEP[:2]))
    by = rules(*((one,) for one in people))
    left = lifecycle.ring_again(opened(by=by), word(), by, NOW)
    assert left.change is not None and len(left.change.events) == 2, "rung again, and one step begun"


class Asked(Contact):
    """A contact who counts how often they are asked whether they sleep."""

    times: ClassVar[list[str]] = []

    def quiet_until(self, now: int) -> int | None:
        self.times.append(self.id)
        return super().quiet_until(now)


@pytest.mark.parametrize("quiet", ["text", "wait", "skip"])
def test_the_largest_policy_asks_everybody_once_at_most(quiet: Quiet) -> None:
    people = tuple(Asked.model_validate(one.model_dump()) for one in ASLEEP)
    by = rules(*(people[at : at + 20] for at in range(0, 1_000, 20)), quiet=quiet, rounds=10)
    Asked.times.clear()
    begun = opened(by=by, timeout_s=86_400)
    assert rung(begun) == [] and len(begun.attempts) == 20
    assert len(Asked.times) == len(set(Asked.times)) == (1_000 if quiet == "skip" else 20)


# Is there somebody else, if this call is given up?


def waits(by: Rules, now: int = NOW, **fields: str) -> bool:
    first = opened(by=by, **fields)
    return somebody_else(first, calls_of(first)[0], by, now)


ALONE = ADA.model_copy(update={"quiet_hours": NIGHT})


def test_another_person_or_number_that_may_be_rung_now_is_somebody_else() -> None:
    assert waits(rules((ALONE,), (BEN,)))
    assert waits(rules((SLEEPY,))), "their other number"
    assert waits(rules((ALONE, BEN), rounds=2)), "in the next round"


def test_the_same_person_and_those_who_ring_already_are_not() -> None:
    assert not waits(rules((ALONE,)))
    assert not waits(rules((ALONE,), (ALONE,), rounds=3))
    assert not waits(rules((ALONE, BEN)))


def test_nor_is_anybody_who_sleeps_or_takes_no_calls() -> None:
    dozing = BEN.model_copy(update={"quiet_hours": NIGHT})
    assert waits(rules((ADA,), (dozing,)), BEDTIME - 1)
    assert not waits(rules((ADA,), (dozing,)), BEDTIME)
    assert waits(rules((ADA,), (dozing,)), BEDTIME, urgency="critical")
    assert not waits(rules((SLEEPY,)), BEDTIME), "nor is the other number of whoever went to bed"
    assert not waits(rules((ADA,), (BEN.model_copy(update={"channels": (Channel.TEXT,)}),)))


def test_on_the_last_number_only_other_people_are_left() -> None:
    by = rules((SLEEPY,))
    second = missed(opened(by=by), by, NOW + SECOND)
    assert rung(second) == [("ada", 0), ("ada", 1)]
    assert not somebody_else(second, calls_of(second)[1], by, NOW + SECOND)


def test_who_is_next_is_who_would_be_rung() -> None:
    dozing = BEN.model_copy(update={"quiet_hours": ALWAYS})
    by = rules((ADA,), (dozing,), (CY,), quiet="skip")
    assert next_name(opened(by=by), by, NOW, "ada") == "Cy"
    assert next_name(opened(by=by), rules((ADA,), (dozing,), (CY,)), NOW, "ada") == "Ben", "by a text"
    assert next_name(opened(by=rules((ADA,))), rules((ADA,)), NOW, "ada") is None
