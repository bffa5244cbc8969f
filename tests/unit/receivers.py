"""Agents' servers, kind ones and unkind ones, and the resume callbacks sent to them.

Real sockets in threads; the fixtures that start them are in conftest.py. The server that stands for Twilio's
API is in twilio_peer.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from handoff.resume import Delivered, Delivery, DeliveryFailed, FailureKind, deliver, signing_secret

NOW = datetime(2026, 11, 30, 9, 21, 7, 480_000, tzinfo=UTC)
BODY = '{"note":"naïve – 日本 😀","n":1.0}'.encode()
SECRET, OLD_SECRET = (signing_secret("server key", f"ak_{number}") for number in "12")
# A certificate for agent.example and its key, made for these tests; it opens nothing anywhere.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBtjCCAVygAwIBAgICEAAwCgYIKoZIzj0EAwIwGDEWMBQGA1UEAwwNYWdlbnQu
ZXhhbXBsZTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGDEWMBQG
A1UEAwwNYWdlbnQuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMat
WLy/MGDXHSmk3a3hWxWyYZ36EngUmrEeB/KqpbqlbP0w5WhXMlhnkhnF7JrmmPxS
HTyz95zOk95kRr3EsYejgZMwgZAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E
BAMCAoQwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYEFM//I1/kpFJUxAIo
O4qTBRF/TgOQMB8GA1UdIwQYMBaAFM//I1/kpFJUxAIoO4qTBRF/TgOQMBgGA1Ud
EQQRMA+CDWFnZW50LmV4YW1wbGUwCgYIKoZIzj0EAwIDSAAwRQIhAIrsCTWg2kd9
VNYrNfxg+FlRojLBRjNG19QZo/wUIZKnAiBXOL7jbgeRdzUCAw7hOiU4xYchCFOR
NSa8aEEaHj2RsQ==
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCCzqPjShRUBCaqUQ
Z1iPgD3MTUfn/8tOOf+uBYX8nFmhRANCAATGrVi8vzBg1x0ppN2t4VsVsmGd+hJ4
FJqxHgfyqqW6pWz9MOVoVzJYZ5IZxeya5pj8Uh08s/eczpPeZEa9xLGH
-----END PRIVATE KEY-----
"""


@dataclass
class Request:
    """What one callback brought."""

    path: str
    headers: Message
    body: bytes


@dataclass
class Receiver:
    """An agent's server: keeps what it was sent and answers as `behave` says."""

    port: int
    behave: Behaviour
    requests: list[Request] = field(default_factory=list)
    names_asked_for: list[str | None] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str = "/resume", host: str = "127.0.0.1", scheme: str = "http") -> str:
        """An address that leads here, whatever host it names."""
        return f"{scheme}://{host}:{self.port}{path}"


class Handler(BaseHTTPRequestHandler):
    """Writes down each POST and lets the receiver's behaviour answer it."""

    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.receiver.requests.append(Request(self.path, self.headers, body))
        self.receiver.behave(self)

    def log_message(self, *_: Any) -> None:
        return


Behaviour = Callable[[Handler], object]


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that hang up, and closes when the last answer has ended."""

    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hangs up on an unkind server is what these tests want.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


Serve = Callable[..., Receiver]


@contextmanager
def receivers(directory: Path) -> Iterator[Serve]:
    """Gives `start(behave, tls=, host=, port=)`, which starts a receiver in threads of its own."""
    with ExitStack() as stack:

        def start(
            behave: Behaviour | int = 200,
            *,
            tls: bool = False,
            host: str = "127.0.0.1",
            port: int = 0,
        ) -> Receiver:
            class BoundHandler(Handler):
                receiver: Receiver

            server = QuietServer((host, port), BoundHandler)
            how = answering(behave) if isinstance(behave, int) else behave
            receiver = BoundHandler.receiver = Receiver(server.server_address[1], how)
            if tls:
                server.socket = server_context(directory, receiver.names_asked_for).wrap_socket(
                    server.socket, server_side=True, do_handshake_on_connect=False
                )
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            # Last in, first out: unkind handlers are let go before the server waits for them.
            stack.callback(thread.join, 10)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            stack.callback(receiver.stopping.set)
            return receiver

        yield start


def server_context(directory: Path, names: list[str | None]) -> ssl.SSLContext:
    """The TLS of agent.example; every name a client asks for is added to `names`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = directory / "certificate.pem", directory / "key.pem"
    files[0].write_text(CERTIFICATE)
    files[1].write_text(KEY)
    context.load_cert_chain(*files)
    context.sni_callback = lambda _connection, name, _context: names.append(name)
    return context


def trusting_context() -> ssl.SSLContext:
    """The TLS of a client that trusts agent.example, and nobody else."""
    return ssl.create_default_context(cadata=CERTIFICATE)


def answering(status: int, body: bytes = b"ok", **headers: str) -> Behaviour:
    """Answers with this status, body and these headers, at once."""

    def behave(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def dripping(before: bytes, piece: bytes, after: bytes = b"") -> Behaviour:
    """Sends `before`, a `piece` every 20 ms for half a minute or until nobody listens, and `after`."""

    def behave(handler: Handler) -> None:
        handler.wfile.write(before)
        for _ in range(1500):
            handler.wfile.write(piece)
            if handler.receiver.stopping.wait(0.02):
                return
        handler.wfile.write(after)

    return behave


@contextmanager
def trickling_tls() -> Iterator[int]:
    """A port where a TLS record of 16 kB begins, and comes a byte every 20 ms."""
    stopping = threading.Event()

    def trickle(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"\x16\x03\x03\x40\x00")
            while not stopping.wait(0.02):
                try:
                    connection.sendall(b"\x02")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, args=[listener])
        thread.start()
        yield listener.getsockname()[1]
        stopping.set()
        thread.join(10)


@contextmanager
def deaf_server() -> Iterator[int]:
    """A port on 127.0.0.1 that takes no connection and refuses none: its queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


def to(url: str, **changes: Any) -> Delivery:
    """The resume callback of one handoff to this URL."""
    return Delivery(**{"url": url, "webhook_id": "resume-ho_1", "body": BODY, "secrets": [SECRET], **changes})


def send(url: str, **how: Any) -> Delivered | DeliveryFailed:
    """What came of sending it there once, where private addresses are allowed."""
    return deliver(to(url), **{"now": NOW, "allow_private": True, **how})


def failed_with(outcome: Delivered | DeliveryFailed) -> tuple[FailureKind, bool]:
    """The kind of a failure, and whether it is worth another try; fails when it was delivered."""
    assert isinstance(outcome, DeliveryFailed), outcome
    return outcome.kind, outcome.retryable


def at(*addresses: str) -> Callable[[str, int], list[str]]:
    """A look-up that finds these addresses for every name."""
    return lambda _host, _port: list(addresses)


def independent_verifier(request: Request, secret: str) -> bool:
    """Knows nothing of our code: the scheme of Standard Webhooks over the bytes that came."""
    signed = (
        f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    )
    digest = hmac.new(base64.b64decode(secret[6:]), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}" in request.headers["webhook-signature"].split(" ")
