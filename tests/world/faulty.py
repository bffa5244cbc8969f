"""What goes wrong on the way: a wire that loses an answer, a gateway that breaks off, a Redis that refuses.

All stand between real things: bytes really travel, creates really arrive at the dev phone.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from voice.gateway import CallReport, Gateway, Placed, Sender

if TYPE_CHECKING:
    from .world import World

Sees = Callable[[bytes], bool]


class Cutter:
    """A TCP relay on loopback. When armed, it passes one request on and cuts the line at its answer."""

    def __init__(self, host: str, port: int) -> None:
        """Listens at once; `port` of the relay is chosen by the system."""
        self._to = (host, port)
        self._lock = threading.Lock()
        self._sees: Sees | None = None
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="relay", daemon=True).start()

    def lose_the_answer_to(self, sees: Sees) -> None:
        """The next request whose bytes `sees` accepts is carried out, and its answer never arrives."""
        with self._lock:
            self._sees = sees

    def close(self) -> None:
        """Takes no more connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._relay, args=(near,), name="relay", daemon=True).start()

    def _relay(self, near: socket.socket) -> None:
        with near, socket.create_connection(self._to) as far:
            doomed = threading.Event()
            back = threading.Thread(target=self._back, args=(far, near, doomed), name="relay", daemon=True)
            back.start()
            with suppress(OSError):
                while data := near.recv(65_536):
                    if self._hit(data):
                        doomed.set()
                    far.sendall(data)
            _shut(far)
            back.join()

    def _hit(self, data: bytes) -> bool:
        with self._lock:
            if self._sees is None or not self._sees(data):
                return False
            self._sees = None
            return True

    def _back(self, far: socket.socket, near: socket.socket, doomed: threading.Event) -> None:
        with suppress(OSError):
            while data := far.recv(65_536):
                if doomed.is_set():
                    self.cuts += 1
                    break
                near.sendall(data)
        _shut(near)


def _shut(end: socket.socket) -> None:
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


class Killed(Exception):
    """Stands for the end of a process: nothing in the service expects it, so nothing tidies up."""


@dataclass
class Fails:
    """A gateway that passes everything to a real one, and dies in `place_call` when asked to.

    `before` dies without asking the provider, `after` once the provider has accepted; each counts down.
    `asked` notes the look-ups.
    """

    inner: Gateway
    before: int = 0
    after: int = 0
    asked: list[str] = field(default_factory=list)

    def place_call(
        self,
        number: str,
        *,
        voice_url: str,
        status_url: str,
        ring_s: int,
        time_limit_s: int,
        machine_url: str | None = None,
    ) -> Placed:
        self._die_before()
        placed = self.inner.place_call(
            number,
            voice_url=voice_url,
            status_url=status_url,
            ring_s=ring_s,
            time_limit_s=time_limit_s,
            machine_url=machine_url,
        )
        self._die_after()
        return placed

    def send_text(self, number: str, body: str, *, status_url: str, valid_s: int) -> Placed:
        return self.inner.send_text(number, body, status_url=status_url, valid_s=valid_s)

    def hang_up(self, provider_id: str) -> None:
        self.inner.hang_up(provider_id)

    def redirect(self, provider_id: str, url: str) -> None:
        self.inner.redirect(provider_id, url)

    def look_up(self, provider_id: str) -> CallReport:
        self.asked.append("look_up")
        return self.inner.look_up(provider_id)

    def find_call(self, number: str, *, since_ms: int, now_ms: int) -> CallReport | None:
        self.asked.append("find_call")
        return self.inner.find_call(number, since_ms=since_ms, now_ms=now_ms)

    def sender(self) -> Sender | None:
        return self.inner.sender()

    def check(self) -> int | None:
        return self.inner.check()

    def _die_before(self) -> None:
        if self.before:
            self.before -= 1
            raise Killed("between the claim and the create")

    def _die_after(self) -> None:
        if self.after:
            self.after -= 1
            raise Killed("between the create and the bookkeeping")


@contextmanager
def refusing_writes(world: World) -> Iterator[None]:
    """Redis answers, and refuses every write: it has fewer replicas than it was told to want."""
    world.settle()
    world.redis.config_set("min-replicas-to-write", "1")
    try:
        yield
    finally:
        world.redis.config_set("min-replicas-to-write", "0")
