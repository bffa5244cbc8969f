"""The people file is edited while a handoff is under way: nobody is lost, nobody is rung twice in a round."""

from __future__ import annotations

from handoff import lifecycle
from handoff.attempts import end_attempt
from handoff.changes import Rules
from handoff.messages import OpenRequest
from handoff.models import EventType, Handoff
from handoff.moments import SECOND
from handoff.policy import Contact, EscalationPolicy, People, Step
from handoff.quiet import QuietHours
from handoff.rights import Rights
from handoff.states import Disposition, State
from handoff.views import HandoffView

from .lives import ADA, BEN, NOW, after, calls_of, opening, word

CY = Contact(id="cy", name="Cy", numbers=("+12125550125",))
DEE = Contact(id="dee", name="Dee", numbers=("+12125550126",))
EVERYBODY = (ADA, BEN, CY, DEE)


def policy(*steps: tuple[Contact, ...], name: str = "default", rounds: int = 1) -> EscalationPolicy:
    ladder = tuple(Step(contacts=people, ring_s=25) for people in steps)
    return EscalationPolicy(name=name, steps=ladder, rounds=rounds)


def file(*policies: EscalationPolicy, contacts: tuple[Contact, ...] = EVERYBODY) -> Rules:
    return Rules(people=People(contacts=contacts, policies=policies))


ONE_BY_ONE = file(policy((ADA,), (BEN,), (CY,)))


def missed(handoff: Handoff, by: Rules) -> Handoff:
    """The newest call rings in vain, for its 25 seconds."""
    newest = calls_of(handoff)[-1]
    change = end_attempt(
        handoff, newest.id, Disposition.NO_ANSWER, by, newest.started_at + (25 + len(rung(handoff))) * SECOND
    )
    assert change is not None
    return change.handoff


def rung(handoff: Handoff) -> list[str]:
    return [one.contact for one in calls_of(handoff)]


def to_the_end(handoff: Handoff, by: Rules) -> list[str]:
    """Who is rung when nobody ever picks up."""
    while [one for one in calls_of(handoff) if one.ended_at is None]:
        waiting = next(one for one in calls_of(handoff) if one.ended_at is None)
        change = end_attempt(handoff, waiting.id, Disposition.NO_ANSWER, by, waiting.started_at + 25 * SECOND)
        assert change is not None
        handoff = change.handoff
    assert handoff.exhausted
    return rung(handoff)


def test_from_one_by_one_to_all_together_rings_those_who_were_not_rung_yet() -> None:
    together = file(policy((ADA, BEN, CY)))
    assert to_the_end(opening(by=ONE_BY_ONE).handoff, together) == ["ada", "ben", "cy"]
    both = rung(missed(opening(by=ONE_BY_ONE).handoff, together))
    assert both == ["ada", "ben", "cy"], "and those together, as the file now says"


def test_from_all_together_to_one_by_one_rings_nobody_twice() -> None:
    opened = opening(by=file(policy((ADA, BEN), (CY,)))).handoff
    assert to_the_end(opened, ONE_BY_ONE) == ["ada", "ben", "cy"]


def test_steps_in_another_order_leave_nobody_out() -> None:
    second = missed(opening(by=ONE_BY_ONE).handoff, ONE_BY_ONE)
    assert rung(second) == ["ada", "ben"]
    assert to_the_end(second, file(policy((CY,), (ADA,), (BEN,)))) == ["ada", "ben", "cy"]


def test_whoever_is_put_first_is_rung_next() -> None:
    edited = file(policy((DEE,), (ADA,), (BEN,), (CY,)))
    assert to_the_end(opening(by=ONE_BY_ONE).handoff, edited) == ["ada", "dee", "ben", "cy"]


def test_an_edit_further_up_changes_only_what_is_still_to_come() -> None:
    """Ada stands in it twice, which is meant: she is rung again although she was rung in this round."""
    opened = opening(by=ONE_BY_ONE).handoff
    assert to_the_end(opened, file(policy((ADA,), (DEE,), (ADA,), (CY,)))) == ["ada", "dee", "ada", "cy"]


