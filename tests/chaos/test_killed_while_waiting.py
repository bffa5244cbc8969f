"""Processes are killed with SIGKILL while an agent waits: the person's answer still arrives, and once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import human
from handoff.effects import EffectKind
from tests.world import until

from .system import PATIENCE_S, WOKEN_S, System

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]

ONE_OF_THEM = ["web", "web workers", "worker", "clock", "redis"]


@pytest.mark.parametrize("victim", ONE_OF_THEM)
def test_an_agent_that_waits_gets_its_answer_whoever_is_killed(system: System, victim: str) -> None:
    waiting = system.agent().clear_wall(f"A login page is in the way of {victim}")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    system.rests()

    system.kill_and_await(victim)

    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    cleared = waiting.result(WOKEN_S)
    assert (cleared.by.name, cleared.proof) == ("Ada", "keypress")
    assert (len(system.creates()), len(system.creates("Messages"))) == (1, 1)


def test_everything_killed_at_once_is_as_if_nothing_had_been(system: System) -> None:
    agent = system.agent()
    rings = agent.clear_wall("A robot check")
    call, _ = system.ada.let_ring(), system.ada.expect_text("A robot check")
    queued = agent.ask("Which size?")  # Ada's line is taken, so it only texts for now
    page = system.page(system.ada.expect_text("Which size?"))
    system.rests(but=(EffectKind.PLACE_CALL,))

    system.kill_and_await(*ONE_OF_THEM, "callbacks")

    assert page.read().press("Send the answer", answer="Large").status == 200
    assert queued.result(WOKEN_S) == "Large"
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert rings.result(WOKEN_S).by.name == "Ada"
    assert (len(system.creates()), len(system.creates("Messages"))) == (1, 2)


def test_the_ladder_goes_on_after_the_worker_was_killed(system: System) -> None:
    waiting = system.agent().clear_wall("A map of bicycles", on_exhausted="fail")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    system.rests()
    system.kill("worker")
    call.decline()
    call, _ = system.ben.let_ring(), system.ben.expect_text()
    call.decline()
    with pytest.raises(human.Unreachable) as nobody:
        waiting.result(WOKEN_S)
    assert nobody.value.dispositions.count("no_answer") == 2


def test_a_deadline_is_kept_after_the_clock_was_killed(system: System) -> None:
    system.kill("clock")
    waiting = system.agent().clear_wall("A short patience", timeout_s=4)
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    with pytest.raises(human.NobodyAnswered):
        waiting.result(WOKEN_S)
    call.ended("canceled")


AGENT = """
import sys, human
print("asking", flush=True)
cleared = human.clear_wall("A shop asks who you are", key=sys.argv[1])
print(cleared.by.name, cleared.proof, cleared.handoff_id, flush=True)
"""


class AgentProcess:
    """A program of its own that blocks in `human.clear_wall` with this key."""

    def __init__(self, system: System, key: str) -> None:
        settings = {"HANDOFF_URL": system.url, "HANDOFF_API_KEY": system.api_key}
        self.process = subprocess.Popen(
            [sys.executable, "-c", AGENT, key],
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "asking\n"

    def answer(self, within_s: float) -> list[str]:
        """What it printed when its call had returned."""
        said, _ = self.process.communicate(timeout=within_s)
        assert self.process.returncode == 0
        return said.split()


def test_an_agent_killed_while_it_waits_finds_the_answer_when_it_comes_back(system: System) -> None:
    doomed = AgentProcess(system, "who-you-are")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    doomed.process.kill()
    doomed.process.communicate()
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    handoff = system.newest()
    until(lambda: system.handoff(handoff)["state"] == "resolved", PATIENCE_S, "the answer to be kept")

    assert AgentProcess(system, "who-you-are").answer(WOKEN_S) == ["Ada", "keypress", handoff]
    assert (len(system.creates()), len(system.creates("Messages"))) == (1, 1)
