"""Ports on loopback: the asked one if nobody has it, else the next that nobody has.

A port that is free now may be taken a moment later, and web shares its port with whoever asks
(SO_REUSEPORT): two systems started together must not choose the same. Hence promises, kept in lock files.
"""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from pathlib import Path

LOOPBACK = "127.0.0.1"
_LAST = 65_535


class Promises:
    """Ports promised to one system, which no other system of this user gets until `close` or its death."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.gettempdir()) / f"handoff-ports-{os.getuid()}"
        self._locks: dict[int, int] = {}

    def get(self, wanted: int | None) -> int:
        """`wanted` or the first port above it that is free and promised to nobody; any when None.

        Raises OSError when there is none, or when the folder of the lock files can't be used.
        """
        for port in range(wanted or any_port(), _LAST + 1):
            if port not in self._locks and is_free(port) and self._promise(port):
                return port
        raise OSError(f"no free port from {wanted} on")

    def close(self) -> None:
        """Gives the ports back."""
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def _promise(self, port: int) -> bool:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(self._folder / str(port), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._locks[port] = lock
        return True


def listen(wanted: int) -> socket.socket:
    """A listening socket on this loopback port, or on the first free one above it. Raises OSError."""
    for port in range(wanted, _LAST + 1):
        try:
            return socket.create_server((LOOPBACK, port))
        except OSError:
            continue
    raise OSError(f"no free port from {wanted} on")


def any_port() -> int:
    """A loopback port that is free now, as the system chooses it: seldom the same twice."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
    return port


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Without this the TIME_WAIT left by a server that just ended would count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True
