"""What each kind of failure at Twilio, or on the way there, is taken for, and what is told of it.

What is sent is in test_gateway_creates.py; the settings refused at the start in test_gateway_settings.py.
"""

from __future__ import annotations

import logging
import socket
from contextlib import closing

import pytest

from handoff.states import Disposition
from tests.shared_data import shared
from voice.gateway import GatewayError, Permanent, Retryable, Unknown
from voice.twilio_errors import CODES

from .twilio_peer import ADA, SID, TOKEN, Peer, failure, gateway


def test_every_code_of_the_rest_api_has_been_decided_about() -> None:
    expected = {
        "config": {(Permanent, Disposition.BLOCKED)},
        "permanent": {(Permanent, d) for d in (Disposition.INVALID_NUMBER, Disposition.UNREACHABLE)},
        "permanent-ish": {(Permanent, Disposition.UNREACHABLE)},
        "permanent-for-pair": {(Permanent, Disposition.OPTED_OUT)},
        "transient": {(Retryable, Disposition.PROVIDER_ERROR)},
        "ambiguous": {(Unknown, Disposition.UNKNOWN)},
        "bug": {(Permanent, Disposition.PROVIDER_ERROR)},
        "race": {(Permanent, Disposition.PROVIDER_ERROR)},
    }
    # 20001 is a warning in a log. 20404 is about a record of ours, not about a number.
    published = [row for row in shared("twilio/error-codes.json")["codes"] if row["where"].startswith("rest")]
    for row in published:
        if row["code"] not in (20001, 20404):
            decided = CODES[row["code"]]
            assert (decided.kind, decided.disposition) in expected[row["class"]], row
    assert len(published) > 35
    assert set(CODES) <= {row["code"] for row in shared("twilio/error-codes.json")["codes"]}


@pytest.mark.parametrize(
    ("status", "code", "kind", "disposition"),
    [
        (400, 21211, Permanent, Disposition.INVALID_NUMBER),
        (400, 21215, Permanent, Disposition.BLOCKED),
        (400, 21609, Permanent, Disposition.BLOCKED),  # telephony case 51
        (400, 21610, Permanent, Disposition.OPTED_OUT),  # telephony case 61
        (401, 20003, Permanent, Disposition.BLOCKED),
        (429, 20429, Retryable, Disposition.PROVIDER_ERROR),
        (500, 20500, Unknown, Disposition.UNKNOWN),
        (503, 21211, Unknown, Disposition.UNKNOWN),  # a 5xx is never proof, whatever code it carries
        (400, 29999, Permanent, Disposition.PROVIDER_ERROR),
        (401, None, Permanent, Disposition.BLOCKED),
        (429, None, Unknown, Disposition.UNKNOWN),
    ],
)
def test_a_refusal_says_what_may_be_done_about_it(
    peer: Peer, status: int, code: int | None, kind: type[GatewayError], disposition: Disposition
) -> None:
    said = f"The number {ADA} with {TOKEN} is not good."
    peer.answer = (status, {"code": code, "message": said, "more_info": "https://x", "status": status})
    error = failure(peer.url)
    assert type(error) is kind
    assert (error.code, error.http_status, error.disposition) == (code, status, disposition)
    assert len(peer.asked) == 1


def test_the_newer_shape_of_an_error_is_read_too(peer: Peer) -> None:
    peer.answer = (429, {"type": "https://x", "title": "Too many", "status": 429, "code": 20429})
    assert type(failure(peer.url)) is Retryable


@pytest.mark.parametrize(
    ("status", "page"),
    [
        (429, "<html>slow down</html>"),
        (502, "<html>bad gateway</html>"),
        (504, ""),
        (408, "[]"),
        (500, '{"code": "x"}'),
    ],
)
def test_a_proxys_page_proves_nothing(peer: Peer, status: int, page: str) -> None:
    # Only Twilio's own 20429 says that the create was not processed.
    peer.answer = (status, page)
    error = failure(peer.url)
    assert type(error) is Unknown
    assert error.http_status == status


@pytest.mark.parametrize("said", ["", "<html>", "[]", "null", "{}", '{"sid": null}', '{"sid": 7}', '"CA1"'])
def test_a_success_without_an_id_is_unknown(peer: Peer, said: str) -> None:
    # Telephony case 9.
    peer.answer = (201, said)
    assert type(failure(peer.url)) is Unknown


def test_a_503_after_the_call_was_accepted_makes_one_create_only(peer: Peer) -> None:
    # Telephony case 9: the client's own retries must not ring twice.
    peer.answer = (503, {"code": 20503, "message": "unavailable", "status": 503})
    assert type(failure(peer.url)) is Unknown
    assert len(peer.asked) == 1


def test_a_refused_connection_was_never_sent() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    error = failure(f"http://127.0.0.1:{port}")
    assert type(error) is Retryable
    assert (error.code, error.http_status) == (None, None)


def test_a_host_that_does_not_take_the_connection_was_never_sent_to() -> None:
    with closing(socket.socket()) as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:  # fills the queue of the kernel, so that the next one gets no answer at all
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            error = failure(f"http://127.0.0.1:{full.getsockname()[1]}", connect_s=0.3)
        finally:
            for one in waiting:
                one.close()
    assert type(error) is Retryable


def test_a_peer_that_takes_the_request_and_stays_silent_is_left_in_time() -> None:
    # Telephony cases 64 and 65: without a time-out of ours this would hang until the job is killed.
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        error = failure(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.3)
    assert type(error) is Unknown
    assert error.disposition is Disposition.UNKNOWN


def test_an_answer_that_breaks_off_is_unknown(peer: Peer) -> None:
    def nothing(connection: socket.socket) -> None:
        connection.shutdown(socket.SHUT_RDWR)

    def half(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 201 Created\r\nContent-Length: 900\r\n\r\n{"sid": "CA')
        connection.shutdown(socket.SHUT_RDWR)

    def chunk(connection: socket.socket) -> None:
        connection.sendall(b'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\nFF\r\n{"sid"')
        connection.shutdown(socket.SHUT_RDWR)

    def noise(connection: socket.socket) -> None:
        connection.sendall(b"\x00\x01\x02\r\n\r\n")
        connection.shutdown(socket.SHUT_RDWR)

    for breaks_off in (nothing, half, chunk, noise):
        peer.answer = breaks_off
        assert type(failure(peer.url)) is Unknown, breaks_off
    assert len(peer.asked) == 4


def test_no_number_and_no_secret_is_in_an_error_or_a_log(
    peer: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    said = {"code": 21211, "message": f"Invalid number {ADA} for {TOKEN}", "status": 400}
    peer.answer = (400, said)
    errors = [failure(peer.url), failure("http://127.0.0.1:9")]
    with pytest.raises(GatewayError) as caught:
        gateway(peer.url).find_call(ADA, since_ms=0, now_ms=0)
    for error in [*errors, caught.value]:
        shown = f"{error} {error!r} {error.args}"
        assert error.__suppress_context__
        assert error.__cause__ is None
        for secret in (ADA, ADA.lstrip("+"), TOKEN, SID):
            assert secret not in shown
            assert secret not in caplog.text
