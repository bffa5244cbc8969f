"""A connection to exactly the addresses that were checked, under one deadline, with a limit on what is read.

Which addresses are fit to be called is addresses.py's business; what is sent, and what an answer means,
resume.py's.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import httpcore2

from handoff.addresses import MAX_ANSWER_BYTES, Address, CallFailed, FailureKind

_T = TypeVar("_T")


def seconds_left(deadline: float) -> float:
    """Until `deadline` on the monotonic clock, always more than 0; raises `CallFailed` (`timed_out`)."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise CallFailed(FailureKind.TIMED_OUT, "no answer in time")
    return left


class PinnedBackend(httpcore2.NetworkBackend):
    """Connects to the given addresses only, whatever name is asked for; TLS still has to prove that name.

    All that happens on the connection shares one deadline (by the monotonic clock), so that a byte now and
    then gains a server nothing; HTTP clients limit single reads, and start anew with each.
    """

    def __init__(self, addresses: Iterable[Address], deadline: float) -> None:
        self._addresses = list(addresses)
        self._deadline = deadline
        self._connection: socket.socket | None = None

    def connect_tcp(self, *_: Any, **__: Any) -> httpcore2.NetworkStream:
        """Try the addresses in order, none for more than its share of the time; raises `CallFailed`.

        The host and port that httpcore2 asks for are left aside: only the addresses were checked.
        """
        reason = "no address"
        for index, address in enumerate(self._addresses):
            share = seconds_left(self._deadline) / (len(self._addresses) - index)
            try:
                self._connection = socket.create_connection(address, share)
                self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as error:
                reason = (error.strerror or "no answer").lower()
                continue
            return _LimitedStream(self._connection, self._deadline)
        raise CallFailed(FailureKind.CONNECT_FAILED, f"no connection: {reason}")

    def close(self) -> None:
        """Close the connection, whatever became of it; httpcore2 forgets one whose TLS failed."""
        if self._connection is not None:
            self._connection.close()


class _LimitedStream(httpcore2.NetworkStream):
    """One connection under its deadline and its limit of bytes.

    TLS goes through buffers instead of taking the socket: so each wait for bytes is ours, under gevent too,
    whose own TLS sockets start their time anew with every piece that comes.
    """

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._bytes_left = MAX_ANSWER_BYTES
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        del timeout  # the deadline is one for everything
        try:
            self._tls = ssl_context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname)
            self._through_tls(self._tls.do_handshake)
        except ssl.SSLCertVerificationError as error:
            raise CallFailed(FailureKind.TLS_FAILED, f"certificate: {error.verify_message}") from error
        except OSError as error:
            raise CallFailed(FailureKind.TLS_FAILED, "no TLS connection came about") from error
        return self

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        del timeout
        if self._bytes_left <= 0:
            raise CallFailed(FailureKind.RESPONSE_TOO_LARGE, f"no status in {MAX_ANSWER_BYTES} bytes")
        wanted, tls = min(max_bytes, self._bytes_left), self._tls
        try:
            chunk = self._receive(wanted) if tls is None else self._through_tls(lambda: tls.read(wanted))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return b""  # HTTP itself knows whether the answer was complete
        except ssl.SSLError as error:
            raise CallFailed(FailureKind.TLS_FAILED, "the TLS connection failed") from error
        except OSError as error:
            raise CallFailed(FailureKind.PROTOCOL_ERROR, "the connection broke before an answer") from error
        self._bytes_left -= len(chunk)
        return chunk

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        del timeout
        tls = self._tls
        try:
            if tls is None:
                self._send(buffer)
            elif buffer:
                self._through_tls(lambda: tls.write(buffer))
        except OSError as error:
            # After this one httpcore2 still reads: a server may answer without taking the whole body.
            raise httpcore2.WriteError("the request was not taken") from error

    def close(self) -> None:
        self._connection.close()

    def _through_tls(self, step: Callable[[], _T]) -> _T:
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._send(self._outgoing.read())
                if chunk := self._receive(MAX_ANSWER_BYTES):
                    self._incoming.write(chunk)
                else:
                    self._incoming.write_eof()
            else:
                self._send(self._outgoing.read())
                return result

    def _receive(self, max_bytes: int) -> bytes:
        self._connection.settimeout(seconds_left(self._deadline))
        try:
            return self._connection.recv(max_bytes)
        except TimeoutError:
            raise CallFailed(FailureKind.TIMED_OUT, "no answer in time") from None

    def _send(self, data: bytes) -> None:
        self._connection.settimeout(seconds_left(self._deadline))
        try:
            self._connection.sendall(data)  # its time limit is for all of the data, not for each piece
        except TimeoutError:
            raise CallFailed(FailureKind.TIMED_OUT, "the request was not taken in time") from None
