"""The module functions in processes of their own: settings, signals, forks, and what the module exports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import human

from .conftest import API_KEY
from .peer import DEADLINE_S, Peer, answered, closed

Script = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def script(peer: Peer) -> Script:
    """Runs Python code in a process that finds the peer through its environment."""

    def start(code: str, **environment: str) -> subprocess.Popen[str]:
        known = {"HANDOFF_URL": peer.url, "HANDOFF_API_KEY": API_KEY, "PYTHONPATH": _import_path()}
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-X", "dev", "-c", code],
            env={**os.environ, **known, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def _import_path() -> str:
    assert human.__file__
    return str(Path(human.__file__).parents[1])


def test_a_first_integration_is_one_line(script: Script, peer: Peer) -> None:
    peer.outcome = answered("12 Main Street")
    process = script("import human; print(human.ask('Which address should I ship to?'))")
    assert process.communicate(timeout=DEADLINE_S) == ("12 Main Street\n", "")
    assert peer.opened[0].headers["authorization"] == f"Bearer {API_KEY}"


def test_an_argument_beats_configure_and_configure_beats_the_environment(script: Script, peer: Peer) -> None:
    peer.outcome = answered("yes")
    process = script(
        f"""
import human
human.configure(api_key="hk_of_configure")
human.configure(url={peer.url!r})
human.ask("Go on?")
with human.Client(api_key="hk_of_an_argument") as client:
    client.ask("Go on?")
human.configure(api_key="hk_of_a_second_configure")
human.ask("Go on?")
""",
        HANDOFF_URL="http://127.0.0.1:9",
    )
    assert process.communicate(timeout=DEADLINE_S) == ("", "")
    assert [seen.headers["authorization"] for seen in peer.opened] == [
        "Bearer hk_of_configure",
        "Bearer hk_of_an_argument",
        "Bearer hk_of_a_second_configure",
    ]


def test_silence_ends_a_program_that_did_not_think_of_it(script: Script, peer: Peer) -> None:
    peer.outcome = closed("expired", "nobody", settlement=None)
    process = script("import human; human.clear_wall('A checkbox'); print('went on')")
    out, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (1, "")
    assert "NobodyAnswered: Nobody answered ho_" in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_agent_that_is_stopped_leaves_its_question_open_and_finds_it_again(
    script: Script, peer: Peer, number: signal.Signals
) -> None:
    code = "import human; print(human.ask('Go on?', key='run-42'))"
    stopped = script(code)
    peer.wait_until(lambda: len(peer.polls) == 1)
    stopped.send_signal(number)
    stopped.communicate(timeout=DEADLINE_S)
    assert stopped.returncode == -number
    assert [seen.path for seen in peer.opened] == ["/v1/handoffs"]
    peer.settle(answered("yes"))
    assert script(code).communicate(timeout=DEADLINE_S) == ("yes\n", "")
    assert len(peer.handoffs) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_agent_does_not_share_the_connection_of_its_parent(script: Script, peer: Peer) -> None:
    peer.outcome = answered("yes")
    process = script(
        """
import os, human
human.ask("Parent")
if os.fork() == 0:
    human.ask("Child")
    os._exit(0)
assert os.wait()[1] == 0
human.ask("Parent again")
"""
    )
    assert process.communicate(timeout=DEADLINE_S) == ("", "")
    ports = {seen.body["reason"]: seen.client_port for seen in peer.opened}
    assert ports["Parent"] == ports["Parent again"]
    assert ports["Child"] != ports["Parent"]


def test_everything_that_is_exported_exists_and_nothing_else_is_public() -> None:
    assert sorted(human.__all__) == human.__all__
    public = {name for name in vars(human) if not name.startswith("_")} | {"__version__"}
    assert set(human.__all__) == public


@pytest.mark.parametrize("name", [name for name in human.__all__ if name != "__version__"])
def test_everything_public_says_what_it_promises(name: str) -> None:
    assert (getattr(human, name).__doc__ or "").strip()
