"""A peer on the wire, a clock turned by hand, and clients of both. No test waits for real time to pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

import human
from human._client import Clock

from .peer import Peer

API_KEY = "hk_a-made-up-key"


@dataclass
class HandClock:
    """Sleeping takes no time: it is written down in `naps`, moves `now_s`, and runs the next of `in_naps`."""

    now_s: float = 1_000.0
    naps: list[float] = field(default_factory=list)
    in_naps: deque[Callable[[], None]] = field(default_factory=deque)

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now_s += seconds
        if self.in_naps:
            self.in_naps.popleft()()

    def as_clock(self) -> Clock:
        return Clock(now=lambda: self.now_s, sleep=self.sleep, luck=lambda: 0.0)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def peer() -> Iterator[Peer]:
    running = Peer()
    running.start()
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANDOFF_URL", "HANDOFF_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def client(peer: Peer, clock: HandClock) -> Iterator[human.Client]:
    with human.Client(peer.url, API_KEY, _clock=clock.as_clock()) as client:
        yield client
