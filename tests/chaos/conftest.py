"""One running system for all chaos tests; a test that breaks a system for good makes its own.

Each test begins with nothing to be done, and has to end so: ends_well() is asked after every test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from handoff.dev import redis_server

from .system import System


class StartSystem(Protocol):
    """Starts one more system, with a data folder of its own."""

    def __call__(self, name: str, *options: str, **settings: str) -> System: ...


@pytest.fixture(scope="session")
def _able() -> None:
    """Whether whole systems can be started and looked at here. No: a skip on a laptop, a failure on CI."""
    if sys.platform != "linux":
        pytest.skip("looks for processes in /proc")
    try:
        redis_server.find_program()
    except redis_server.NoServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI is set and there is no Redis: {error}")
        pytest.skip(f"no Redis: {error}")


@pytest.fixture(scope="session")
def running_system(tmp_path_factory: pytest.TempPathFactory, _able: None) -> Iterator[System]:
    """The system that most tests share: two web processes, a phone that is quick."""
    folder = tmp_path_factory.mktemp("chaos") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")  # a proxy meant for the outside has no part in this
        system = System(folder, "--web-workers", "2")
        yield system
        system.stop()


@pytest.fixture
def system(running_system: System) -> Iterator[System]:
    """The shared system, at rest before and after."""
    running_system.begins()
    yield running_system
    running_system.ends_well()


@pytest.fixture
def start_system(tmp_path: Path, _able: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartSystem]:
    """Starts systems for one test alone; whatever is left of them is stopped after it."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    started: list[System] = []

    def start(name: str, *options: str, **settings: str) -> System:
        started.append(System(tmp_path / name, *options, **settings))
        return started[-1]

    yield start
    for one in started:
        one.stop()
