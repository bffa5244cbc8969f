"""The same door behind gunicorn as it is shipped: bodies in chunks, bytes that are no HTTP, live streams."""

from __future__ import annotations

import json
import os
import runpy
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from twilio.request_validator import RequestValidator

from handoff import links
from handoff.dev import ports, processes
from handoff.dev.redis_server import RunningRedis
from handoff.store import Connections, Keyspace, Store
from handoff.web import waits
from tests.world.waits import until

from .site import AGENT_KEY, OPERATOR_KEY, REASON, SETTINGS, TOKEN

ROOT = Path(__file__).parents[2]
PUBLIC = "https://handoff.example.com/tools"


class Gunicorn:
    """One web process as in the Procfile, under a public address with a path prefix."""

    def __init__(self, redis_url: str, folder: Path) -> None:
        self.port = ports.any_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / "web.log"
        self._redis_url, self._prefix = redis_url, f"wire-{secrets.token_hex(4)}"
        settings = SETTINGS | {
            "HANDOFF_PUBLIC_URL": PUBLIC,
            "HANDOFF_REDIS_URL": redis_url,
            "HANDOFF_PREFIX": self._prefix,
            "HANDOFF_WEB_BIND": f"127.0.0.1:{self.port}",
            "HANDOFF_WEB_WORKERS": "1",
        }
        command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "app:create_app()"]
        self._process = processes.spawn(command, self._log, env={**os.environ, **settings}, cwd=ROOT)
        headers = {"Authorization": f"Bearer {AGENT_KEY}"}
        self.http = httpx2.Client(base_url=self.url, headers=headers, trust_env=False, timeout=20)
        until(self._answers, 30, f"gunicorn to answer; {self._log}")

    def raw(self, data: bytes) -> bytes:
        """Sends these bytes and gives what comes back until the connection is closed (or 5 s are over)."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            answer = b""
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                while more := connection.recv(65_536):
                    answer += more
            except OSError:  # it hung up
                return answer
        return answer

    def link(self, handoff: str) -> str:
        """Ada's link, made good as sending the text makes it."""
        link = links.make(SETTINGS["HANDOFF_SECRET_KEY"], handoff, "ada")
        connections = Connections(self._redis_url)
        Store(connections, Keyspace(self._prefix)).put_link(link, handoff, "ada")
        connections.close()
        return link

    def log(self) -> str:
        return self._log.read_text()

    def close(self) -> None:
        self.http.close()
        processes.end([self._process], grace_s=15)

    def _answers(self) -> bool:
        try:
            return self.http.get("/healthz").status_code == 200
        except httpx2.TransportError:
            return False


@pytest.fixture(scope="module")
def web(running_redis: RunningRedis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    started = Gunicorn(running_redis.url, tmp_path_factory.mktemp("web"))
    yield started
    log = started.log()
    started.close()
    assert "Traceback" not in log, log


def chunks(body: bytes, size: int = 10_000) -> Iterator[bytes]:
    for at in range(0, len(body), size):
        yield body[at : at + size]


def test_a_body_in_chunks_is_read_as_a_whole(web: Gunicorn) -> None:
    body = json.dumps({"kind": "clear", "reason": REASON}).encode()
    opened = web.http.post("/v1/handoffs", content=chunks(body, 7))
    assert (opened.status_code, opened.json()["reason"]) == (201, REASON)
    assert web.http.post("/v1/handoffs", content=chunks(b"{" * 500, 7)).status_code == 400
    assert web.http.post("/v1/handoffs", content=chunks(b"")).status_code == 400


def test_a_body_of_over_a_megabyte_is_413_whether_its_length_is_told_or_not(web: Gunicorn) -> None:
    body = b'{"reason": "' + b"x" * 1_100_000 + b'"}'
    for content in (body, chunks(body)):
        answer = web.http.post("/v1/handoffs", content=content)
        assert answer.status_code == 413
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "too_large"
    for path in ("/h/" + "0" * 22 + "/refusal", "/twilio/calls/ca_x/status"):
        assert web.http.post(path, content=chunks(body)).status_code in (403, 404, 413)


POST = b"POST /v1/handoffs HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\x03\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /v1/handoffs/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://evil.example/v1/handoffs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 1_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX\x00: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \xff\xfe\r\n\r\n",
        b"GET / HTTP/1.1\r\n X: folded\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: gzip\r\n\r\n",
        POST + b"Content-Length: 1000\r\n\r\nshort",
    ],
)
def test_what_is_hardly_http_is_answered_or_shut_out_and_harms_nobody(web: Gunicorn, data: bytes) -> None:
    answer = web.raw(data)
    assert not answer or answer.startswith(b"HTTP/1.") and not answer.startswith(b"HTTP/1.1 500")
    assert web.http.get("/healthz").status_code == 200


