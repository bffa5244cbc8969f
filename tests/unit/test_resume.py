"""The resume callback on the wire: real servers in threads, kind ones and unkind ones."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from handoff.resume import (
    BEARER_PATTERN,
    Delivered,
    Delivery,
    DeliveryFailed,
    FailureKind,
    WebhookVerificationError,
    backoff,
    deliver,
    signing_secret,
    verify,
)

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs" / "callbacks.md").read_text(encoding="utf-8")
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
        return f"{scheme}://{host}:{self.port}{path}"


class Handler(BaseHTTPRequestHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.receiver.requests.append(Request(self.path, self.headers, body))
        self.receiver.behave(self)

    def log_message(self, *_: Any) -> None:
        return


Behaviour = Callable[[Handler], object]


class QuietServer(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hangs up on an unkind server is what these tests want.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


Serve = Callable[..., Receiver]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with receivers(tmp_path) as start:
        yield start


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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = directory / "certificate.pem", directory / "key.pem"
    files[0].write_text(CERTIFICATE)
    files[1].write_text(KEY)
    context.load_cert_chain(*files)
    context.sni_callback = lambda _connection, name, _context: names.append(name)
    return context


def trusting_context() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=CERTIFICATE)


def answering(status: int, body: bytes = b"ok", **headers: str) -> Behaviour:
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


@pytest.fixture
def second_address() -> str:
    """Another address of this machine; Linux has the whole block, others may not."""
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this machine has no 127.0.0.2")
    return "127.0.0.2"


def to(url: str, **changes: Any) -> Delivery:
    return Delivery(**{"url": url, "webhook_id": "resume-ho_1", "body": BODY, "secrets": [SECRET], **changes})


def send(url: str, **how: Any) -> Delivered | DeliveryFailed:
    return deliver(to(url), **{"now": NOW, "allow_private": True, **how})


def failed_with(outcome: Delivered | DeliveryFailed) -> tuple[FailureKind, bool]:
    assert isinstance(outcome, DeliveryFailed), outcome
    return outcome.kind, outcome.retryable


def at(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda _host, _port: list(addresses)


def independent_verifier(request: Request, secret: str) -> bool:
    """Knows nothing of our code: the scheme of Standard Webhooks over the bytes that came."""
    signed = (
        f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    )
    digest = hmac.new(base64.b64decode(secret[6:]), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}" in request.headers["webhook-signature"].split(" ")


# What is sent


def test_a_callback_is_a_signed_post_of_exactly_these_bytes(serve: Serve) -> None:
    receiver = serve(204)
    assert deliver(
        to(receiver.url("/resume/7?run=a%20b"), bearer="resume-token-of-ada"), now=NOW, allow_private=True
    ) == Delivered(204)
    [request] = receiver.requests
    assert request.path == "/resume/7?run=a%20b"
    assert request.body == BODY
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["Authorization"] == "Bearer resume-token-of-ada"
    assert request.headers["webhook-id"] == "resume-ho_1"
    assert request.headers["webhook-timestamp"] == "1796030467"
    assert independent_verifier(request, SECRET)
    assert not independent_verifier(request, OLD_SECRET)


def test_without_a_token_there_is_no_authorization(serve: Serve) -> None:
    receiver = serve()
    send(receiver.url())
    assert receiver.requests[0].headers["Authorization"] is None


def test_while_a_secret_is_changed_both_verify_newest_first(serve: Serve) -> None:
    receiver = serve()
    deliver(to(receiver.url(), secrets=[SECRET, OLD_SECRET]), now=NOW, allow_private=True)
    [request] = receiver.requests
    assert independent_verifier(request, SECRET)
    assert independent_verifier(request, OLD_SECRET)
    verify(request.body, dict(request.headers.items()), OLD_SECRET, now=NOW)
    first = dict(request.headers.items()) | {
        "webhook-signature": request.headers["webhook-signature"].split()[0]
    }
    verify(request.body, first, SECRET, now=NOW)


def test_a_later_try_has_the_same_id_and_bytes_and_a_fresh_timestamp_and_signature(serve: Serve) -> None:
    receiver = serve(500)
    delivery = to(receiver.url())
    assert failed_with(deliver(delivery, now=NOW, allow_private=True)) == (FailureKind.SERVER_ERROR, True)
    receiver.behave = answering(200)
    later = NOW + timedelta(minutes=10)
    # Another time zone is the same moment.
    elsewhere = later.astimezone(timezone(timedelta(hours=9)))
    assert deliver(delivery, now=elsewhere, allow_private=True) == Delivered(200)
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 600
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert independent_verifier(second, SECRET)


def test_a_time_without_a_zone_is_refused_before_it_signs_the_wrong_moment() -> None:
    with pytest.raises(ValueError, match="time zone"):
        send("http://127.0.0.1:1/", now=NOW.replace(tzinfo=None))


def test_what_can_not_be_sent_safely_can_not_be_made() -> None:
    bad: dict[str, Any]
    for bad in (
        {"webhook_id": "a.b"},
        {"webhook_id": "a\r\nX-Forged: 1"},
        {"webhook_id": ""},
        {"secrets": []},
        {"bearer": "hunter2\r\nX-Forged: 1"},
        {"bearer": "hunter2\n"},
        {"bearer": "hunter2 two"},
        {"bearer": "hünter2"},
        {"bearer": ""},
    ):
        with pytest.raises(ValueError) as refused:
            to("https://agent.example/", **bad)
        assert "nter2" not in str(refused.value)
    assert re.fullmatch(BEARER_PATTERN, "eyJhbGciOi.J9-_~+/==")


# What an answer means


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_success(serve: Serve, status: int) -> None:
    assert send(serve(answering(status, b"")).url()) == Delivered(status)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, FailureKind.REFUSED, True),
        (401, FailureKind.REFUSED, True),
        (404, FailureKind.REFUSED, True),
        (408, FailureKind.REFUSED, True),
        (410, FailureKind.REFUSED, False),
        (429, FailureKind.REFUSED, True),
        (500, FailureKind.SERVER_ERROR, True),
        (502, FailureKind.SERVER_ERROR, True),
        (503, FailureKind.SERVER_ERROR, True),
        (304, FailureKind.REDIRECTED, False),
        (600, FailureKind.PROTOCOL_ERROR, True),
    ],
)
def test_any_other_status_is_a_failure_and_only_gone_and_redirects_are_final(
    serve: Serve, status: int, kind: FailureKind, retryable: bool
) -> None:
    assert failed_with(send(serve(answering(status, b"")).url())) == (kind, retryable)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("how", ["to a private place", "to metadata", "to a file"])
def test_a_redirect_is_not_followed_wherever_it_leads(serve: Serve, status: int, how: str) -> None:
    inside = serve()
    location = {
        "to a private place": inside.url("/flushall"),
        "to metadata": "http://169.254.169.254/latest/meta-data/",
        "to a file": "file:///etc/passwd",
    }[how]
    receiver = serve(answering(status, b"", Location=location))
    assert failed_with(send(receiver.url())) == (FailureKind.REDIRECTED, False)
    assert len(receiver.requests) == 1
    assert inside.requests == []


def test_an_endless_body_after_a_2xx_is_still_a_success_and_is_not_read_on(serve: Serve) -> None:
    sent: list[int] = []

    def endless(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        while not receiver.stopping.is_set():
            sent.append(handler.wfile.write(b"x" * 65536))

    receiver = serve(endless)
    assert send(receiver.url()) == Delivered(200)
    # What fits into the buffers of both ends may be sent, and then nobody takes it.
    assert sum(sent) < 50_000_000


def test_an_endless_body_after_an_error_is_that_error(serve: Serve) -> None:
    receiver = serve(answering(404, b"x" * 5_000_000))
    assert failed_with(send(receiver.url())) == (FailureKind.REFUSED, True)


def test_a_head_that_never_ends_is_too_large(serve: Serve) -> None:
    def chatty(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-More: yes\r\n" * 10_000)

    assert failed_with(send(serve(chatty).url())) == (FailureKind.RESPONSE_TOO_LARGE, True)


def test_interim_answers_without_end_are_too_large_and_one_of_them_is_no_harm(serve: Serve) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"

    def hinting(times: int) -> Behaviour:
        return lambda handler: (
            handler.wfile.write(hint * times + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") and None
        )

    assert send(serve(hinting(1)).url()) == Delivered(200)
    assert failed_with(send(serve(hinting(5_000)).url())) == (FailureKind.RESPONSE_TOO_LARGE, True)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"\x00" * 100,
    ],
)
def test_what_is_no_http_answer_is_a_protocol_error(serve: Serve, answer: bytes) -> None:
    receiver = serve(lambda handler: handler.wfile.write(answer))
    assert failed_with(send(receiver.url())) == (FailureKind.PROTOCOL_ERROR, True)


def test_a_2xx_whose_body_breaks_off_is_a_success(serve: Serve) -> None:
    receiver = serve(lambda h: h.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"))
    assert send(receiver.url()) == Delivered(200)


# Time


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        (b"", b"", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", b"\r\nContent-Length: 0\r\n\r\n"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ],
    ids=["silence", "a header a letter at a time", "interim answers"],
)
def test_a_slow_answer_ends_when_the_time_is_used_up_however_it_trickles(
    serve: Serve, before: bytes, piece: bytes, after: bytes
) -> None:
    receiver = serve(dripping(before, piece, after))
    assert failed_with(send(receiver.url(), total_s=0.3)) == (FailureKind.TIMED_OUT, True)


@pytest.mark.parametrize(("status", "delivered"), [("200 OK", True), ("503 Busy", False)])
def test_a_body_that_trickles_does_not_hold_us_and_the_status_counts(
    serve: Serve, status: str, delivered: bool
) -> None:
    finished = threading.Event()
    drip = dripping(f"HTTP/1.1 {status}\r\nContent-Length: 1500\r\n\r\n".encode(), b"x")

    def behave(handler: Handler) -> None:
        drip(handler)
        finished.set()

    outcome = send(serve(behave).url(), total_s=0.3)
    assert isinstance(outcome, Delivered) is delivered
    assert not finished.is_set(), "the whole body was waited for"


def test_a_tls_handshake_that_trickles_ends_when_the_time_is_used_up() -> None:
    with trickling_tls() as port:
        outcome = send(f"https://agent.example:{port}/", lookup=at("127.0.0.1"), total_s=0.3)
    assert failed_with(outcome) == (FailureKind.TIMED_OUT, True)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a full queue refuses connections")
def test_an_address_that_never_answers_leaves_time_for_the_next(serve: Serve, second_address: str) -> None:
    with deaf_server() as port:
        receiver = serve(host=second_address, port=port)
        url = receiver.url(host="agent.example")
        assert send(url, lookup=at("127.0.0.1", second_address), total_s=1.0) == Delivered(200)
        assert send(url, lookup=at("127.0.0.1"), total_s=0.3) == DeliveryFailed(
            FailureKind.CONNECT_FAILED, "no connection: no answer", retryable=True
        )


# Where it goes


def test_a_private_address_is_refused_and_nothing_is_sent(serve: Serve) -> None:
    receiver = serve()
    for outcome in (
        send(receiver.url(), allow_private=False),
        send(receiver.url(host="localhost"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("127.0.0.1"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("8.8.8.8", "127.0.0.1"), allow_private=False),
        send(receiver.url(host="agent.internal"), lookup=at("8.8.8.8"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("::ffff:127.0.0.1"), allow_private=False),
    ):
        assert outcome == DeliveryFailed(
            FailureKind.UNSAFE_ADDRESS, "the URL must lead to a public address", retryable=False
        )
    assert receiver.requests == []


def test_a_name_that_changes_between_check_and_call_gains_nothing_by_it(
    serve: Serve, second_address: str
) -> None:
    checked = serve()
    other = serve(host=second_address, port=checked.port)
    asked: list[tuple[str, int]] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else [second_address]

    url = checked.url(host="rebinding.example")
    assert send(url, lookup=rebinding) == Delivered(200)
    assert asked == [("rebinding.example", checked.port)], "looked up once, and only by us"
    assert checked.requests[0].headers["Host"] == f"rebinding.example:{checked.port}"
    assert other.requests == []
    # The next try looks it up anew, and checks what it finds then.
    assert failed_with(send(url, lookup=rebinding, allow_private=False)) == (
        FailureKind.UNSAFE_ADDRESS,
        False,
    )
    assert len(asked) == 2
    assert other.requests == []


def test_the_next_address_is_tried_when_one_refuses(serve: Serve, second_address: str) -> None:
    receiver = serve(host=second_address)
    assert send(receiver.url(host="agent.example"), lookup=at("127.0.0.1", second_address)) == Delivered(200)


def test_nobody_listening_is_a_failed_connection_and_an_unknown_name_a_dns_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        outcome = send(f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert outcome == DeliveryFailed(
        FailureKind.CONNECT_FAILED, "no connection: connection refused", retryable=True
    )
    assert failed_with(send("http://agent.example/", lookup=at())) == (FailureKind.DNS_FAILED, True)


def test_a_proxy_in_the_environment_is_not_asked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, proxy = serve(), serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url(""))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert send(receiver.url()) == Delivered(200)
    assert proxy.requests == []


# TLS


def test_tls_proves_the_name_in_the_url_over_the_pinned_address(serve: Serve) -> None:
    receiver = serve(tls=True)
    url = receiver.url(host="agent.example", scheme="https")
    assert send(url, lookup=at("127.0.0.1"), tls=trusting_context()) == Delivered(200)
    assert receiver.names_asked_for == ["agent.example"]
    [request] = receiver.requests
    assert request.headers["Host"] == f"agent.example:{receiver.port}"
    assert independent_verifier(request, SECRET)


@pytest.mark.parametrize("host", ["other.example", "127.0.0.1"])
def test_a_certificate_for_another_name_is_a_tls_failure_and_nothing_is_sent(serve: Serve, host: str) -> None:
    receiver = serve(tls=True)
    outcome = send(receiver.url(host=host, scheme="https"), lookup=at("127.0.0.1"), tls=trusting_context())
    assert failed_with(outcome) == (FailureKind.TLS_FAILED, True)
    assert receiver.requests == []


def test_a_certificate_that_the_system_does_not_trust_is_a_tls_failure(serve: Serve) -> None:
    receiver = serve(tls=True)
    outcome = send(receiver.url(host="agent.example", scheme="https"), lookup=at("127.0.0.1"))
    assert failed_with(outcome) == (FailureKind.TLS_FAILED, True)
    assert receiver.requests == []


def test_a_server_without_tls_is_a_tls_failure(serve: Serve) -> None:
    receiver = serve()
    assert failed_with(send(receiver.url(scheme="https"))) == (FailureKind.TLS_FAILED, True)


def test_an_endless_body_over_tls_is_bounded_too(serve: Serve) -> None:
    receiver = serve(answering(200, b"x" * 5_000_000), tls=True)
    url = receiver.url(host="agent.example", scheme="https")
    assert send(url, lookup=at("127.0.0.1"), tls=trusting_context()) == Delivered(200)


def test_a_connection_that_ends_without_an_answer_is_the_same_with_and_without_tls(serve: Serve) -> None:
    def hang_up(_handler: Handler) -> None:
        return

    plain, secure = serve(hang_up), serve(hang_up, tls=True)
    url = secure.url(host="agent.example", scheme="https")
    for outcome in (send(plain.url()), send(url, lookup=at("127.0.0.1"), tls=trusting_context())):
        assert failed_with(outcome) == (FailureKind.PROTOCOL_ERROR, True)
    assert len(plain.requests) == len(secure.requests) == 1


# What is never told


def test_no_log_detail_or_repr_holds_the_query_the_token_a_secret_or_the_answer(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    private = ["query-word", "path-word", "bearer-word", "answer-word", SECRET, SECRET[6:], "naïve"]
    echo = b"answer-word bearer-word query-word"
    receivers = [
        serve(answering(200, echo)),
        serve(answering(302, echo, Location="http://answer-word.example/?query-word")),
        serve(answering(404, echo)),
        serve(answering(500, echo)),
        serve(lambda handler: handler.wfile.write(b"answer-word\r\n\r\n")),
        serve(tls=True),
    ]
    outcomes = []
    for number, receiver in enumerate(receivers):
        for scheme in ("http", "https"):
            delivery = to(
                receiver.url(f"/path-word?key=query-word&n={number}", scheme=scheme), bearer="bearer-word"
            )
            outcomes.append(repr(deliver(delivery, now=NOW, allow_private=True)) + repr(delivery))
            outcomes.append(repr(deliver(delivery, now=NOW, allow_private=False)))
    assert len(receivers[0].requests) == 1
    told = "\n".join(outcomes) + caplog.text
    for word in private:
        assert word not in told


# Trying again


def test_the_waits_grow_and_fill_a_day_exactly() -> None:
    waits: list[timedelta] = []
    while (wait := backoff(len(waits) + 1)) is not None:
        waits.append(wait)
    seconds = [int(wait.total_seconds()) for wait in waits]
    assert seconds[:6] == [5, 30, 120, 600, 1800, 3600]
    assert seconds[6:-1] == [10800] * 7
    assert sum(waits, timedelta()) == timedelta(days=1)
    assert backoff(len(waits) + 2) is None
    with pytest.raises(ValueError):
        backoff(0)


# Secrets and verifying


def test_each_api_key_has_a_signing_secret_of_its_own_that_standard_webhooks_takes() -> None:
    key = b"server key"
    assert SECRET == "whsec_" + base64.b64encode(hmac.digest(key, b"resume-signing|ak_1", "sha256")).decode()
    assert SECRET == signing_secret("server key", "ak_1")
    assert len({SECRET, OLD_SECRET, signing_secret("another server key", "ak_1")}) == 3
    for key_and_id in (("", "ak_1"), ("server key", "")):
        with pytest.raises(ValueError):
            signing_secret(*key_and_id)


def captured(serve: Serve) -> tuple[bytes, dict[str, str]]:
    receiver = serve()
    send(receiver.url())
    [request] = receiver.requests
    return request.body, dict(request.headers.items())


def test_a_genuine_callback_verifies_for_five_minutes_in_any_case_of_header_names(serve: Serve) -> None:
    body, headers = captured(serve)
    for seconds in (-299, 0, 299):
        verify(body, headers, SECRET, now=NOW + timedelta(seconds=seconds))
    verify(body, {name.title(): value for name, value in headers.items()}, SECRET, now=NOW)
    verify(body, headers, SECRET, now=NOW + timedelta(hours=1), tolerance_s=4000)


def test_a_replay_after_ten_minutes_fails_with_its_old_timestamp_and_with_a_fresh_one(serve: Serve) -> None:
    body, headers = captured(serve)
    later = NOW + timedelta(minutes=10)
    with pytest.raises(WebhookVerificationError, match="too far"):
        verify(body, headers, SECRET, now=later)
    with pytest.raises(WebhookVerificationError, match="too far"):
        verify(body, headers, SECRET, now=NOW - timedelta(minutes=10))
    fresh = headers | {"webhook-timestamp": str(int(later.timestamp()))}
    with pytest.raises(WebhookVerificationError, match="no signature"):
        verify(body, fresh, SECRET, now=later)


def test_anything_changed_or_missing_is_refused(serve: Serve) -> None:
    body, headers = captured(serve)
    for changed in (
        b"",
        body + b"\n",
        body.replace(b"1.0", b"1"),
        body.replace(b",", b", "),
        '{"note":"nai\u0308ve – 日本 😀","n":1.0}'.encode(),
        b'{"note":"na\\u00efve \\u2013 \\u65e5\\u672c \\ud83d\\ude00","n":1.0}',
        b"\xff",
    ):
        with pytest.raises(WebhookVerificationError):
            verify(changed, headers, SECRET, now=NOW)
    for name, value in (
        ("webhook-id", "resume-ho_2"),
        ("webhook-id", ""),
        ("webhook-timestamp", "1796030468"),
        ("webhook-timestamp", " 1796030467"),
        ("webhook-timestamp", "01796030467"),
        ("webhook-timestamp", "1796030467.0"),
        ("webhook-timestamp", "١٧٩٦٠٣٠٤٦٧"),
        ("webhook-timestamp", "nan"),
        ("webhook-timestamp", "99999999999"),
        ("webhook-timestamp", ""),
        ("webhook-signature", ""),
        ("webhook-signature", "v1"),
        ("webhook-signature", "v1,"),
        ("webhook-signature", "v1a," + headers["webhook-signature"][3:]),
        ("webhook-signature", "v1,日本\udcff"),
        ("webhook-signature", headers["webhook-signature"][:-1]),
    ):
        with pytest.raises(WebhookVerificationError):
            verify(body, headers | {name: value}, SECRET, now=NOW)
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        with pytest.raises(WebhookVerificationError, match="missing"):
            verify(body, {key: value for key, value in headers.items() if key != name}, SECRET, now=NOW)
    with pytest.raises(WebhookVerificationError):
        verify(body, headers, OLD_SECRET, now=NOW)


# The docs


def block_of_the_docs(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w*\n(.*?)\n```", DOCS, re.DOTALL)
    assert found, f"docs/callbacks.md has no block {name}"
    return found.group(1)


def test_the_verifier_and_the_vector_in_the_docs_are_what_is_sent(serve: Serve) -> None:
    vector = dict(re.split(r" +", line, maxsplit=1) for line in block_of_the_docs("vector").splitlines())
    scope: dict[str, Any] = {}
    exec(block_of_the_docs("verifier"), scope)
    is_genuine = scope["is_genuine"]
    body, secret, sent_at = vector["body"].encode(), vector["secret"], int(vector["webhook-timestamp"])

    receiver = serve()
    delivery = to(receiver.url(), webhook_id=vector["webhook-id"], body=body, secrets=[OLD_SECRET, secret])
    deliver(delivery, now=datetime.fromtimestamp(sent_at, UTC), allow_private=True)
    [request] = receiver.requests
    assert request.headers["webhook-signature"].split(" ")[1] == vector["webhook-signature"]

    for headers in (vector, request.headers):
        assert is_genuine(headers, body, secret, sent_at + 300)
        assert not is_genuine(headers, body, secret, sent_at + 301)
        assert not is_genuine(headers, body, secret, sent_at - 301)
        assert not is_genuine(headers, body, SECRET, sent_at)
        assert not is_genuine(headers, body + b" ", secret, sent_at)
        fresh = {name: headers[name] for name in ("webhook-id", "webhook-signature")} | {
            "webhook-timestamp": str(sent_at + 600)
        }
        assert not is_genuine(fresh, body, secret, sent_at + 600)


def test_the_docs_name_every_kind_of_failure() -> None:
    table = DOCS.split("A failed try is one of:")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == {str(kind) for kind in FailureKind}


# Under gevent, as in the web process


def test_the_same_code_keeps_its_limits_under_gevent(tmp_path: Path) -> None:
    script = """
