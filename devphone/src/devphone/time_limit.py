"""Ends one HTTP request when its time is over, whatever the other side does.

The timeouts of the HTTP client begin anew with every byte that arrives, so an answer that drips would never
end. Looking a host name up can't be cut short: that time comes on top.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx2


class TimeLimit:
    """A context manager around one request that has `trace` among its extensions.

    At `deadline` (monotonic seconds) its connection is shut, on which the client raises one of its errors or
    takes what came for the whole answer. So ask `over`, and read with `read`.
    """

    def __init__(self, deadline: float) -> None:
        """The time runs from `with` on."""
        self._deadline = deadline
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self.over = False

    def __enter__(self) -> TimeLimit:
        self._timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), self._end)
        self._timer.daemon = True
        self._timer.start()
        return self

    @property
    def left_s(self) -> float:
        """Seconds that are left, never less than the HTTP client takes for a timeout."""
        return max(0.01, self._deadline - time.monotonic())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def trace(self, step: str, info: Mapping[str, Any]) -> None:
        """For the client's `trace` extension: learns which connection to shut.

        https://www.encode.io/httpcore/extensions/#trace
        """
        if step in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._connection = info["return_value"].get_extra_info("socket")
                if self.over:
                    _shut(self._connection)

    def read(self, response: httpx2.Response, most: int) -> bytes:
        """The body, of one longer than `most` a little more than that.

        Raises ReadTimeout when the time was over before, and another RequestError when the answer broke off.
        """
        body = b""
        try:
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > most:
                    break
        except httpx2.RequestError:
            if not self.over:
                raise
        if self.over:
            raise httpx2.ReadTimeout("the answer took too long", request=response.request)
        return body

    def _end(self) -> None:
        with self._lock:
            self.over = True
            if self._connection is not None:
                _shut(self._connection)


def _shut(connection: socket.socket) -> None:
    """Wakes whoever reads from it. Not a TLS socket's own method, which is not made for two threads."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        return  # it was closed meanwhile
