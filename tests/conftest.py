"""What tests share: a real Redis for the whole run, one dev phone, and worlds made of both (tests/world/).

With several workers each has its own of everything: Redis, dev phone, ports, folders.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from devphone import testing
from devphone.testing import DevPhone
from handoff.dev import redis_server
from handoff.dev.redis_server import RunningRedis
from tests.shared_data import find_shared
from tests.world import ACCOUNT, OURS, TOKEN, Agent, MakeWorld, World


def pytest_configure() -> None:
    """A shell that starts this run in the background has Ctrl-C ignored, and so would every program that
    tests start and end with it (POSIX.1-2024, Shell Command Language, 2.11)."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _log_to_pytest()


def _log_to_pytest() -> None:
    """What the service logs goes through `logging`, which pytest keeps for a test that fails. Printed, as is
    structlog's default, a line of a thread that outlives its test by a moment would stand among the dots."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    for ours in ("handoff", "voice", "workers"):
        logging.getLogger(ours).setLevel(logging.INFO)
    logging.getLogger().addHandler(logging.NullHandler())  # or between two tests warnings go to stderr


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Several workers (`-n`): each takes a whole file, since what is slow to start is shared by one.

    Tests that kill processes go to one worker, one after the other: each such system is half a dozen
    processes, and two of them under load at once measure the machine.
    """
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            chaos = nodeid.startswith("tests/chaos/")
            return "tests/chaos" if chaos else str(super()._split_scope(nodeid))

        def remove_node(self, node: Any) -> str | None:
            """A test that ended its worker has failed; xdist would hand it to the next one, and the next."""
            units = self.assigned_work[node].values()
            left = [(unit, test) for unit in units for test, done in unit.items() if not done]
            if left:
                unit, test = left[0]
                unit[test] = True
            super().remove_node(node)
            return left[0][1] if left else None

    return ByFile(config, log)


@pytest.fixture(scope="session")
def running_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRedis]:
    """A Redis-protocol server that fsyncs every write. None found: a skip on a laptop, a failure on CI."""
    try:
        running = redis_server.start(tmp_path_factory.mktemp("redis"))
    except redis_server.NoServer as error:
        if os.environ.get("CI"):
            pytest.fail(f"CI is set and there is no Redis: {error}")
        pytest.skip(f"no Redis: {error}")
    yield running
    running.stop()


@pytest.fixture
def private_redis(tmp_path: Path, running_redis: RunningRedis) -> Iterator[RunningRedis]:
    """A server for one test alone, which may break it. (The other one is asked for the skip.)"""
    assert running_redis.port
    running = redis_server.start(tmp_path / "redis")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def running_phone() -> Iterator[DevPhone]:
    """One dev phone with a clock of its own for the whole run, its answers checked where Twilio's file is."""
    with testing.start(
        ACCOUNT,
        TOKEN,
        clock="manual",
        numbers=[OURS],
        timeout_s=10,
        calls_per_second=0,
        contract=find_shared("twilio/twilio_api_v2010.json"),
    ) as phone:
        yield phone


@pytest.fixture
def make_world(
    running_redis: RunningRedis, running_phone: DevPhone, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeWorld]:
    """Makes worlds; each has to end well, and is gone after the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")  # a proxy meant for the outside has no part in this
    running_phone.reset()
    worlds: list[World] = []

    def make(*, together: bool = False, redis_url: str | None = None, **settings: str) -> World:
        worlds.append(World(running_phone, redis_url or running_redis.url, settings, together=together))
        return worlds[-1]

    yield make
    try:
        for world in worlds:
            world.check_ending()
    finally:
        for world in worlds:
            world.close()
        running_phone.reset()


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    """Ada, Ben and Cy, rung one after the other for 25 seconds each."""
    return make_world()


@pytest.fixture
def agent(world: World) -> Agent:
    """A program that blocks in the SDK."""
    return world.agent
