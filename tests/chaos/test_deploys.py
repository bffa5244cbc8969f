"""The web process is told to stop while agents wait: everybody is answered at once, and asks the next one."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from threading import Barrier
from urllib.parse import urlsplit

import pytest

from tests.world import until

from .system import PATIENCE_S, WOKEN_S, System, alive

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(150)]

POLLS, STREAMS = 50, 5
#: After 10 s gunicorn cuts everybody off: whoever needs that long has left somebody waiting.
GONE_S, ANSWERED_S = 9.0, 5.0


def test_a_stopping_web_process_answers_all_who_wait_and_its_agents_go_on_with_the_next(
    system: System,
) -> None:
    waiting = system.agent().clear_wall("A consent banner covers the page")
    call, _ = system.ada.let_ring(), system.ada.expect_text()
    handoff = system.newest()
    asked = Barrier(POLLS + STREAMS + 1)

    def connect(path: str, accept: str) -> HTTPConnection:
        wire = HTTPConnection(urlsplit(system.url).netloc, timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {system.api_key}", "Accept": accept}
        wire.request("GET", f"/v1/handoffs/{handoff}{path}", headers=headers)
        return wire

    def poll() -> tuple[HTTPResponse, str, float]:
        """The answer, what it said, and when."""
        with closing(connect("?wait=45", "application/json")) as wire:
            asked.wait(PATIENCE_S)
            answer = wire.getresponse()
            return answer, answer.read().decode(), time.monotonic()

    def follow() -> float:
        """When the stream of events was over. It ends in the middle of nothing, or this raises."""
        with closing(connect("/events", "text/event-stream")) as wire:
            answer = wire.getresponse()
            while answer.readline() != b"event: call_ringing\n":
                assert not answer.closed
            asked.wait(PATIENCE_S)
            answer.read()
            return time.monotonic()

    with ThreadPoolExecutor(POLLS + STREAMS) as pool:
        polls = [pool.submit(poll) for _ in range(POLLS)]
        streams = [pool.submit(follow) for _ in range(STREAMS)]
        system.as_agent.get("/healthz")  # and leaves a connection open on which nothing is asked
        asked.wait(PATIENCE_S)
        before, webs = system.pids(), system.web_workers()
        told_at = time.monotonic()
        os.kill(before["web"], signal.SIGTERM)
        until(lambda: not any(map(alive, [before["web"], *webs])), GONE_S, "the web process to be gone")

    for answer, said, at in (future.result() for future in polls):
        assert answer.status == 200
        assert '"state":"escalating"' in said
        assert answer.getheader("Connection") == "close"  # the next request goes to the next process
        assert at - told_at < ANSWERED_S
    assert max(stream.result() for stream in streams) - told_at < ANSWERED_S

    system.restarted(before, webs, "web")
    call.answer().hears("Handoff for dev").press("1").hears("Thank you").hang_up()
    assert waiting.result(WOKEN_S).by.name == "Ada"
    assert len(system.creates()) == 1
