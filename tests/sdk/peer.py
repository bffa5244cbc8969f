"""A server at the other end of the wire that speaks the Handoff contract, and misbehaves on request.

It is a peer, not a stand-in for code of ours: real sockets, real HTTP. Each `Behaviour` in `script` takes one
request, whichever comes next; when the script is empty the peer keeps to the contract.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

DEADLINE_S = 20.0
Behaviour = Callable[["Exchange"], None]


@dataclass
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    client_port: int


@dataclass(repr=False)
class Peer:
    """Start it, script it, read what it saw. `outcome` closes the handoff at the poll after `open_polls`."""

    script: deque[Behaviour] = field(default_factory=deque)
    seen: list[Seen] = field(default_factory=list)
    handoffs: dict[str, dict[str, Any]] = field(default_factory=dict)
    outcome: dict[str, Any] | None = None
    open_polls: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    port: int = 0
    _server: _Server | None = None

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.peer = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        """Goes away with every connection, knowing what it knew; `start` brings it back on the same port."""
        if self._server:
            self._server.go_away()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def opened(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == "POST"]

    @property
    def polls(self) -> list[Seen]:
        return [seen for seen in self.seen if seen.method == "GET"]

    def then(self, *behaviours: Behaviour) -> None:
        self.script.extend(behaviours)

    def settle(self, changes: dict[str, Any]) -> None:
        with self.changed:
            for document in self.handoffs.values():
                document.update(changes)
            self.changed.notify_all()

    def wait_until(self, condition: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(condition, DEADLINE_S), "it did not come to that"


class Exchange:
    """One request in the hands of a behaviour."""

    def __init__(self, handler: _Handler, seen: Seen) -> None:
        self.handler, self.seen, self.peer = handler, seen, handler.server.peer

    def reply(self, status: int, body: Any = None, media: str = "application/json", **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("Content-Type", media)
        self.handler.send_header("Content-Length", str(len(content)))
        self.handler.end_headers()
        self.handler.wfile.write(content)

    def hang_up(self) -> None:
        self.handler.close_connection = True

    def commit(self) -> tuple[int, dict[str, Any]]:
        """Does what the contract says, and gives the reply instead of sending it."""
        if self.seen.method == "POST":
            return self._open()
        parts = urlsplit(self.seen.path)
        document = next(d for d in self.peer.handoffs.values() if parts.path.endswith(d["id"]))
        return 200, self._poll(document, float(parse_qs(parts.query)["wait"][0]))

    def _open(self) -> tuple[int, dict[str, Any]]:
        key = self.seen.headers["idempotency-key"]
        with self.peer.changed:
            known = self.peer.handoffs.get(key)
            if known and known["_asked"] != self.seen.body:
                return 409, problem(409, "idempotency_conflict", "the key names another handoff")
            if known:
                return 200, known
            number = len(self.peer.handoffs) + 1
            created = {
                **pending(f"ho_{number:022d}"),
                "_asked": self.seen.body,
                "kind": self.seen.body["kind"],
            }
            self.peer.handoffs[key] = created
            return 201, created

    def _poll(self, document: dict[str, Any], wait_s: float) -> dict[str, Any]:
        with self.peer.changed:
            if self.peer.outcome and len(self.peer.polls) > self.peer.open_polls:
                document.update(self.peer.outcome)
            if not self.peer.outcome:
                self.peer.changed.wait_for(lambda: document["closed_at"] or self.handler.server.going, wait_s)
            return dict(document)


def keeps_to_the_contract(exchange: Exchange) -> None:
    exchange.reply(*exchange.commit())


def replies(status: int, body: Any = None, media: str = "application/json", **headers: str) -> Behaviour:
    return lambda exchange: exchange.reply(status, body, media, **headers)


def loses_the_reply(exchange: Exchange) -> None:
    exchange.commit()
    exchange.hang_up()


def hangs_up(exchange: Exchange) -> None:
    exchange.hang_up()


def problem(status: int, code: str, detail: str, *errors: tuple[str, str]) -> dict[str, Any]:
    listed = [{"field": name, "message": message} for name, message in errors]
    return {
        "type": "about:blank",
        "title": code,
        "status": status,
        "detail": detail,
        "code": code,
        "errors": listed,
    }


def pending(handoff_id: str) -> dict[str, Any]:
    return {
        "id": handoff_id,
        "kind": "clear",
        "state": "pending",
        "close_reason": None,
        "reason": "A checkbox",
        "agent": "shopper",
        "label": None,
        "created_at": "2026-11-30T03:00:00.000Z",
        "deadline": "2026-11-30T03:10:00.000Z",
        "closed_at": None,
        "timeout_s": 600,
        "result": None,
        "settlement": None,
        "attempts": [],
        "metadata": None,
    }


def closed(state: str, reason: str, **more: Any) -> dict[str, Any]:
    at = "2026-11-30T03:01:02.500Z"
    by = {"kind": "contact", "id": "ada", "name": "Ada"}
    settlement = {"by": by, "channel": "call", "proof": "keypress", "at": at, "comment": None}
    return {"state": state, "close_reason": reason, "closed_at": at, "settlement": settlement, **more}


def cleared(**more: Any) -> dict[str, Any]:
    return {**closed("resolved", "person", result={"kind": "clear", "cleared": True}), **more}


def answered(answer: Any, **more: Any) -> dict[str, Any]:
    return {**closed("resolved", "person", result={"kind": "ask", "answer": answer}), **more}


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    peer: Peer

    def __init__(self, *arguments: Any) -> None:
        self.going = False
        self.connections: set[Any] = set()
        super().__init__(*arguments)

    def go_away(self) -> None:
        self.shutdown()
        with self.peer.changed:
            self.going = True
            self.peer.changed.notify_all()
        for connection in list(self.connections):
            try:
                connection.shutdown(2)
            except OSError:
                continue  # The client was faster.
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away in the middle is part of many of these stories."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        self.server.connections.add(self.request)
        super().setup()

    def finish(self) -> None:
        super().finish()
        self.server.connections.discard(self.request)

    def do_GET(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def _handle(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = json.loads(raw) if raw else None
        seen = Seen(self.command, self.path, headers, body, self.client_address[1])
        peer = self.server.peer
        with peer.changed:
            peer.seen.append(seen)
            behaviour = peer.script.popleft() if peer.script else keeps_to_the_contract
            peer.changed.notify_all()
        behaviour(Exchange(self, seen))

    def log_message(self, *arguments: Any) -> None:
        """Tests read `seen` instead."""
