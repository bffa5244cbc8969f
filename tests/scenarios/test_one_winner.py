"""Many may answer, one answer counts, and everybody else is told whose it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import human
from handoff import lifecycle
from handoff.changes import Decided
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from tests.world import REASON, Agent, MakeWorld, World, in_parallel


def test_two_people_answer_the_first_key_counts_and_the_other_hears_who_it_was(make_world: MakeWorld) -> None:
    world = make_world(together=True)
    blocked = world.agent.clear_wall(REASON)
    ada, ben = world.reached(world.ada), world.reached(world.ben)
    world.cy.expect_text()
    cy = world.cy.let_ring()
    ada.press("1").hears("Thank you. It is handed back to shopper")
    assert blocked.result(10).by.name == "Ada"
    ben.hears("Ada did it just now. Nothing is left to do. Goodbye.")
    cy.ended("canceled")
    world.advance_until(lambda: ben.record()["status"] == "completed", "the voice hangs up")


def test_two_keys_in_the_same_moment_settle_it_once(make_world: MakeWorld) -> None:
    world = make_world(together=True, HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550124")
    handoff = world.open()
    ada, ben = world.reached(world.ada), world.reached(world.ben)
    in_parallel(lambda: ada.press("1"), lambda: ben.press("2"))
    world.settle()
    shown = world.show(handoff)
    winner = shown["settlement"]["by"]["name"]
    assert (winner, shown["state"]) in (("Ada", "resolved"), ("Ben", "declined"))
    [closing] = [one for one in world.types(handoff) if one in ("resolved", "declined")]
    assert closing == shown["state"]
    own, other = (ada, ben) if winner == "Ada" else (ben, ada)
    own.hears("Thank you" if winner == "Ada" else "All right")
    other.hears("Ada did it just now" if winner == "Ada" else "Ben said no just now")


def test_a_button_on_the_page_wakes_the_agent_and_the_phone_stops_ringing(world: World, agent: Agent) -> None:
    blocked = agent.clear_wall(REASON)
    page = world.page(world.ada)
    call = world.ada.let_ring()
    page.press("It’s done")
    clearance = blocked.result(10)
    assert (clearance.by.name, clearance.proof, clearance.channel) == ("Ada", "link", "link")
    assert "You did it. shopper goes on." in page.text
    call.ended("canceled")


def test_who_is_on_the_line_when_another_presses_the_button_is_told_who_did_it(make_world: MakeWorld) -> None:
    world = make_world(together=True, HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550124")
    blocked = world.agent.clear_wall(REASON)
    page = world.page(world.ben)
    ben = world.ben.let_ring()
    ada = world.reached(world.ada)
    page.press("It’s done")
    assert blocked.result(10).by.name == "Ben"
    ada.hears("Ben did it just now")
    ben.ended("canceled")


def test_i_am_on_it_by_link_stops_the_ringing_and_tells_others_on_the_line(make_world: MakeWorld) -> None:
    world = make_world(together=True, HANDOFF_TO_NUMBER="Ada=+12125550123,Ben=+12125550124")
    handoff = world.open()
    page = world.page(world.ben)
    ben = world.ben.let_ring()
    ada = world.reached(world.ada)
    assert "You are on it." in page.press("I’m on it").text
    ada.hears("Ben took it just now. You can hang up.")
    ben.ended("canceled")
    world.advance(60)
    assert len(world.creates()) == 2, "nobody else is rung while Ben has it"
    page.press("It’s done")
    assert world.show(handoff)["settlement"]["by"]["name"] == "Ben"


def test_i_am_on_it_by_link_ends_one_s_own_ringing_and_nobody_else_is_rung(world: World) -> None:
    handoff = world.open(timeout_s=3600)
    page = world.page(world.ada)
    call = world.ada.let_ring()
    page.press("I’m on it")
    call.ended("canceled")
    world.advance(299)
    assert len(world.creates()) == 1
    world.advance(1)
    world.reached(world.ben).press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "withdrawn"), ("ben", "resolved")]


def test_button_and_key_in_the_same_moment_settle_it_once_and_both_see_the_same(
    world: World, agent: Agent
) -> None:
    blocked = agent.clear_wall(REASON)
    page = world.page(world.ada)
    call = world.ada.expect_call("Handoff for")
    button = page.form("It’s done")
    sent, _ = in_parallel(lambda: page.send(button), lambda: call.press("1"))
    clearance = blocked.result(10)
    world.settle()
    handoff = clearance.handoff_id
    assert world.types(handoff).count("resolved") == 1
    if clearance.channel == "link":
        assert sent.status_code == 200 and "You did it" in sent.text
        call.hears("You did it just now")
    else:
        assert sent.status_code == 409 and "too late" in sent.text
        call.hears("Thank you")


def test_fifty_verdicts_at_once_have_one_winner_one_event_and_one_callback(world: World) -> None:
    handoff = world.open(resume_url=f"{world.url}/agent/resume", outcome_url=f"{world.url}/agent/outcome")
    world.ada.expect_text()
    call = world.ada.let_ring()
    yes = [lambda: world.operator.resolve(handoff["id"])] * 25
    no = [lambda: world.operator.refuse(handoff["id"], comment="no")] * 25
    answers = in_parallel(*yes, *no)
    assert sorted(one.status_code for one in answers) == [200] + [409] * 49
    shown = world.show(handoff)
    losers = [one.json() for one in answers if one.status_code == 409]
    assert {one["state"] for one in losers} == {shown["state"]}
    assert {one["settlement"]["at"] for one in losers} == {shown["settlement"]["at"]}
    world.settle()
    closing = [one for one in world.types(handoff) if one in ("resolved", "declined")]
    assert closing == [shown["state"]]
    assert [one.name for one in world.web.callbacks] == ["resume" if closing == ["resolved"] else "outcome"]
    call.ended("canceled")


def test_a_yes_that_is_held_up_until_the_deadline_passed_is_told_that_it_was_too_late(world: World) -> None:
    """Between its look at the record and its commit the time runs out: the person hears what is on record."""
    handoff = world.open(timeout_s=30)
    world.ada.expect_text()
    call = world.ada.let_ring()

    def meanwhile() -> None:
        world.now += 30_000
        world.services.handoffs.expire(handoff["id"])

    outcome = _held_up_yes(world, handoff["id"], meanwhile)
    assert (outcome.won, outcome.state, outcome.close_reason) == (False, "expired", "nobody")
    assert world.show(handoff)["result"] is None
    call.ended("canceled")


def test_a_yes_that_is_held_up_while_another_says_no_sets_nothing_off(world: World) -> None:
    """The loser ends before any side effect: the agent's resume_url is not called."""
    handoff = world.open(resume_url=f"{world.url}/agent/resume", outcome_url=f"{world.url}/agent/outcome")
    world.ada.expect_text()
    call = world.ada.let_ring()
    outcome = _held_up_yes(world, handoff["id"], lambda: world.operator.refuse(handoff["id"], comment="no"))
    assert (outcome.won, outcome.state) == (False, "declined")
    assert outcome.settlement is not None and outcome.settlement.by.kind == "operator"
    call.ended("canceled")
    world.settle()
    assert [one.name for one in world.web.callbacks] == ["outcome"]


