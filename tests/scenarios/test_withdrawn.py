"""Nothing rings for what is over: withdrawn while queued, being placed, ringing, answered; and late keys."""

from __future__ import annotations

import pytest

import human
from tests.world import REASON, Agent, MakeWorld, World, path_of, until


def test_withdrawn_while_it_rings_the_phone_stops_and_no_stale_read_is_trusted(
    world: World, agent: Agent
) -> None:
    """The provider's records may lag its callbacks by seconds: it is told to end the call, not asked."""
    world.phone.faults({"fetch_lag_s": {"seconds": 5}})
    blocked = agent.clear_wall(REASON)
    world.ada.expect_text()
    call = world.ada.let_ring()
    handoff = world.newest()
    assert world.http.post(f"/v1/handoffs/{handoff}/cancellation").status_code == 200
    call.ended("canceled")
    with pytest.raises(human.Cancelled) as cancelled:
        blocked.result(10)
    assert cancelled.value.close_reason == "agent"
    assert [one["form"]["Status"] for one in world.updates() if "Status" in one["form"]] == [["completed"]]
    assert not [one for one in world.phone.requests() if one["method"] == "GET"]
    world.advance(120)
    assert not [one for one in world.phone.requests() if one["method"] == "GET"], "nothing is left to look up"
    assert world.dispositions(handoff) == [("ada", "withdrawn")]


def test_withdrawn_while_the_provider_queues_it_nothing_rings_and_the_line_is_free(world: World) -> None:
    """A call that is ended in the provider's queue gets no callback, so that nobody will say it is over."""
    world.phone.pace(queue_s=30)
    first = world.open()
    world.settle()
    world.ada.expect_text()
    assert world.operator.cancel(first["id"]).status_code == 200
    world.settle()
    world.phone.pace(queue_s=0)
    world.ada.missed_call("canceled")
    second = world.open(reason="Another wall")
    world.advance(3)
    world.ada.expect_text("Another wall")
    world.ada.expect_call("Another wall").press("1").hears("Thank you")
    assert world.show(second)["state"] == "resolved"


def test_withdrawn_before_a_worker_took_it_nobody_is_called_or_texted(world: World) -> None:
    world.dismiss()
    handoff = world.open()
    assert world.operator.cancel(handoff["id"]).status_code == 200
    world.hire()
    world.settle()
    assert world.creates() == [] and world.creates("Messages") == []
    assert world.dispositions(handoff) == [("ada", "withdrawn")]


def test_withdrawn_while_the_create_is_under_way_the_call_is_ended_once_it_has_a_name(world: World) -> None:
    world.phone.pace(queue_s=5)
    world.phone.faults({"delay_201_s": {"seconds": 0.5}})
    handoff = world.open()
    until(lambda: world.creates(), 10, "the create to be under way")
    assert world.operator.cancel(handoff["id"]).status_code == 200
    world.settle()
    world.ada.missed_call("canceled")
    assert world.creates("Messages") == [], "the text was not sent any more"
    world.advance(10)
    assert world.dispositions(handoff) == [("ada", "withdrawn")]


