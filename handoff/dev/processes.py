"""Starting and ending one process of a development system. When to start it again is tending.py's business.

Every process leads a session and process group of its own, so that a Ctrl-C in the terminal reaches only the
supervisor, and so that what a process forked can be ended with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_TETHER = Path(__file__).with_name("tether.py")
_POLL_S = 0.02


def tethered(command: Sequence[str]) -> list[str]:
    """`command`, wrapped so that it gets SIGTERM when this process dies, however it dies (Linux only).

    Start it from the main thread: the kernel counts the end of the starting thread as that death.
    """
    return [sys.executable, "-I", "-S", str(_TETHER), str(os.getpid()), *command]


def spawn(
    command: Sequence[str],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    keep_open: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Starts `command` tethered to this process, without standard input, its output appended to `log`.

    `keep_open` are file descriptors that it inherits. A program that can't be run ends with code 1 and a
    line in the log.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            tethered(command),
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(keep_open),
        )


def signal_group(group: int, number: signal.Signals) -> bool:
    """Sends a signal to every process of the group; False when none is left."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        # macOS answers this for a group of zombies only; nothing in it can still run.
        return False
    return True


def group_is_alive(group: int) -> bool:
    """Whether any process of the group is still there (zombies that nobody reaped count)."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end(processes: Sequence[subprocess.Popen[bytes]], *, grace_s: float) -> None:
    """Ends processes and all that they started: SIGTERM, after `grace_s` seconds SIGKILL."""
    deadline = time.monotonic() + grace_s
    for process in processes:
        signal_group(process.pid, signal.SIGTERM)
    for process in processes:
        while not _gone(process) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    for process in processes:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to a process and all that it started; returns when the process itself is reaped."""
    signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _gone(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None and not group_is_alive(process.pid)


def how_it_ended(returncode: int) -> str:
    """`ended with code 3` or `was killed by SIGKILL`, from what Popen tells."""
    if returncode >= 0:
        return f"ended with code {returncode}"
    try:
        return f"was killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"was killed by signal {-returncode}"


def log_end(log: Path, count: int = 12) -> str:
    """`LOG ends:` and its last lines, indented, for a message to a person."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 16_384))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        text = ""
    lines = text.splitlines()[-count:] or ["(nothing in the log)"]
    return "\n".join([f"{log} ends:", *(f"    {line}" for line in lines)])
