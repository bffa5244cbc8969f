"""Waiting for a condition, with a deadline and a reason. No test sleeps for a fixed time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
POLL_S = 0.01


def until(condition: Callable[[], Found], timeout_s: float, why: str) -> Found:
    """The first true answer of `condition`. Raises AssertionError with `why` after `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {timeout_s:g} s still waiting for: {why}")
        pause.wait(POLL_S)
    return found
