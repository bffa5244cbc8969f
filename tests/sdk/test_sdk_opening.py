"""Opening a question over a bad line: it is asked once, whatever the line does."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator

import httpx2
import pytest

import human
from human._conversation import Timing

from .conftest import API_KEY, HandClock
from .peer import (
    DEADLINE_S,
    Behaviour,
    Exchange,
    Peer,
    answered,
    hangs_up,
    loses_the_reply,
    problem,
    replies,
)

LOGIN_PAGE = b"<html><title>Sign in</title></html>"


def test_a_lost_201_is_asked_for_again_and_nobody_is_rung_twice(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.outcome = answered("12 Main Street")
    peer.then(loses_the_reply)
    assert client.ask("Which address?") == "12 Main Street"
    first, second = peer.opened
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.body == second.body
    assert len(peer.handoffs) == 1
    assert clock.naps[0] == 0.5


def test_a_server_that_commits_at_once_but_answers_late_opens_one_handoff(
    peer: Peer, clock: HandClock
) -> None:
    peer.outcome = answered("12 Main Street")
    asked_again = threading.Event()

    def answers_late(exchange: Exchange) -> None:
        exchange.commit()
        assert asked_again.wait(DEADLINE_S)
        exchange.hang_up()

    def second(exchange: Exchange) -> None:
        asked_again.set()
        exchange.reply(*exchange.commit())

    peer.then(answers_late, second)
    with human.Client(peer.url, API_KEY, _clock=clock.as_clock(), _timing=Timing(open_s=0.05)) as hasty:
        assert hasty.ask("Which address?") == "12 Main Street"
    assert len(peer.opened) == 2
    assert len(peer.handoffs) == 1


@pytest.mark.parametrize(
    "trouble",
    [
        replies(429, problem(429, "too_many", "slow down")),
        replies(500, b"<h1>Internal Server Error</h1>", "text/html"),
        replies(502, b"", "text/html"),
        replies(503, problem(503, "unavailable", "starting")),
        replies(504, b"<h1>Gateway Time-out</h1>", "text/html"),
        replies(524, b"a timeout of a CDN", "text/plain"),
        replies(408, b"", "text/plain"),
        hangs_up,
    ],
)
def test_trouble_that_passes_is_ridden_through(client: human.Client, peer: Peer, trouble: Behaviour) -> None:
    peer.outcome = answered("yes")
    peer.then(trouble, trouble, trouble)
    assert client.ask("Go on?") == "yes"
    assert len({seen.headers["idempotency-key"] for seen in peer.opened}) == 1
    assert len(peer.opened) == 4


def test_the_pauses_double_up_to_eight_seconds(client: human.Client, peer: Peer, clock: HandClock) -> None:
    peer.then(*[replies(503)] * 20)
    with pytest.raises(human.ConnectionFailed):
        client.ask("Go on?")
    assert clock.naps == [0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8]


def test_chance_takes_off_at_most_half_of_a_pause_and_never_overflows() -> None:
    timing = Timing()
    assert timing.pause_s(3, None, luck=0.999) == pytest.approx(1.0, rel=0.01)
    assert timing.pause_s(10**9, None, luck=0.0) == 8.0
    assert timing.pause_s(1, 30.0, luck=0.999) >= 30.0


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "Mon, 30 Nov 2026 03:00:07 GMT", "Date": "Mon, 30 Nov 2026 03:00:00 GMT"}, 7.0),
        ({"Retry-After": "Mon, 30 Nov 2026 02:00:00 GMT", "Date": "Mon, 30 Nov 2026 03:00:00 GMT"}, 0.5),
        ({"Retry-After": "0"}, 0.5),
        ({"Retry-After": "soon"}, 0.5),
        ({"Retry-After": "-5"}, 0.5),
        ({"Retry-After": "nan"}, 0.5),
    ],
)
def test_retry_after_is_honoured_in_seconds_and_as_a_date(
    peer: Peer, clock: HandClock, headers: dict[str, str], expected_s: float
) -> None:
    class _WithHeaders(httpx2.HTTPTransport):
        """Puts the headers on the first reply, since the peer's own Date is the real one."""

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            response = super().handle_request(request)
            if response.status_code == 503:
                response.headers.update(headers)
            return response

    peer.outcome = answered("yes")
    peer.then(replies(503))
    with human.Client(peer.url, API_KEY, transport=_WithHeaders(), _clock=clock.as_clock()) as client:
        assert client.ask("Go on?") == "yes"
    assert clock.naps[0] == expected_s


