"""Any one process is killed with SIGKILL while an agent waits: the person's answer still arrives, once."""

from __future__ import annotations

import pytest

from .system import WOKEN_S, System

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]

ONE_OF_THEM = ["web", "web workers", "worker", "clock", "redis"]
ALL_OF_THEM = [*ONE_OF_THEM]


@pytest.mark.parametrize("victim", ONE_OF_THEM)
def test_an_agent_that_waits_gets_its_answer_whoever_is_killed(system: System, victim: str) -> None:
    waiting = system.agent().clear_wall(f"A login page is in the way of {victim}")
    call = system.ada.let_ring()
    system.ada.expect_text()

    system.kill_and_await(victim)

    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    cleared = waiting.result(WOKEN_S)
    assert (cleared.by.name, cleared.proof) == ("Ada", "keypress")
    assert len(system.creates()) == 1
    assert len(system.creates("Messages")) == 1