def _held_up_yes(world: World, handoff: str, meanwhile: Callable[[], object]) -> Outcome:
    """Ada's yes; between its decision and its commit `meanwhile` happens once."""
    do = world.services.handoffs
    ada = Actor(kind=ActorKind.CONTACT, id="ada", name="Ada")
    word = Decision(by=ada, channel=Channel.CALL, proof=Proof.KEYPRESS, at=world.now)
    held_up = iter([meanwhile])

    def rule(found: Handoff, now: int) -> Decided:
        decided = lifecycle.resolve(found, word, do.rules(), now)
        for happen in held_up:
            happen()
        return decided

    return do.decide(handoff, "key-held-up", rule)


def test_the_opposite_answer_later_changes_nothing_and_names_the_first(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada).press("1").hears("Thank you")
    before = world.show(handoff)
    refused = world.operator.refuse(handoff["id"], comment="no, wait")
    assert refused.status_code == 409
    assert refused.json()["settlement"] == {k: v for k, v in before["settlement"].items() if v is not None}
    assert world.show(handoff) == before
    assert world.types(handoff)[-1] == "late_answer_refused"


def test_the_same_form_sent_twice_is_one_answer_and_both_are_told_that_it_counted(world: World) -> None:
    handoff = world.open()
    page = world.page(world.ada)
    world.ada.let_ring()
    form = page.form("It’s done")
    first, second = page.send(form), page.send(form)
    assert (first.status_code, second.status_code) == (200, 200)
    assert "You did it" in first.text and "You did it" in second.text
    assert world.types(handoff).count("resolved") == 1
    assert "late_answer_refused" not in world.types(handoff)


def test_the_requester_can_not_answer_its_own_request(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada)
    for verb in ("resolution", "refusal", "acknowledgement"):
        assert world.http.post(f"/v1/handoffs/{handoff['id']}/{verb}", json={}).status_code == 403
    assert world.show(handoff)["state"] == "escalating"
    assert world.http.post(f"/v1/handoffs/{handoff['id']}/observation", json={}).status_code == 200
    shown = world.show(handoff)
    assert (shown["close_reason"], shown["settlement"]["proof"]) == ("observed", "observed")
    assert shown["settlement"]["by"]["kind"] == "agent"


def test_two_open_handoffs_never_get_each_other_s_answer(world: World, agent: Agent) -> None:
    first = agent.ask("Which size?")
    page = world.page(world.ada)
    world.ada.let_ring().busy()
    world.ben.expect_text()
    world.ben.let_ring().busy()
    world.cy.expect_text()
    world.cy.let_ring().busy()
    second = agent.ask("Which colour?")
    other = world.page(world.ada)
    call = world.ada.expect_call("Which colour?")
    page.press("Send the answer", answer="Large")
    assert first.result(10) == "Large" and not second.done()
    other.press("Send the answer", answer="Blue")
    assert second.result(10) == "Blue"
    call.hears("You answered just now")


def test_silence_no_and_withdrawn_are_three_different_things(world: World, agent: Agent) -> None:
    no = agent.clear_wall("The first wall")
    world.reached(world.ada).press("2").hears("gets the word")
    with pytest.raises(human.Declined):
        no.result(10)
    world.advance(10)
    withdrawn = agent.clear_wall("The second wall")
    world.ada.expect_text("The second wall")
    call = world.ada.expect_call("The second wall")
    world.operator.cancel(world.newest())
    with pytest.raises(human.Cancelled) as cancelled:
        withdrawn.result(10)
    assert cancelled.value.close_reason == "operator"
    call.hears("withdrew it")
    world.advance(10)
    silence = agent.clear_wall("The third wall", timeout_s=30)
    world.ada.expect_text("The third wall")
    world.ada.let_ring()
    world.advance(26)
    world.ben.expect_text("The third wall")
    ringing = world.ben.let_ring()
    world.advance(4)
    with pytest.raises(human.NobodyAnswered):
        silence.result(10)
    ringing.ended("canceled")