def test_a_pause_longer_than_the_question_lives_is_not_slept_through(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.then(replies(503, Retry_After="3600"))
    with pytest.raises(human.ConnectionFailed, match="come back in 3600 s") as error:
        client.ask("Go on?", timeout_s=600)
    assert error.value.status == 503
    assert clock.naps == []


def test_a_server_that_is_not_there_is_named_with_the_place_its_address_came_from(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.stop()
    with pytest.raises(human.ConnectionFailed, match="tried 11 times.*ConnectError") as error:
        client.ask("Go on?")
    assert peer.url in str(error.value)
    assert "the argument url=" in str(error.value)
    assert error.value.handoff_id is None
    assert sum(clock.naps) < 60


def test_the_error_hands_out_the_key_that_asks_again_without_a_second_ring(
    client: human.Client, peer: Peer
) -> None:
    peer.outcome = answered("yes")
    peer.then(*[loses_the_reply] * 11)
    with pytest.raises(human.ConnectionFailed) as error:
        client.ask("Go on?")
    assert error.value.key
    assert client.ask("Go on?", key=error.value.key) == "yes"
    assert len(peer.handoffs) == 1


def test_max_retries_is_the_number_of_further_tries(peer: Peer, clock: HandClock) -> None:
    peer.then(*[replies(503)] * 5)
    with human.Client(peer.url, API_KEY, max_retries=2, _clock=clock.as_clock()) as client:
        with pytest.raises(human.ConnectionFailed, match="tried 3 times"):
            client.ask("Go on?")
    assert len(peer.opened) == 3


@pytest.mark.parametrize(
    ("behaviour", "words", "status"),
    [
        (replies(200, LOGIN_PAGE, "text/html; charset=utf-8"), "HTTP 200 with 35 bytes of text/html", 200),
        (replies(200, b"{", "application/json"), "no handoff document", 200),
        (replies(201, b"\xff\xfe", "application/json"), "no handoff document", 201),
        (replies(201, b"[" * 100_000, "application/json"), "no handoff document", 201),
        (replies(200, ["ho_1"]), "no handoff document", 200),
        (replies(200, {"id": "ho_1/../x", "state": "pending"}), "no handoff document", 200),
        (replies(404, b"<h1>Not Found</h1>", "text/html"), "HTTP 404 with 18 bytes of text/html", 404),
        (replies(413, b"too big", "text/plain"), "HTTP 413 with 7 bytes of text/plain", 413),
        (
            replies(302, b"", Location="https://login.example/?token=hush"),
            "HTTP 302, a redirect to https://login.example.",
            302,
        ),
        (replies(308, b"", Location="/elsewhere"), "another path of the same server", 308),
        (replies(301, b"", Location="https://[broken"), "an address that is no URL", 301),
    ],
)
def test_something_that_is_not_handoff_is_reported_at_once_and_precisely(
    client: human.Client, peer: Peer, clock: HandClock, behaviour: Behaviour, words: str, status: int
) -> None:
    peer.then(behaviour)
    with pytest.raises(human.ConnectionFailed) as error:
        client.ask("Go on?")
    assert words in str(error.value)
    assert "hush" not in str(error.value)
    assert error.value.status == status
    assert (len(peer.seen), clock.naps) == (1, [])


def test_a_certificate_that_does_not_check_out_is_not_tried_again(clock: HandClock) -> None:
    class _Untrusted(httpx2.BaseTransport):
        """Fails as httpx2 does: its own error, caused by that of `ssl`."""

        def handle_request(self, request: httpx2.Request) -> httpx2.Response:
            raise httpx2.ConnectError("self-signed", request=request) from ssl.SSLCertVerificationError()

    with human.Client(
        "https://handoff.example", API_KEY, transport=_Untrusted(), _clock=clock.as_clock()
    ) as client:
        with pytest.raises(human.ConnectionFailed, match="tried once.*self-signed") as error:
            client.ask("Go on?")
    assert isinstance(error.value.__cause__, httpx2.ConnectError)
    assert clock.naps == []


@pytest.fixture(autouse=True)
def _the_peer_saw_no_question_but_ours(peer: Peer) -> Iterator[None]:
    yield
    assert len(peer.handoffs) <= 1