def test_who_is_on_the_line_when_it_is_withdrawn_is_told(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    assert world.http.post(f"/v1/handoffs/{handoff['id']}/cancellation").status_code == 200
    call.hears("shopper withdrew it just now. Nothing is left to do. Goodbye.")


def test_withdrawing_twice_is_withdrawing_once_and_after_the_end_it_is_refused(world: World) -> None:
    handoff = world.open()
    world.reached(world.ada)
    for _ in range(2):
        answer = world.http.post(f"/v1/handoffs/{handoff['id']}/cancellation")
        assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")
    assert world.types(handoff).count("cancelled") == 1
    second = world.open(reason="Another wall")
    world.advance_until(lambda: len(world.creates()) == 2, "the line is free again")
    world.ada.expect_text("Another wall")
    world.ada.expect_call("Another wall").press("1").hears("Thank you")
    late = world.http.post(f"/v1/handoffs/{second['id']}/cancellation")
    assert (late.status_code, late.json()["state"]) == (409, "resolved")


def test_a_key_that_comes_after_the_withdrawal_is_told_so_and_put_on_record(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    where = path_of(_key_url(world))
    world.operator.cancel(handoff["id"])
    call.hears("withdrew it")
    answer = world.twilio(where, {"CallSid": call.sid, "Digits": "1"})
    assert answer.status_code == 200 and "withdrew it" in answer.text
    assert world.show(handoff)["state"] == "cancelled"
    late = world.events(handoff)[-1]
    assert (late.type, late.by.name, late.data["asked"], late.data["standing"]) == (
        "late_answer_refused",
        "Ada",
        "resolve",
        "cancelled",
    )


def test_a_key_after_the_deadline_is_told_so_even_before_the_clock_said_it(
    world: World, agent: Agent
) -> None:
    """The late yes is refused, and it is on record that there was one."""
    blocked = agent.clear_wall(REASON, timeout_s=20)
    call = world.reached(world.ada)
    handoff = world.newest()
    world.now += 20_000
    call.press("1").hears("Time ran out just now. Nothing is left to do.")
    with pytest.raises(human.NobodyAnswered):
        blocked.result(10)
    assert world.show(handoff)["close_reason"] == "nobody"
    assert [one for one in world.types(handoff) if one in ("expired", "late_answer_refused")] == [
        "expired",
        "late_answer_refused",
    ]


def test_a_key_after_the_deadline_that_the_clock_has_seen_is_told_so(world: World) -> None:
    handoff = world.open(timeout_s=20)
    call = world.reached(world.ada)
    where = path_of(_key_url(world))
    world.advance(20)
    call.hears("Time ran out just now")
    answer = world.twilio(where, {"CallSid": call.sid, "Digits": "1"})
    assert "Time ran out" in answer.text
    assert world.types(handoff)[-1] == "late_answer_refused"


def test_a_form_that_is_sent_after_the_deadline_is_refused_and_says_what_happened(world: World) -> None:
    handoff = world.open(kind="ask", reason="Which address?", timeout_s=20)
    page = world.page(world.ada)
    world.ada.let_ring()
    form = page.form("Send the answer")
    world.advance(20)
    answer = page.send(form, answer="12 Elm Street")
    assert answer.status_code == 410 and "Time ran out" in answer.text
    assert world.show(handoff)["result"] is None
    assert world.types(handoff)[-1] == "late_answer_refused"


def test_an_expired_handoff_is_listed_as_such_and_the_clock_closes_it_once(world: World) -> None:
    handoff = world.open(timeout_s=5)
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.advance(5)
    call.ended("canceled")
    for _ in range(3):
        world.services.handoffs.expire(handoff["id"])
    assert world.types(handoff).count("expired") == 1

    def listed(state: str) -> list[str]:
        found = world.http.get("/v1/handoffs", params={"state": state}).json()["handoffs"]
        return [one["id"] for one in found]

    assert (listed("escalating"), listed("expired")) == ([], [handoff["id"]])


def test_silence_after_everybody_else_said_no_is_still_silence(make_world: MakeWorld) -> None:
    """Passing it on is no refusal: nobody decided anything."""
    world = make_world(HANDOFF_TO_NUMBER="Ada=+12125550123")
    handoff = world.open(timeout_s=60)
    world.reached(world.ada).hang_up()
    world.ada.let_ring().decline()
    world.advance(60)
    shown = world.show(handoff)
    assert (shown["state"], shown["close_reason"], shown["settlement"]) == ("expired", "nobody", None)


def _key_url(world: World) -> str:
    """Where the menu that is being read sends its key."""
    [handoff] = world.http.get("/v1/handoffs", params={"limit": 1}).json()["handoffs"]
    attempt = next(one for one in handoff["attempts"] if one["channel"] == "call")
    return f"{world.url}/twilio/calls/{attempt['call']}/attempts/{attempt['id']}/key?turn=1&silent=1"
