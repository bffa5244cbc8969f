"""Agents die, repeat themselves and come back: the same key is the same question, and rings nobody again."""

from __future__ import annotations

import threading

import httpx2
import pytest

import human
from handoff.changes import Rules
from tests.world import AGENT_KEY, REASON, Agent, Cutter, World, in_parallel, until


def test_an_agent_that_died_re_attaches_with_its_key_and_nobody_is_rung_again(
    world: World, agent: Agent
) -> None:
    agent.clear_wall(REASON, key="checkout-42")
    call = world.reached(world.ada)
    handoff = world.newest()
    agent.dies()
    second = world.new_agent().clear_wall(REASON, key="checkout-42")
    call.press("1").hears("Thank you")
    clearance = second.result(10)
    assert (clearance.handoff_id, clearance.by.name) == (handoff, "Ada")
    assert len(world.creates()) == 1 and len(world.creates("Messages")) == 1


def test_answered_while_the_agent_was_dead_it_gets_the_answer_when_it_comes_back(
    world: World, agent: Agent
) -> None:
    agent.ask("Which size?", key="size-7")
    page = world.page(world.ada)
    call = world.ada.let_ring()
    agent.dies()
    page.press("Send the answer", answer="Large")
    call.ended("canceled")
    assert world.new_agent().ask("Which size?", key="size-7").result(10) == "Large"
    assert len(world.creates()) == 1 and len(world.creates("Messages")) == 1


def test_a_no_given_while_the_agent_was_dead_is_still_a_no(world: World, agent: Agent) -> None:
    agent.clear_wall(REASON, key="checkout-43")
    call = world.reached(world.ada)
    agent.dies()
    call.press("2").hears("gets the word")
    with pytest.raises(human.Declined):
        world.new_agent().clear_wall(REASON, key="checkout-43").result(10)


def test_the_same_key_many_times_at_once_and_after_the_end_is_one_handoff_one_call_one_text(
    world: World,
) -> None:
    answers = in_parallel(*[lambda: world.post_opening(key="run-42-step-3")] * 8)
    assert sorted(one.status_code for one in answers) == [200] * 7 + [201]
    [handoff] = {one.json()["id"] for one in answers}
    for one in answers:
        assert (one.headers.get("Idempotent-Replayed") == "true") is (one.status_code == 200)
    call = world.reached(world.ada)
    assert world.post_opening(key="run-42-step-3").status_code == 200
    call.press("1").hears("Thank you")
    again = world.post_opening(key="run-42-step-3")
    assert (again.status_code, again.json()["id"], again.json()["state"]) == (200, handoff, "resolved")
    world.advance(60)
    assert len(world.creates()) == 1 and len(world.creates("Messages")) == 1


def test_the_same_key_a_moment_earlier_at_another_web_process_wins_and_the_later_one_is_told(
    world: World,
) -> None:
    """Both looked and found nothing; only one commit may name the key."""
    other = world.start_web()
    rules, first = other.services.handoffs.rules, list[httpx2.Response]()

    def a_moment(*, fresh: bool = False) -> Rules:
        # Asked for between the look and the commit.
        if not first:
            first.append(world.post_opening(key="run-42"))
        return rules(fresh=fresh)

    other.services.handoffs.rules = a_moment
    body = {"kind": "clear", "reason": REASON}
    later = world.http.post(f"{other.url}/v1/handoffs", json=body, headers={"Idempotency-Key": "run-42"})
    assert (first[0].status_code, later.status_code) == (201, 200)
    assert later.json()["id"] == first[0].json()["id"]
    world.reached(world.ada).press("1").hears("Thank you")
    world.advance(30)
    assert len(world.creates()) == 1 and len(world.creates("Messages")) == 1


def test_the_same_key_for_another_question_is_refused_and_touches_nothing(world: World) -> None:
    handoff = world.open(key="run-42")
    before = world.record(handoff)
    refused = world.post_opening(key="run-42", reason="Another wall")
    assert (refused.status_code, refused.json()["code"]) == (409, "idempotency_conflict")
    assert handoff["id"] in refused.json()["detail"]
    world.settle()
    assert world.record(handoff).reason == before.reason
    world.reached(world.ada).press("1").hears("Thank you")
    assert len(world.creates()) == 1


def test_two_agents_with_the_same_key_text_have_two_questions(world: World) -> None:
    mine = world.open(key="step-1")
    body = {"kind": "clear", "reason": REASON}
    theirs = world.stranger.post("/v1/handoffs", json=body, headers={"Idempotency-Key": "step-1"})
    assert theirs.status_code == 201 and theirs.json()["id"] != mine["id"]
    for handoff in (mine["id"], theirs.json()["id"]):
        assert world.operator.cancel(handoff).status_code == 200
    world.settle()
    world.forgives_what_rang()