def broken_off(path: str, body: bytes, *more: str) -> list[bytes]:
    """A request whose last bytes never came: with its length told, and in chunks."""
    head = "".join(f"{line}\r\n" for line in (f"POST {path} HTTP/1.1", "Host: x", "Connection: close", *more))
    told = f"Content-Length: {len(body) + 5}\r\n\r\n"
    chunked = f"Transfer-Encoding: chunked\r\n\r\n{len(body) + 5:x}\r\n"
    return [(head + length).encode() + body for length in (told, chunked)]


def test_a_body_that_breaks_off_opens_nothing(web: Gunicorn) -> None:
    before = web.http.get("/v1/handoffs").json()
    body = json.dumps({"kind": "clear", "reason": "x"}).encode()
    for request in broken_off("/v1/handoffs", body, f"Authorization: Bearer {AGENT_KEY}"):
        assert b"HTTP/1.1 400" in web.raw(request)[:20]
    assert web.http.get("/v1/handoffs").json() == before


def test_half_an_answer_is_no_answer(web: Gunicorn) -> None:
    asked = web.http.post("/v1/handoffs", json={"kind": "ask", "question": "Which address?"}).json()["id"]
    page = f"/h/{web.link(asked)}"
    nonce = web.http.get(page).text.split('name="nonce" value="')[1].split('"')[0]
    body = f"nonce={nonce}&answer=1+Ada+Stre".encode()
    for request in broken_off(f"{page}/resolution", body, "Content-Type: application/x-www-form-urlencoded"):
        assert b"HTTP/1.1 400" in web.raw(request)[:20]
    long = f"nonce={nonce}&answer=yes&comment=".encode() + b"x" * 1_100_000
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert web.http.post(f"{page}/resolution", content=chunks(long), headers=form).status_code == 413
    assert web.http.get(f"/v1/handoffs/{asked}").json()["state"] == "escalating"


def test_a_stream_is_live_behind_gunicorn_too(web: Gunicorn) -> None:
    handoff = web.http.post("/v1/handoffs", json={"kind": "clear", "reason": "x"}).json()["id"]
    headers = {"Accept": "text/event-stream"}
    with web.http.stream("GET", f"/v1/handoffs/{handoff}/events", headers=headers) as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line.startswith("event:")) == "event: opened"
        assert next(line for line in lines if line.startswith("event:")) == "event: step_started"
        operator = {"Authorization": f"Bearer {OPERATOR_KEY}"}
        web.http.post(f"/v1/handoffs/{handoff}/refusal", json={}, headers=operator)
        assert [line for line in lines if line.startswith("event:")] == ["event: declined"]


@pytest.mark.parametrize("prefix", ["", "/tools"])
def test_a_signature_holds_over_the_path_as_it_was_sent(web: Gunicorn, prefix: str) -> None:
    """Percent-encoding that Twilio signed must not be decoded on the way; a proxy may cut the prefix off."""
    handoff, attempt = "ho_" + "0" * 22, "at_" + "0" * 22
    for path in (
        f"/twilio/texts/{handoff}/{attempt}/status",
        f"/twilio/texts/{handoff}/{quote('at ü%', safe='')}/status?a=%C3%BC&b=+%20c",
    ):
        fields = {"MessageStatus": "sent"}
        good = RequestValidator(TOKEN).compute_signature(PUBLIC + path, fields)
        answer = web.http.post(prefix + path, data=fields, headers={"X-Twilio-Signature": good})
        assert answer.status_code == 204
        bad = web.http.post(prefix + path, data=fields, headers={"X-Twilio-Signature": good[::-1]})
        assert bad.status_code == 403


def test_the_shipped_settings_of_gunicorn_can_work() -> None:
    """A worker's time-out is no limit on a wait, but it must be longer; and people always get in."""
    shipped = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    waiters = int(os.environ.get("HANDOFF_WAITERS_PER_WORKER", "9000"))
    assert shipped["worker_class"] == "gevent"
    assert shipped["timeout"] > waits.LONGEST_WAIT_S
    assert shipped["worker_connections"] >= waiters + 500
    assert shipped["graceful_timeout"] <= 15
    assert shipped["control_socket_disable"] is True


@pytest.mark.parametrize("workers", ["sync", "gthread"])
def test_workers_that_the_first_waiting_agents_would_hold_are_refused_at_the_start(workers: str) -> None:
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "-k", workers, "app:create_app()"]
    settings = SETTINGS | {"HANDOFF_WEB_BIND": "127.0.0.1:0"}
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, timeout=30)
    assert run.returncode != 0
    assert b"another class of workers than gevent" in run.stderr
