"""Processes are killed while a call is being placed: the provider is asked once, and the story goes on."""

from __future__ import annotations

import pytest

from tests.world import until

from .system import PATIENCE_S, WOKEN_S, System

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]

#: How long the provider keeps the answer to a create back: time to be killed in.
IN_THE_AIR_S = 2.0


@pytest.mark.parametrize("victim", ["web", "web workers", "worker", "clock", "redis"])
def test_a_create_that_hangs_in_the_air_is_made_once_whoever_is_killed(system: System, victim: str) -> None:
    system.phone.faults({"delay_201_s": {"seconds": IN_THE_AIR_S}})
    waiting = system.agent().clear_wall(f"A cookie wall is in the way of {victim}")
    until(system.creates, PATIENCE_S, "the provider to be asked for a call")
    assert system.creates()[-1]["status"] is None, "its answer is still on the way"

    system.kill_and_await(victim)

    call, _ = system.ada.let_ring(), system.ada.expect_text()
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"
    assert len(system.creates()) == 1


def test_a_worker_killed_in_the_middle_of_a_create_leaves_the_call_to_its_callback(system: System) -> None:
    system.phone.faults({"delay_201_s": {"seconds": IN_THE_AIR_S}})
    handoff = system.open("A login page")
    until(system.creates, PATIENCE_S, "the provider to be asked for a call")
    system.kill("worker")

    call = system.ada.let_ring()
    until(
        lambda: "call_ringing" in [event["type"] for event in system.events(handoff)],
        PATIENCE_S,
        "the callback to say which call it is",
    )
    system.ada.expect_text()
    call.decline()
    call, _ = system.ben.let_ring(), system.ben.expect_text()
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    calls = [one for one in system.handoff(handoff)["attempts"] if one["channel"] == "call"]
    assert [one["disposition"] for one in calls] == ["no_answer", "resolved"]
    assert len(system.creates()) == 2


def test_a_worker_killed_just_after_it_took_a_job_loses_nothing(system: System) -> None:
    """A stopped worker still stands at the queue: it is handed the job, and dies before it does anything."""
    with system.stopped("worker"):
        waiting = system.agent().clear_wall("A checkbox")
        until(lambda: len(system.outbox()) == 2 > len(system.waiting_jobs()), PATIENCE_S, "one to be taken")
        system.kill_and_await("worker")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"
    assert len(system.creates()) == 1


def test_a_web_process_killed_before_anybody_heard_of_its_handoff_is_made_good(system: System) -> None:
    with system.stopped("worker"):
        handoff = system.open("A second factor")
        system.kill_and_await("web")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert system.handoff(handoff)["state"] == "resolved"
    assert len(system.creates()) == 1


@pytest.mark.slow
def test_what_was_opened_while_no_worker_ran_rings_once_each_when_one_is_back(system: System) -> None:
    agent = system.agent()
    with system.stopped("worker"):
        walls = [agent.clear_wall(f"Wall {number}") for number in range(1, 4)]
        until(lambda: len(system.outbox()) == 2 * len(walls), PATIENCE_S, "all to be opened")
        # A row that nobody takes is handed out again after 5 s, and once more after 15 s.
        until(lambda: set(system.claims().values()) == {"3"}, PATIENCE_S, "nearly 20 s without a worker")
        jobs = system.waiting_jobs()
        # The stopped worker was handed one job, which is therefore sent again. No other waits more than once.
        handed = [row for row in system.outbox() if f"{row}-1" not in jobs]
        assert len(handed) <= 1
        again = [job for job in jobs if not job.endswith("-1") and not job.startswith(tuple(handed))]
        assert not again, "the queue holds copies"
    for _ in walls:
        system.ada.expect_text()
    for _ in walls:
        system.ada.expect_call("Handoff for dev").press("1").hears("Thank you").hang_up().ended()
    assert {wall.result(WOKEN_S).by.name for wall in walls} == {"Ada"}
    assert len(system.creates()) == len(walls)
