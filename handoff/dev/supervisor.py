"""`handoff dev`: starts a development system, keeps it running, tells where it is, ends all of it.

One thread, woken by signals. What the processes are stands in system.py, how one is started and ended in
processes.py, how a death is answered in tending.py, and what a person reads in telling.py.

A tunnel that dies is started anew, and the service with it under the new address: links that were texted are
dead either way, but like this agents that wait here keep waiting, and the next ring carries a good link.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from handoff.config import BadSettings
from handoff.dev import health, number, real_calls, redis_server, system, telling, tunnel
from handoff.dev.folder import Folder, FolderInUse, FolderUnusable
from handoff.dev.ports import Promises
from handoff.dev.real_calls import RealCalls
from handoff.dev.signals import Wakeups
from handoff.dev.system import System
from handoff.dev.tending import Tender
from handoff.dev.tunnel import Lookout

START_LIMIT_S = 30.0
#: The name of a new tunnel may take its time to be known everywhere.
TUNNEL_LIMIT_S = 90.0
_SAY_EVERY_S = 5.0
_LOOK_EVERY_S = 0.1
_NO_LIMIT = float("inf")
_TOLD = ("web", "worker", "clock", "redis", "devphone", "tunnel")


def run(
    *,
    port: int | None,
    devphone_port: int | None,
    data: Path,
    web_workers: int,
    json_output: bool,
    twilio: bool = False,
) -> int:
    """Runs a whole development system until SIGINT, SIGTERM or SIGHUP; returns the exit code.

    With `json_output` standard output gets one line of JSON when everything answers, and nothing else; if
    that takes more than 30 s, or a process dies again and again, the answer is 1 and a reason on standard
    error. Without it a short story is printed, and a system that can't start yet is tried on for as long as
    one likes to wait. With `twilio` real phones ring, through a tunnel, which gets 90 s in either case.
    Call it from the main thread (signals).
    """
    try:
        real = _real_calls() if twilio else None
        folder = Folder.open(data.resolve())
    except (real_calls.NotReady, tunnel.NoTunnel, FolderInUse, FolderUnusable) as error:
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
            real=real,
        )
        with Wakeups() as wakeups:
            return Running(plan, folder, wakeups, json_output=json_output).until_stopped()
    except BadSettings as error:
        telling.complain("these settings can't work:\n" + "\n".join(error.problems))
        return 1
    except (redis_server.NoServer, FolderUnusable, OSError) as error:
        telling.complain(str(error))
        return 1
    finally:
        promises.close()
        folder.close()


def _real_calls() -> RealCalls:
    settings = real_calls.settings(os.environ, Path(".env"))
    return RealCalls(settings, tunnel.find())


class Running:
    """One development system from its start to its end."""

    def __init__(
        self,
        plan: System,
        folder: Folder,
        wakeups: Wakeups,
        *,
        json_output: bool,
        start_limit_s: float | None = None,
    ) -> None:
        self._system = plan
        self._wakeups = wakeups
        self._json = json_output
        self._start_limit_s = start_limit_s or (TUNNEL_LIMIT_S if plan.tunnel else START_LIMIT_S)
        self._tell = telling.complain if json_output else telling.say
        self._tender = Tender(plan.programs, folder, tell=self._tell)
        self._said_before = 0
        self._lookout: Lookout | None = None
        self._number_known_to: int | None = None  # the dev phone's process that sends what comes in here
        self._number_asked: tuple[int | None, float] = (None, 0.0)  # the one being told, and until when

    def until_stopped(self) -> int:
        """Starts everything, keeps it running until a signal asks to stop; nothing is left afterwards."""
        try:
            if not self._started():
                return 0 if self._wakeups.stop_asked else 1
            self._announce()
            while self._until(self._tunnel_is_gone):
                if not self._reachable_anew():
                    return 0 if self._wakeups.stop_asked else 1
            return 0
        finally:
            if not self._json:
                telling.say("Stopping ...")
            if self._lookout:
                self._lookout.close()
            self._tender.stop()

    def _started(self) -> bool:
        """Whether everything answers. False: a stop was asked, or (with JSON) the time is up and was told."""
        if self._system.tunnel:
            self._tell(real_calls.NOTICE)
        if not self._json:
            second = self._system.tunnel.name if self._system.tunnel else "the dev phone"
            telling.say(f"Starting Redis, {second}, web, worker and clock ...\n")
        self._tender.start("redis")
        if not self._answers(self._redis_answers):
            return False
        if self._system.tunnel:
            if not self._reachable():
                return False
            self._examine()
            return True
        for program in self._system.programs[1:]:
            self._tender.start(program.name)
        return self._answers(lambda: not self._missing())

    def _reachable(self) -> bool:
        """Starts the tunnel and, told its address, the service; whether that answers from outside."""
        log = self._tender.folder.log("tunnel")
        self._said_before = log.stat().st_size if log.exists() else 0
        self._tender.start("tunnel")
        if not self._answers(lambda: bool(self._address())):
            return False
        self._system = self._system.reached_at(self._address())
        self._tender.change(self._system.programs)
        for name in system.SERVICE:
            self._tender.start(name)
        self._lookout = Lookout(self._system.public_url)
        return self._answers(lambda: not self._missing())

    def _examine(self) -> None:
        """Tells what would keep real phones from ringing, such as a wrong auth token."""
        from handoff import doctor  # knows the whole service, and only this needs it

        environ = next(program.env for program in self._system.programs if program.name == "web")
        for finding in doctor.examine(environ, offline=False):
            if finding.mark != "ok":
                self._tell(f"{finding.mark}  {finding.what}")

    def _reachable_anew(self) -> bool:
        """After the tunnel's death; False when there is no other."""
        assert self._system.tunnel
        self._tell(
            f"{self._system.tunnel.name} is gone, and {self._system.public_url} with it: links that were "
            "texted open no more. Starting it, web, worker and clock again ..."
        )
        self._tender.end(system.SERVICE)
        if self._lookout:
            self._lookout.close()
        self._system = self._system.reached_at("")
        if not self._reachable():
            return False
        self._tell(f"People and Twilio reach this machine at {self._system.public_url} now.")
        return True

    def _answers(self, condition: Callable[[], bool]) -> bool:
        began = time.monotonic()
        while not self._until(condition, time.monotonic() + min(_SAY_EVERY_S, self._start_limit_s)):
            if self._wakeups.stop_asked:
                return False
            waited_s = time.monotonic() - began
            if waited_s < self._start_limit_s and not self._is_lost():
                if self._system.tunnel:
                    self._tell(f"{self._missing()} (waiting, {waited_s:.0f} of {self._start_limit_s:.0f} s)")
                continue
            telling.complain(telling.still_waiting(self._missing(), self._tender.worst_log))
            if self._json or self._system.tunnel:
                return False
            began = time.monotonic()
        return True

    def _until(self, condition: Callable[[], bool], limit: float = _NO_LIMIT) -> bool:
        """Tends the processes until the condition holds; False when a stop was asked or the limit passed."""
        while not self._wakeups.stop_asked and time.monotonic() < limit:
            self._tender.tend(time.monotonic())
            connected = self._number_leads_here()
            if condition():
                return True
            if limit != _NO_LIMIT and self._is_lost():
                return False
            rests = limit == _NO_LIMIT and connected
            self._wakeups.wait(self._tender.rest_s(time.monotonic()) if rests else _LOOK_EVERY_S)
        return False

    def _number_leads_here(self) -> bool:
        """Whether the dev phone that runs now sends calls and texts to our number here: each has to be told.
        One that does not take it in the time of a start is left alone."""
        url, pid = self._system.devphone_url, self._tender.pids.get("devphone")
        if url is None or pid in (None, self._number_known_to):
            return True
        if pid != self._number_asked[0]:
            self._number_asked = (pid, time.monotonic() + START_LIMIT_S)
        late = time.monotonic() > self._number_asked[1]
        if late or number.leads_here(url, system.FROM_NUMBER, self._system.url):
            self._number_known_to = pid
        return self._number_known_to == pid

    def _is_lost(self) -> bool:
        """Whether waiting any longer for the start is of no use."""
        return (self._json and self._tender.hopeless) or self._tunnel_is_gone()

    def _tunnel_is_gone(self) -> bool:
        return self._system.tunnel is not None and self._tender.is_gone("tunnel")

    def _address(self) -> str:
        """The public address that the tunnel has said since it was started; empty while it has not."""
        assert self._system.tunnel
        with self._tender.folder.log("tunnel").open("rb") as log:
            log.seek(self._said_before)
            return self._system.tunnel.address(log.read().decode(errors="replace")) or ""

    def _missing(self) -> str:
        """What keeps the system from being ready, in words; empty when nothing does."""
        plan = self._system
        if not self._redis_answers():
            return "Redis does not answer"
        if plan.tunnel and self._tunnel_is_gone():
            return f"{plan.tunnel.name} ended, and Twilio can't reach this machine without it"
        if plan.tunnel and not plan.public_url:
            return f"{plan.tunnel.name} has not said an address yet"
        if plan.devphone_url and (problem := health.problem(f"{plan.devphone_url}/_devphone/state")):
            return f"the dev phone does not answer ({problem})"
        if problem := health.problem(f"{plan.url}/readyz"):
            return f"the service is not ready ({problem})"
        if self._lookout and (problem := self._lookout.problem):
            return f"{plan.public_url} does not lead here yet ({problem})"
        return ""

    def _redis_answers(self) -> bool:
        return redis_server.who_answers(self._system.kept.redis_port or 0) == self._tender.pids["redis"]

    def _announce(self) -> None:
        kept, plan = self._system.kept, self._system
        if plan.tunnel is None:  # a real account stays where it was
            self._tender.folder.write_settings(plan.settings)
        if not self._json:
            telling.say(telling.welcome(plan, self._tender.folder.path))
            return
        line = {
            "url": plan.url,
            "api_key": kept.api_key,
            "operator_key": kept.operator_key,
            "devphone_url": plan.devphone_url,
            "redis_url": plan.redis_url,
            "pids": {name: self._tender.pids[name] for name in _TOLD if name in self._tender.pids},
        }
        print(json.dumps(line), file=sys.stdout, flush=True)  # noqa: T201 - this line is the interface
