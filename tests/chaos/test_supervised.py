"""`handoff dev` itself: two at once do not meet, taken ports are gone round, and its end leaves nothing."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from handoff.dev import ports
from tests.world import until

from .conftest import StartSystem
from .system import PATIENCE_S, WOKEN_S, System

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]


def nothing_is_left_of(system: System) -> None:
    """Waits until none of its processes runs and nobody listens on its ports."""
    try:
        until(lambda: not system.left_running(), PATIENCE_S, "all of it to end")
    except AssertionError as late:
        raise AssertionError(f"still there: {system.left_running()}") from late
    assert all(map(ports.is_free, system.ports()))


def test_two_side_by_side_do_not_meet_and_ctrl_c_ends_the_one_it_is_meant_for(
    system: System, start_system: StartSystem
) -> None:
    web, phone, _ = system.ports()
    other = start_system("other", "--port", str(web), "--devphone-port", str(phone))
    assert not set(other.ports()) & set(system.ports()), "taken ports were not gone round"

    waiting = other.agent().clear_wall("Only for one of them")
    call, _ = other.ada.let_ring(), other.ada.expect_text()
    assert not system.creates()
    assert system.http.get(f"/v1/handoffs/{other.newest()}").status_code == 404
    assert httpx2.get(f"{system.url}/v1/handoffs", headers=other.http.headers).status_code == 401
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"
    other.ends_well()

    os.killpg(other.supervisor.pid, signal.SIGINT)  # as a terminal does
    assert other.supervisor.wait(PATIENCE_S) == 0
    nothing_is_left_of(other)
    assert system.http.get("/v1/handoffs").status_code == 200


def test_the_operators_list_asks_for_a_sign_in(system: System) -> None:
    opened = system.open("Only operators read this", notify="none")
    for path in ("/", "/last", f"/handoffs/{opened}"):
        shown = httpx2.get(f"{system.url}{path}", follow_redirects=True, trust_env=False)
        assert "Only operators read this" not in shown.text, path
        assert opened not in shown.text.replace(path, "")
    assert system.as_agent.post(f"/v1/handoffs/{opened}/cancellation").status_code == 200


@pytest.mark.slow
def test_ended_or_killed_it_leaves_no_process_behind_although_agents_wait(start_system: StartSystem) -> None:
    with ThreadPoolExecutor(2) as pool:
        ended, killed = pool.map(start_system, ("ended", "killed"))
    for one in (ended, killed):
        one.agent().clear_wall("Something takes long")
        one.ada.let_ring()
        assert len(one.left_running()) >= 7  # supervisor, Redis, dev phone, web and its worker, worker, clock

    ended.supervisor.send_signal(signal.SIGTERM)
    killed.supervisor.send_signal(signal.SIGKILL)
    assert ended.supervisor.wait(PATIENCE_S) == 0
    assert killed.supervisor.wait(PATIENCE_S) == -signal.SIGKILL
    for one in (ended, killed):
        nothing_is_left_of(one)
