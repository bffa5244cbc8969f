"""A server that stands for Twilio's API on a real socket, and our gateway in front of it.

It answers what it is told to and knows nothing of telephony. The fixture that starts it is in conftest.py;
the servers that stand for agents are in receivers.py.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from voice.gateway import GatewayError, Placed
from voice.twilio_gateway import TwilioGateway

SID, TOKEN, OURS, ADA = "AC" + "0" * 32, "a-token-of-this-test", "+12125550100", "+12125550123"
VOICE_URL, STATUS_URL = (
    "https://pub.example/twilio/calls/ca_1/voice?a=1&b=2",
    "https://pub.example/twilio/status",
)


@dataclass
class Peer:
    """An HTTP server that gives one answer to everything and keeps what it was asked.

    `answer` is a status and a body, or a function that writes to the open socket as it likes.
    """

    answer: tuple[int, Any] | Callable[[socket.socket], None] = (201, {"sid": "CA1", "status": "queued"})
    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, list[str]]]] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(peer: Peer) -> Iterator[Peer]:
    """The peer on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            super().handle_one_request()
            self.close_connection = True

        def do_POST(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            fields = parse_qs(body or parts.query, keep_blank_values=True)
            peer.asked.append((self.command, parts.path, fields))
            answer = peer.answers.pop(0) if peer.answers else peer.answer
            if callable(answer):
                answer(self.connection)
                return
            status, said = answer
            raw = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            """Nothing: a test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        peer.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield peer
        finally:
            server.shutdown()
            thread.join()


def gateway(url: str, **settings: Any) -> TwilioGateway:
    """A gateway that talks to this address."""
    return TwilioGateway(SID, TOKEN, OURS, url, **({"timeout_s": 5.0, "environment": {}} | settings))


def ring(url: str, *, machine_url: str | None = None, **settings: Any) -> Placed:
    """One call to Ada through the gateway."""
    return gateway(url, **settings).place_call(
        ADA,
        voice_url=VOICE_URL,
        status_url=STATUS_URL,
        ring_s=25,
        time_limit_s=600,
        machine_url=machine_url,
    )


def failure(url: str, **settings: Any) -> GatewayError:
    """What one call to Ada through the gateway fails with."""
    with pytest.raises(GatewayError) as caught:
        ring(url, **settings)
    return caught.value
