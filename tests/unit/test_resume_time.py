"""How long a resume callback may take, in a thread and under gevent, and when it is tried again.

What an answer that came in time means is in test_resume_answers.py.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from handoff.resume import Delivered, DeliveryFailed, FailureKind, backoff

from .receivers import Handler, Serve, at, deaf_server, dripping, failed_with, send, trickling_tls

ROOT = Path(__file__).resolve().parents[2]


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


def test_the_same_code_keeps_its_limits_under_gevent(tmp_path: Path) -> None:
    script = """
import gevent.monkey; gevent.monkey.patch_all()
import gevent, pathlib, sys
sys.path.insert(0, sys.argv[1])
from tests.unit import receivers as peers
with peers.receivers(pathlib.Path(sys.argv[2])) as serve:
    kind = serve(tls=True)
    url = kind.url(host="agent.example", scheme="https")
    print(peers.send(url, lookup=peers.at("127.0.0.1"), tls=peers.trusting_context()))
    slow = serve(peers.dripping(b"HTTP/1.1 200 OK\\r\\nX-Slow: ", b"x"))
    print(peers.send(slow.url(), total_s=0.3).kind)
    with peers.trickling_tls() as port:
        print(peers.send(f"https://agent.example:{port}/", lookup=peers.at("127.0.0.1"), total_s=0.3).kind)
    print(peers.send("http://localhost:1/", allow_private=False).kind)
    ticks = []
    ticker = gevent.spawn(lambda: [ticks.append(gevent.sleep(0.01)) for _ in range(1000)])
    peers.send(slow.url(), total_s=0.3)
    print("others ran meanwhile" if len(ticks) > 5 else "others were blocked")
    ticker.kill()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT), str(tmp_path)],
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
