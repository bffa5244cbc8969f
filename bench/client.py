"""A client light enough not to be the bottleneck: bare HTTP/1.1 over asyncio, connections kept open.

Reads only answers that tell their length. Moments are `time.perf_counter()` of this one process, in s: a
request's just before it is written, an answer's when its last byte has been read.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")


@dataclass(frozen=True)
class Answer:
    """One answer: the HTTP status, the body, and when it was all there."""

    status: int
    body: bytes
    at: float


class Connection(asyncio.Protocol):
    """One connection. `on_answer` gets every answer, `on_lost` is called when the server ends it."""

    def __init__(self, on_answer: Callable[[Answer], None], on_lost: Callable[[], None]) -> None:
        self._on_answer = on_answer
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._read = b""
        self._ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's word that it is there."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """asyncio's word that bytes came."""
        at = time.perf_counter()
        self._read += data
        while (head := self._read.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._read, 0, head + 2)
            if length is None:
                raise ValueError(f"an answer without a length: {self._read[:200]!r}")
            end = head + 4 + int(length[1])
            if len(self._read) < end:
                return
            answer = Answer(int(self._read[9:12]), self._read[head + 4 : end], at)
            self._read = self._read[end:]
            self._on_answer(answer)

    def connection_lost(self, _: Exception | None) -> None:
        """asyncio's word that it is gone."""
        if not self._ended:
            self._on_lost()

    def send(self, request: bytes) -> float:
        """Writes a request; returns the moment just before."""
        assert self._transport is not None
        at = time.perf_counter()
        self._transport.write(request)
        return at

    def close(self) -> None:
        """Ends it from here; `on_lost` is not called."""
        self._ended = True
        if self._transport is not None:
            self._transport.close()


class Poster:
    """Requests that are answered soon, over as many kept connections as are busy at the same time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: deque[_Exchange] = deque()
        self._all: list[_Exchange] = []

    async def open(self, count: int) -> None:
        """Connects ahead, so that a measured request does not pay for it."""
        self._idle.extend([await self._connect() for _ in range(count)])

    async def send(self, request: bytes, on_sent: Callable[[float], None] | None = None) -> Answer:
        """Sends and returns the answer; `on_sent` gets the moment of sending, before any answer can come.

        Raises ConnectionError when the server cuts it off.
        """
        exchange = self._idle.popleft() if self._idle else await self._connect()
        exchange.answered = asyncio.get_running_loop().create_future()
        sent = exchange.connection.send(request)
        if on_sent is not None:
            on_sent(sent)
        answer = await exchange.answered
        self._idle.append(exchange)
        return answer

    def close(self) -> None:
        """Ends every connection."""
        for exchange in self._all:
            exchange.connection.close()

    async def _connect(self) -> _Exchange:
        exchange = _Exchange()
        await asyncio.get_running_loop().create_connection(
            lambda: exchange.connection, "127.0.0.1", self._port
        )
        self._all.append(exchange)
        return exchange


class _Exchange:
    def __init__(self) -> None:
        self.answered: asyncio.Future[Answer] | None = None
        self.connection = Connection(self._answer, self._lost)

    def _answer(self, answer: Answer) -> None:
        if self.answered is not None and not self.answered.done():
            self.answered.set_result(answer)

    def _lost(self) -> None:
        if self.answered is not None and not self.answered.done():
            self.answered.set_exception(ConnectionError("the server ended the connection"))


def request(verb: str, target: str, body: str = "", **headers: str) -> bytes:
    """The bytes of a request. Header names are written with `_` for `-`."""
    lines = [f"{verb} {target} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if verb == "POST":
        lines.append(f"Content-Length: {len(body.encode())}")
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()
