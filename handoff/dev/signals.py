"""Sleeping until something happens: a process that died, a request to stop, or the time. Main thread only."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType
from typing import Any

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Wakeups:
    """While entered, SIGINT, SIGTERM and SIGHUP ask to stop; they and a child's death end a `wait`."""

    def __init__(self) -> None:
        self.stop_asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Wakeups:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        # A pipe and not a flag alone: a signal that comes just before select() would sleep through it.
        self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _STOPPING:
            self._before[number] = signal.signal(number, self._stop)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, self._wake)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._reader)
        os.close(self._writer)

    def wait(self, timeout_s: float) -> None:
        """Returns after `timeout_s` seconds, sooner when a signal came since the last wait."""
        if select.select([self._reader], [], [], max(0.0, timeout_s))[0]:
            os.read(self._reader, 4096)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - what signal() calls
        self.stop_asked = True

    def _wake(self, number: int, frame: FrameType | None) -> None:
        """The pipe was written already; without a handler of ours it would not be."""
