"""Waiting for a condition, with a deadline and a reason, and doing several things at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

Found = TypeVar("Found")
POLL_S = 0.01
START_WITHIN_S = 30.0


def until(condition: Callable[[], Found], timeout_s: float, why: str) -> Found:
    """The first true answer of `condition`. Raises AssertionError with `why` after `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"after {timeout_s:g} s still waiting for: {why}")
        pause.wait(POLL_S)
    return found


def in_parallel(*work: Callable[[], Any]) -> list[Any]:
    """Runs all of them at once, each in a thread, and answers with what they returned, in their order.

    Raises what the first failing one raised, once all have ended.
    """
    ready = threading.Barrier(len(work))
    found: list[Any] = [None] * len(work)
    broken: list[BaseException] = []

    def run(at: int) -> None:
        ready.wait(START_WITHIN_S)
        try:
            found[at] = work[at]()
        except BaseException as error:  # raised below, in the test's own thread
            broken.append(error)

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if broken:
        raise broken[0]
    return found