def test_an_opening_whose_answer_was_lost_is_found_again_by_the_sdk(world: World) -> None:
    """Accepted, and the line was cut before the agent heard so: the retry finds the same handoff."""
    relay = Cutter("127.0.0.1", int(world.url.rpartition(":")[2]))
    relay.lose_the_answer_to(lambda data: data.startswith(b"POST /v1/handoffs "))
    agent = Agent(f"http://127.0.0.1:{relay.port}", AGENT_KEY)
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada)
    until(lambda: len([one for one in world.web.served if one.path == "/v1/handoffs"]) == 2, 10, "a retry")
    assert relay.cuts == 1
    call.press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"
    agent.dies()
    relay.close()
    assert len(world.http.get("/v1/handoffs").json()["handoffs"]) == 1
    assert len(world.creates()) == 1


def test_a_provider_that_fails_after_the_opening_is_the_service_s_business_not_the_agent_s(
    world: World, agent: Agent
) -> None:
    """Everything was committed, then a later step failed, and the retry asked a second time: not here."""
    world.phone.faults({"rest_error": {"code": 20429, "status": 429, "times": 2}})
    blocked = agent.clear_wall(REASON)
    world.ada.expect_text()
    world.advance(15)
    world.ada.expect_call("Handoff for").press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"
    assert [
        one.status for one in world.web.served if one.path == "/v1/handoffs" and one.method == "POST"
    ] == [201]


def test_answered_before_the_wait_began_the_wait_answers_at_once(world: World) -> None:
    handoff = world.open()
    assert world.operator.resolve(handoff["id"]).status_code == 200
    waited: list[str] = []
    waiter = threading.Thread(target=lambda: waited.append(world.show(handoff, wait=30)["state"]))
    waiter.start()
    waiter.join(5)
    assert waited == ["resolved"]
    world.settle()
    world.forgives_what_rang()


def test_answered_through_one_web_process_the_agent_waiting_at_another_wakes_up(
    world: World, agent: Agent
) -> None:
    blocked = agent.clear_wall(REASON)
    world.ada.expect_text()
    call = world.ada.let_ring()
    other = world.start_web()
    handoff = world.newest()
    found = world.operator.http.post(f"{other.url}/v1/handoffs/{handoff}/resolution", json={})
    assert found.status_code == 200
    assert blocked.result(5).channel == "console"
    call.ended("canceled")


def test_many_agents_blocked_at_once_each_get_their_own_answer(world: World, agent: Agent) -> None:
    world.dismiss()
    blocked = {f"Question {number}?": agent.ask(f"Question {number}?") for number in range(20)}

    def listed() -> list[dict[str, str]]:
        found: list[dict[str, str]] = world.http.get("/v1/handoffs").json()["handoffs"]
        return found if len(found) == 20 else []

    opened = until(listed, 20, "twenty open questions")
    in_parallel(
        *(lambda one=one: world.operator.resolve(one["id"], answer=one["reason"][::-1]) for one in opened)
    )
    for question, answer in blocked.items():
        assert answer.result(20) == question[::-1]
    world.hire()
    world.settle()
    assert world.creates() == [], "all were settled before anybody was rung"


def test_who_asked_to_be_cancelled_when_gone_is_cancelled_and_the_phone_stops(world: World) -> None:
    handoff = world.open(if_agent_gone="cancel", timeout_s=3600, on_exhausted="wait")
    call = world.reached(world.ada).press("3").hears("You have it")
    world.advance(89)
    assert world.show(handoff)["state"] == "acknowledged"
    assert world.show(handoff, wait=0.1)["state"] == "acknowledged", "the agent is seen waiting"
    world.advance(90)
    assert world.show(handoff)["state"] == "acknowledged"
    world.advance(1)
    shown = world.show(handoff)
    assert (shown["state"], shown["close_reason"]) == ("cancelled", "agent_gone")
    call.hears("shopper is gone, so it was withdrawn")


def test_who_did_not_ask_for_that_is_kept_however_long_nobody_waits(world: World) -> None:
    handoff = world.open(timeout_s=86_400)
    world.reached(world.ada).press("3").hears("You have it").hang_up()
    world.advance(280)
    assert world.show(handoff)["state"] == "acknowledged"
    assert world.operator.resolve(handoff["id"]).status_code == 200