import gevent.monkey; gevent.monkey.patch_all()
import gevent, importlib.util, pathlib, sys
sys.path.insert(0, sys.argv[1])
spec = importlib.util.spec_from_file_location("resume_under_gevent", sys.argv[2])
tests = importlib.util.module_from_spec(spec); sys.modules[spec.name] = tests; spec.loader.exec_module(tests)
with tests.receivers(pathlib.Path(sys.argv[3])) as serve:
    kind = serve(tls=True)
    url = kind.url(host="agent.example", scheme="https")
    print(tests.send(url, lookup=tests.at("127.0.0.1"), tls=tests.trusting_context()))
    slow = serve(tests.dripping(b"HTTP/1.1 200 OK\\r\\nX-Slow: ", b"x"))
    print(tests.send(slow.url(), total_s=0.3).kind)
    with tests.trickling_tls() as port:
        print(tests.send(f"https://agent.example:{port}/", lookup=tests.at("127.0.0.1"), total_s=0.3).kind)
    print(tests.send("http://localhost:1/", allow_private=False).kind)
    ticks = []
    ticker = gevent.spawn(lambda: [ticks.append(gevent.sleep(0.01)) for _ in range(1000)])
    tests.send(slow.url(), total_s=0.3)
    print("others ran meanwhile" if len(ticks) > 5 else "others were blocked")
    ticker.kill()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT), __file__, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "Delivered(status=200)",
        "timed_out",
        "timed_out",
        "unsafe_address",
        "others ran meanwhile",
    ], done.stderr
