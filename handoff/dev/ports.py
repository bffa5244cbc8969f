"""Free ports on loopback: the asked one if nobody has it, else the next that nobody has."""

from __future__ import annotations

import socket
from collections.abc import Container

LOOPBACK = "127.0.0.1"
_LAST = 65_535


def is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port now; a moment later another may have taken it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Without this the TIME_WAIT left by a server that just ended would count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose(wanted: int | None, *, but: Container[int] = ()) -> int:
    """A free loopback port: `wanted` or the first free one above it; any when `wanted` is None.

    Ports in `but` are promised to somebody else. Raises OSError when none is left.
    """
    if wanted is None:
        return _any_port(but)
    for port in range(wanted, _LAST + 1):
        if port not in but and is_free(port):
            return port
    raise OSError(f"no free port from {wanted} on")


def _any_port(but: Container[int]) -> int:
    while True:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind((LOOPBACK, 0))
            port: int = probe.getsockname()[1]
        if port not in but:
            return port
