"""The same against real processes and a real clock: gunicorn, worker, clock and the dev phone, as
`handoff dev` starts them; and one of them is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from handoff.dev.redis_server import RunningRedis
from tests.chaos.system import ADA, System

from .conftest import TakePicture, Visit
from .stage import DONE

REASON = "A human-verification checkbox is blocking checkout"


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, running_redis: RunningRedis) -> Iterator[System]:
    """One system for this file. (The other Redis is asked for its skip, when there is none.)"""
    assert running_redis.port
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")  # a proxy meant for the outside has no part in this
        running = System(tmp_path_factory.mktemp("browser") / "data")
        yield running
        running.stop()


def test_from_the_text_on_the_phones_page_to_the_agent_that_goes_on(
    visit: Visit, system: System, take_picture: TakePicture
) -> None:
    system.begins()
    answer = system.agent().clear_wall(REASON)
    hand = visit(system.url, system.phone.url)
    hand.open(f"{system.phone.url}/?phone={quote(ADA)}")
    take_picture(hand, "phone")
    hand.tap_into_new_tab(hand.page.get_by_role("log", name="Texts").get_by_role("link").first)
    take_picture(hand, "page")
    hand.tap(DONE)
    hand.sees("goes on")
    clearance = answer.result(10)
    assert (clearance.by.name, clearance.proof, hand.taps) == ("Ada", "link", 2)
    _quiet(system)


def test_web_is_killed_a_press_is_not_sent_and_the_second_one_is(visit: Visit, system: System) -> None:
    system.begins()
    answer = system.agent().clear_wall(REASON)
    hand = visit(system.url)
    hand.open(system.ada.expect_text().links[0])
    before, webs = system.pids(), system.web_workers()
    os.kill(system.supervisor.pid, signal.SIGSTOP)
    try:
        system.kill("web workers", "web")
        hand.tap(DONE)
        hand.sees("Not sent")
    finally:
        os.kill(system.supervisor.pid, signal.SIGCONT)
    system.restarted(before, webs, "web")
    hand.tap(DONE)
    hand.sees("goes on")
    assert answer.result(30).by.name == "Ada"
    hand.forgive("CONNECTION|EMPTY_RESPONSE|INCOMPLETE")
    _quiet(system)


def test_time_runs_out_while_one_looks(visit: Visit, system: System, take_picture: TakePicture) -> None:
    system.begins()
    system.open(REASON, timeout_s=6, max_timeout_s=6)
    hand = visit(system.url)
    hand.open(system.ada.expect_text().links[0])
    hand.marks_the_page()
    assert hand.find(DONE).is_visible()
    hand.sees("Time ran out")
    hand.sees_no_button()
    assert hand.still_marked
    take_picture(hand, "over")
    _quiet(system)


def _quiet(system: System) -> None:
    """The story is over: whatever rang and was texted was meant to."""
    state = system.phone.state()
    for record in [*state["calls"], *state["messages"]]:
        system.phone.expect(record["sid"])
    system.ends_well()
