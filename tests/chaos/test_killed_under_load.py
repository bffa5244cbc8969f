"""Redis is killed while many open and settle at once: what was promised with a 2xx is there afterwards."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest

from tests.world import until

from .system import PATIENCE_S, System

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]

HANDOFFS, THREADS = 200, 8
#: When the blow falls, counted in finished handoffs.
BLOWS = (50, 130)
REASON = "Which colour has item"


class Heard(ThreadingHTTPServer):
    """The agents' own server: keeps the paths that the service has POSTed to."""

    def __init__(self) -> None:
        """Listens at once, on a port that the system chooses."""
        self.paths: list[str] = []
        super().__init__(("127.0.0.1", 0), _Hearing)
        threading.Thread(target=self.serve_forever, args=(0.05,), name="agents", daemon=True).start()

    def close(self) -> None:
        """Stops listening."""
        self.shutdown()
        self.server_close()


class _Hearing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, Heard)
        self.server.paths.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


class Load:
    """Opens questions and settles them, two operators at a time with answers of their own; keeps every 2xx.

    A request without an answer is sent again under its own Idempotency-Key until it has one.
    """

    def __init__(self, system: System, resume_url: str) -> None:
        """`resume_url` is told of each end, with the handoff's number appended."""
        self.system, self.resume_url = system, resume_url
        self.promised: dict[int, str] = {}  # number -> id that a 201 or 200 named
        self.counted: dict[int, list[str]] = {}  # number -> answers that a 2xx said were taken
        self.finished = threading.Semaphore(0)

    def one(self, number: int) -> None:
        """One handoff from its opening to its end."""
        resume_url = f"{self.resume_url}{number}"
        question = {"kind": "ask", "reason": f"{REASON} {number}?", "resume_url": resume_url}
        opened = self._until_answered("/v1/handoffs", question, f"open-{number}", self.system.as_agent)
        assert opened.status_code in (200, 201), opened.text
        self.promised[number] = str(opened.json()["id"])
        self.counted[number] = []
        with ThreadPoolExecutor(2) as operators:
            list(operators.map(lambda who: self._settle(number, who), ("first", "second")))
        self.finished.release()

    def _settle(self, number: int, who: str) -> None:
        path = f"/v1/handoffs/{self.promised[number]}/resolution"
        answer = f"{who} answer to {number}"
        settled = self._until_answered(path, {"answer": answer}, f"{who}-{number}", self.system.http)
        assert settled.status_code in (200, 409), settled.text
        if settled.status_code == 200:
            self.counted[number].append(answer)

    def _until_answered(
        self, path: str, body: dict[str, Any], key: str, http: httpx2.Client
    ) -> httpx2.Response:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                response = http.post(path, json=body, headers={"Idempotency-Key": key})
                if response.status_code != 503:
                    return response
            except httpx2.TransportError:
                pass
            assert time.monotonic() < deadline, f"{path} has no answer"
            threading.Event().wait(0.1)


def test_redis_killed_under_load_loses_no_opening_no_answer_and_no_effect_and_doubles_none(
    system: System, request: pytest.FixtureRequest
) -> None:
    heard = Heard()
    request.addfinalizer(heard.close)
    load = Load(system, f"http://127.0.0.1:{heard.server_port}/")
    with ThreadPoolExecutor(THREADS) as pool:
        work = [pool.submit(load.one, number) for number in range(HANDOFFS)]
        for done in range(1, HANDOFFS + 1):
            assert load.finished.acquire(timeout=PATIENCE_S), [one.exception() for one in work if one.done()]
            if done in BLOWS:
                system.kill_and_await("redis")
        for one in work:
            one.result()
    assert system.redis.config_get("append*")["appendonly"] == "yes"
    assert system.redis.config_get("append*")["appendfsync"] == "always"

    # Whoever was told so settled it, nobody else was, and this is what the agent reads.
    for number, handoff_id in load.promised.items():
        handoff = system.as_agent.get(f"/v1/handoffs/{handoff_id}").json()
        assert handoff["state"] == "resolved"
        assert [handoff["result"]["answer"]] == load.counted[number]

    # No request that was sent twice opened twice, and every index has every handoff, once, where it belongs.
    wanted = sorted(load.promised.values())
    assert len(set(wanted)) == HANDOFFS
    for filters in ({}, {"state": "resolved"}, {"agent": "dev"}, {"agent": "dev", "state": "resolved"}):
        assert sorted(_listed(system, filters)) == wanted, filters
    for state in ("pending", "escalating", "acknowledged", "declined", "expired", "cancelled"):
        assert _listed(system, {"state": state}) == [], state

    # Every agent was told, at least once. Ada was rung for some of it, which ends_well() looks at closer.
    until(lambda: not system.outbox(), PATIENCE_S * 3, "the workers to be through with it")
    assert set(heard.paths) == {f"/{number}" for number in range(HANDOFFS)}
    for record in system.phone.state()["calls"] + system.phone.state()["messages"]:
        system.phone.expect(record["sid"])


def _listed(system: System, filters: dict[str, str]) -> list[str]:
    """The ids of this test's handoffs on all pages of this list."""
    found, cursor = list[str](), dict[str, str]()
    while True:
        page = system.http.get("/v1/handoffs", params={**filters, **cursor, "limit": "70"}).json()
        found += [one["id"] for one in page["handoffs"] if one["reason"].startswith(REASON)]
        if not page["next_cursor"]:
            return found
        cursor = {"cursor": page["next_cursor"]}