def test_an_edit_that_is_taken_back_leaves_no_trace() -> None:
    second = missed(opening(by=ONE_BY_ONE).handoff, file(policy((CY,), (ADA,), (BEN,))))
    assert rung(second) == ["ada", "cy"]
    assert to_the_end(second, ONE_BY_ONE) == ["ada", "cy", "ben"]


def test_whoever_was_taken_out_is_not_rung_and_the_others_are() -> None:
    assert to_the_end(opening(by=ONE_BY_ONE).handoff, file(policy((BEN,), (CY,)))) == ["ada", "ben", "cy"]
    assert to_the_end(opening(by=ONE_BY_ONE).handoff, file(policy((ADA,), (CY,)))) == ["ada", "cy"]
    assert to_the_end(opening(by=ONE_BY_ONE).handoff, file(policy((ADA,)))) == ["ada"]


def test_the_round_after_an_edit_is_all_as_the_file_has_it() -> None:
    opened = opening(by=file(policy((ADA,), (BEN,), rounds=2))).handoff
    edited = file(policy((BEN,), (ADA,), rounds=2))
    assert to_the_end(opened, edited) == ["ada", "ben", "ben", "ada"]


def test_a_policy_with_fewer_rounds_than_have_begun_ends_its_round() -> None:
    twice = file(policy((ADA,), (BEN,), rounds=2))
    second_round = missed(missed(opening(by=twice).handoff, twice), twice)
    assert rung(second_round) == ["ada", "ben", "ada"]
    assert to_the_end(second_round, file(policy((ADA,), (BEN,)))) == ["ada", "ben", "ada", "ben"]


def test_who_hands_it_on_hears_who_is_next_by_the_file_of_now() -> None:
    opened = opening(by=ONE_BY_ONE).handoff
    edited = file(policy((CY,), (ADA,)))
    passed = lifecycle.pass_on(opened, word(), edited, NOW + SECOND, attempt=calls_of(opened)[0].id)
    assert passed.outcome.next_name == "Cy" and rung(after(passed)) == ["ada", "cy"]


def test_after_a_lapse_whoever_was_not_rung_yet_comes_before_all_over_again() -> None:
    opened = opening(by=ONE_BY_ONE).handoff
    taken = after(lifecycle.acknowledge(opened, word(), ONE_BY_ONE, NOW, attempt=calls_of(opened)[0].id))
    assert taken.acknowledged_until is not None
    together = file(policy((ADA, BEN)))
    lapsed = lifecycle.lapse(taken, taken.acknowledged_until, together, taken.acknowledged_until)
    assert rung(after(lapsed)) == ["ada", "ben"]


def test_sleepers_who_wait_for_the_morning_are_rung_then_wherever_the_file_has_them_now() -> None:
    night = (QuietHours(begins=0, ends=24 * 60 - 1),)
    asleep = ADA.model_copy(update={"quiet_hours": night})
    wait = {"quiet": "wait"}
    by = file(policy((asleep,), (BEN,)).model_copy(update=wait), contacts=(asleep, BEN))
    opened = opening(by=by, timeout_s=2 * 86_400).handoff
    edited = file(policy((BEN,), (asleep,)).model_copy(update=wait), contacts=(asleep, BEN))
    morning = opened.next_step_at
    assert rung(opened) == [] and morning is not None
    begun = lifecycle.next_step(opened, morning, edited, morning)
    assert begun is not None
    assert to_the_end(begun.handoff, edited) == ["ben", "ada"]


def test_a_policy_that_lost_all_its_steps_leaves_nobody_and_the_link_stays_good() -> None:
    left = missed(opening(by=ONE_BY_ONE).handoff, file(policy()))
    assert left.exhausted and left.state is State.ESCALATING


# A policy or contact that is gone

PAYMENTS = policy((ADA,), (BEN,), name="payments")


def test_a_policy_that_was_renamed_goes_the_default_way_from_its_first_step() -> None:
    opened = opening(by=file(policy((CY,)), PAYMENTS), policy="payments", on_exhausted="fail").handoff
    renamed = file(policy((CY,)), PAYMENTS.model_copy(update={"name": "pay"}))
    second = missed(opened, renamed)
    assert (rung(second), second.state) == (["ada", "cy"], State.ESCALATING)


