"""`handoff dev`: starts a development system, keeps it running, tells where it is, ends all of it.

One thread, woken by signals. What the processes are stands in system.py, how one is started and ended in
processes.py, how a death is answered in tending.py, and what a person reads in telling.py.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from handoff.dev import health, redis_server, system, telling
from handoff.dev.folder import Folder, FolderInUse, FolderUnusable
from handoff.dev.ports import Promises
from handoff.dev.signals import Wakeups
from handoff.dev.system import System
from handoff.dev.tending import Tender

START_LIMIT_S = 30.0
_LOOK_EVERY_S = 0.1
_NO_LIMIT = float("inf")
_TOLD = ("web", "worker", "clock", "redis", "devphone")


def run(
    *, port: int | None, devphone_port: int | None, data: Path, web_workers: int, json_output: bool
) -> int:
    """Runs a whole development system until SIGINT, SIGTERM or SIGHUP; returns the exit code.

    With `json_output` standard output gets one line of JSON when everything answers, and nothing else; if
    that takes more than 30 s, or a process dies again and again, the answer is 1 and a reason on standard
    error. Without it a short story is
    printed, and a system that can't start yet is tried on for as long as one likes to wait.
    Call it from the main thread (signals).
    """
    try:
        folder = Folder.open(data.resolve())
    except (FolderInUse, FolderUnusable) as error:
        telling.complain(str(error))
        return 1
    promises = Promises()
    try:
        folder.set_old_logs_aside()
        plan = system.plan(
            folder,
            os.environ,
            promises,
            port=port,
            devphone_port=devphone_port,
            web_workers=web_workers,
        )
        with Wakeups() as wakeups:
            return Running(plan, folder, wakeups, json_output=json_output).until_stopped()
    except (redis_server.NoServer, FolderUnusable, OSError) as error:
        telling.complain(str(error))
        return 1
    finally:
        promises.close()
        folder.close()


class Running:
    """One development system from its start to its end."""

    def __init__(
        self,
        plan: System,
        folder: Folder,
        wakeups: Wakeups,
        *,
        json_output: bool,
        start_limit_s: float = START_LIMIT_S,
    ) -> None:
        self._system = plan
        self._wakeups = wakeups
        self._json = json_output
        self._start_limit_s = start_limit_s
        self._tender = Tender(plan.programs, folder, tell=telling.complain if json_output else telling.say)

    def until_stopped(self) -> int:
        """Starts everything, keeps it running until a signal asks to stop; nothing is left afterwards."""
        try:
            if not self._started():
                return 0 if self._wakeups.stop_asked else 1
            self._announce()
            self._until(lambda: False)
            return 0
        finally:
            if not self._json:
                telling.say("Stopping ...")
            self._tender.stop()

    def _started(self) -> bool:
        """Whether everything answers. False: a stop was asked, or (with JSON) the time is up and was told."""
        if not self._json:
            telling.say("Starting Redis, the dev phone, web, worker and clock ...\n")
        self._tender.start("redis")
        if not self._answers(self._redis_answers):
            return False
        for program in self._system.programs[1:]:
            self._tender.start(program.name)
        return self._answers(lambda: not self._missing())

    def _answers(self, condition: Callable[[], bool]) -> bool:
        limit = time.monotonic() + self._start_limit_s
        while not self._until(condition, limit):
            if self._wakeups.stop_asked:
                return False
            telling.complain(telling.still_waiting(self._missing(), self._tender.worst_log))
            if self._json:
                return False
            limit = time.monotonic() + self._start_limit_s
        return True

    def _until(self, condition: Callable[[], bool], limit: float = _NO_LIMIT) -> bool:
        """Tends the processes until the condition holds; False when a stop was asked or the limit passed."""
        while not self._wakeups.stop_asked and time.monotonic() < limit:
            self._tender.tend(time.monotonic())
            if condition():
                return True
            if self._json and limit != _NO_LIMIT and self._tender.hopeless:
                return False
            self._wakeups.wait(self._tender.rest_s(time.monotonic()) if limit == _NO_LIMIT else _LOOK_EVERY_S)
        return False

    def _missing(self) -> str:
        """What keeps the system from being ready, in words; empty when nothing does."""
        if not self._redis_answers():
            return "Redis does not answer"
        if problem := health.problem(f"{self._system.devphone_url}/_devphone/state"):
            return f"the dev phone does not answer ({problem})"
        if problem := health.problem(f"{self._system.url}/readyz"):
            return f"the service is not ready ({problem})"
        return ""

    def _redis_answers(self) -> bool:
        return redis_server.who_answers(self._system.kept.redis_port or 0) == self._tender.pids["redis"]

    def _announce(self) -> None:
        kept, plan = self._system.kept, self._system
        if not self._json:
            telling.say(telling.welcome(plan, self._tender.folder.path))
            return
        line = {
            "url": plan.url,
            "api_key": kept.api_key,
            "operator_key": kept.operator_key,
            "devphone_url": plan.devphone_url,
            "redis_url": plan.redis_url,
            "pids": {name: self._tender.pids[name] for name in _TOLD},
        }
        print(json.dumps(line), file=sys.stdout, flush=True)  # noqa: T201 - this line is the interface
