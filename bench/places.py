"""What is measured: real servers of our own on loopback, started for one run and ended with it. Linux only.

Redis comes from handoff.dev.redis_server (every write fsynced), the web processes from the shipped
gunicorn.conf.py with the settings that `handoff dev` would give them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from handoff.dev import health, ports, processes, redis_server, system
from handoff.dev.folder import Folder, Kept

READY_WITHIN_S = 30.0
#: Files that a process holds beside its sockets to waiting agents: pools, logs, listeners, libraries.
SPARE_FILES = 500


class NotReady(Exception):
    """A server did not start, or the machine's limits are too low; the message says which."""


@dataclass(frozen=True)
class Web:
    """Redis and the web processes, without worker, clock and dev phone."""

    port: int
    redis_url: str
    kept: Kept
    master: int

    def memory_kb(self) -> int:
        """PSS of gunicorn's master and workers, in kB: private pages, a fair share of others (proc(5))."""
        return sum(map(_pss_kb, self._pids()))

    def _pids(self) -> list[int]:
        children = Path(f"/proc/{self.master}/task/{self.master}/children").read_text().split()
        return [self.master, *map(int, children)]


def allow_files(count: int) -> None:
    """Raises this process's limit on open files, which its children inherit. Raises NotReady."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + SPARE_FILES
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise NotReady(f"this needs {wanted:,} open files in a process, and the hard limit is {hard:,}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextmanager
def data_folder(given: Path | None) -> Iterator[Path]:
    """`given`, or a fresh folder that is deleted afterwards. Only on a real disk does fsync cost its due."""
    if given is not None:
        given.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="handoff-bench-") as folder:
        yield Path(folder)


@contextmanager
def floor_server(data: Path) -> Iterator[int]:
    """The port of a running floor.py."""
    port = ports.any_port()
    log = data / "floor.log"
    command = [sys.executable, "-m", "bench.floor", "--port", str(port)]
    process = processes.spawn(command, log, cwd=system.ROOT)
    try:
        _until(lambda: not ports.is_free(port), process, log)
        yield port
    finally:
        processes.end([process], grace_s=2)


@contextmanager
def web_only(data: Path, workers: int) -> Iterator[Web]:
    """Redis and web processes, answering. Nothing takes work from the outbox, so no phone rings."""
    folder = Folder.open(data)
    promises = ports.Promises()
    started: list[subprocess.Popen[bytes]] = []
    try:
        plan = system.plan(folder, os.environ, promises, port=ports.any_port(), web_workers=workers)
        programs = {program.name: program for program in plan.programs}
        for name in ("redis", "web"):
            program = programs[name]
            process = processes.spawn(program.command, folder.log(name), env=program.env, cwd=program.cwd)
            started.append(process)
            if name == "redis":
                redis_server.wait_until_ready(process, plan.kept.redis_port or 0)
        _until(lambda: not health.problem(f"{plan.url}/healthz"), started[-1], folder.log("web"))
        yield Web(plan.kept.web_port or 0, plan.redis_url, plan.kept, started[-1].pid)
    finally:
        processes.end(list(reversed(started)), grace_s=12)
        promises.close()
        folder.close()


def _until(condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NotReady(processes.log_end(log))
        time.sleep(0.05)


def _pss_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    raise NotReady(f"/proc/{pid}/smaps_rollup tells no Pss")