def test_a_contact_who_is_gone_goes_the_default_way_and_nobody_there_is_skipped() -> None:
    opened = opening(by=file(policy((CY,), (BEN,))), contact="ada").handoff
    gone = file(policy((CY,), (BEN,)), contacts=(BEN, CY))
    assert to_the_end(opened, gone) == ["ada", "cy", "ben"]


def opened_with(rights: Rights, by: Rules, **fields: str) -> Handoff:
    request = OpenRequest.model_validate({"kind": "clear", "reason": "A wall", **fields})
    return lifecycle.open_handoff(
        request, agent="bot", api_key="ak_1", rules=by, now=NOW, rights=rights
    ).handoff


def test_a_key_that_may_reach_ada_only_reaches_nobody_when_she_is_gone() -> None:
    by, gone = file(policy((CY,))), file(policy((CY,)), contacts=(CY,))
    only_ada = Rights(contacts=("ada",), policies=())
    left = missed(opened_with(only_ada, by, contact="ada"), gone)
    assert rung(left) == ["ada"] and left.exhausted
    again = lifecycle.ring_again(left, word(), gone, NOW + 60 * SECOND).change
    assert again is not None and not again.calls, "an operator's key is no way round it"
    assert [one.type for one in again.events] == [EventType.RUNG_AGAIN, EventType.POLICY_EXHAUSTED]


def test_nor_does_a_key_for_one_policy_reach_the_default_one() -> None:
    by, gone = file(policy((CY,)), PAYMENTS), file(policy((CY,)))
    bound = Rights(policies=("payments",))
    assert to_the_end(opened_with(bound, by, policy="payments"), gone) == ["ada"]
    free = Rights(policies=("payments", "default"))
    assert to_the_end(opened_with(free, by, policy="payments"), gone) == ["ada", "cy"]


# Numbers

TWO = ("+12125550123", "+12125550127")
SWAPPED = tuple(reversed(TWO))


def ada(*numbers: str) -> Rules:
    one = ADA.model_copy(update={"numbers": numbers})
    return file(policy((one,), (BEN,)), contacts=(one, BEN))


def numbers(opened: Handoff, by: Rules) -> list[str | None]:
    return [one.number for one in calls_of(missed(opened, by))]


def test_numbers_that_change_places_are_each_rung_once() -> None:
    assert numbers(opening(by=ada(*TWO)).handoff, ada(*SWAPPED)) == list(TWO)
    twice = missed(missed(opening(by=ada(*TWO)).handoff, ada(*SWAPPED)), ada(*SWAPPED))
    assert [one.number for one in calls_of(twice)] == [*TWO, BEN.number]


def test_a_number_that_took_the_place_of_the_one_that_rang_is_rung() -> None:
    assert numbers(opening(by=ada(TWO[0])).handoff, ada(TWO[1])) == list(TWO)


def test_numbers_are_kept_with_the_attempt_and_shown_to_nobody() -> None:
    opened = opening(by=ada(*TWO)).handoff
    assert calls_of(opened)[0].number == TWO[0]
    assert TWO[0] not in HandoffView.of(opened).model_dump_json() and TWO[0] not in repr(opened)


# Records of before all this was kept


def of_before(handoff: Handoff) -> Handoff:
    """As the version before wrote it."""
    document = handoff.model_dump(mode="json", exclude={"no_default": True})
    del document["position"]["climbed"]
    for one in document["attempts"]:
        del one["number"]
    return Handoff.model_validate(document)


def test_a_record_of_the_version_before_goes_on_from_its_place() -> None:
    second = of_before(missed(opening(by=ONE_BY_ONE).handoff, ONE_BY_ONE))
    assert second.position is not None and second.position.climbed is None
    assert to_the_end(second, ONE_BY_ONE) == ["ada", "ben", "cy"]


def test_and_with_the_next_of_its_contacts_numbers() -> None:
    opened = of_before(opening(by=ada(*TWO)).handoff)
    assert rung(missed(opened, ada(*TWO))) == ["ada", "ada"]
    assert numbers(opened, ada(*TWO)) == [None, TWO[1]]


def test_a_record_of_before_steps_had_a_beginning_goes_on_too() -> None:
    older = of_before(opening(by=ONE_BY_ONE).handoff).model_copy(update={"step_started_at": None})
    assert to_the_end(older, ONE_BY_ONE) == ["ada", "ben", "cy"]
