"""What each answer to a resume callback is taken for, and how much of it is read.

Answers that are slow or never come are in test_resume_time.py.
"""

from __future__ import annotations

import pytest

from handoff.resume import Delivered, FailureKind

from .receivers import Behaviour, Handler, Serve, answering, failed_with, send


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
