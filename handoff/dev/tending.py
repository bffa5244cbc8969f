"""Keeps a set of processes running: a dead one is started again, same command, same ports, same data.

The first time at once, then after growing pauses as long as it keeps dying young. Decides nothing about what
the processes are (system.py) or when to give up (supervisor.py).
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from handoff.dev import processes
from handoff.dev.folder import Folder
from handoff.dev.system import Program

#: A process that lived this long was fine; its next death starts the count anew.
FINE_AFTER_S = 10.0
PAUSES_S = (0.0, 0.5, 1.0, 2.0, 5.0)
#: This many deaths in a row without a fine life are worth showing the log.
TELL_AFTER = 3
HOPELESS_AFTER = 3
#: Who ends together, in this order, and how long each may take. Redis goes last: the others still write.
ENDING = ((("web", "worker", "callbacks", "clock"), 4.0), (("devphone", "tunnel"), 1.0), (("redis",), 3.0))
_IDLE_S = 1.0


@dataclass
class _Tended:
    program: Program
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    deaths: int = 0
    due: float | None = None


class Tender:
    """Starts programs and starts them again. `pids` is who runs now, also in the folder's `pids.json`."""

    def __init__(self, programs: Sequence[Program], folder: Folder, *, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self.pids: dict[str, int] = {}
        self._tell = tell
        self._tended = {program.name: _Tended(program) for program in programs}
        self._left_behind: set[int] = set()

    def start(self, name: str) -> None:
        """Starts one program now."""
        tended = self._tended[name]
        program = tended.program
        tended.process = processes.spawn(
            program.command,
            self.folder.log(name),
            env=program.env,
            cwd=program.cwd,
            keep_open=[self.folder.lock],
        )
        tended.started_at, tended.due = time.monotonic(), None
        self.pids[name] = tended.process.pid
        self.folder.write_pids({"supervisor": os.getpid(), **self.pids})

    def change(self, programs: Sequence[Program]) -> None:
        """From their next start on, these programs are started like this."""
        for program in programs:
            self._tended[program.name].program = program

    def end(self, names: Sequence[str]) -> None:
        """Ends these programs and does not start them again until `start` is asked to."""
        tended = [self._tended[name] for name in names]
        processes.end([one.process for one in tended if one.process is not None], grace_s=4.0)
        for one in tended:
            one.process, one.due, one.deaths = None, None, 0

    def is_gone(self, name: str) -> bool:
        """Whether this program was started, has ended, and is not about to be started again."""
        tended = self._tended[name]
        return name in self.pids and tended.process is None and tended.due is None

    def tend(self, now: float) -> None:
        """Notices who died and starts again who is due. `now` as time.monotonic() has it."""
        for name, tended in self._tended.items():
            if tended.process is not None and tended.process.poll() is not None:
                self._bury(name, tended, now)
            if tended.due is not None and tended.due <= now:
                self.start(name)
                self._tell(f"{name} was started again as process {self.pids[name]}")
        self._left_behind = {group for group in self._left_behind if processes.group_is_alive(group)}

    def _bury(self, name: str, tended: _Tended, now: float) -> None:
        assert tended.process is not None
        if now - tended.started_at >= FINE_AFTER_S:
            tended.deaths = 0
        pause = PAUSES_S[min(tended.deaths, len(PAUSES_S) - 1)]
        tended.deaths += 1
        tended.due = now + pause if tended.program.again else None
        # What it forked may finish on its own, as it would in production; stop() ends what is still there.
        self._left_behind.add(tended.process.pid)
        how = processes.how_it_ended(tended.process.returncode)
        tended.process = None
        self._tell(f"{name} {how}")
        if tended.deaths % TELL_AFTER == 0:
            end = processes.log_end(self.folder.log(name))
            self._tell(f"{name} ended {tended.deaths} times in a row; {end}")

    def rest_s(self, now: float) -> float:
        """How long `tend` has nothing to do unless a process dies, in seconds."""
        dues = [tended.due for tended in self._tended.values() if tended.due is not None]
        return min([_IDLE_S if self._left_behind else 60.0, *(max(0.0, due - now) for due in dues)])

    @property
    def worst_log(self) -> Path | None:
        """The log of the process that keeps dying, if one does."""
        worst = max(self._tended.values(), key=lambda tended: tended.deaths)
        return self.folder.log(worst.program.name) if worst.deaths else None

    @property
    def hopeless(self) -> bool:
        """Whether a process died so often in a row that it will hardly come up by itself."""
        return any(tended.deaths >= HOPELESS_AFTER for tended in self._tended.values())

    def stop(self) -> None:
        """Ends everything that was started, also what dead processes left behind; returns when it is gone."""
        for names, grace_s in ENDING:
            members = [self._tended[name].process for name in names if name in self._tended]
            processes.end([process for process in members if process is not None], grace_s=grace_s)
        for group in self._left_behind:
            processes.signal_group(group, signal.SIGKILL)
