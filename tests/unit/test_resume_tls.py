"""The resume callback over TLS: whose certificate is believed, and what comes of a failed handshake.

Handshakes that take too long are in test_resume_time.py.
"""

from __future__ import annotations

import pytest

from handoff.resume import Delivered, FailureKind

from .receivers import (
    SECRET,
    Handler,
    Serve,
    answering,
    at,
    failed_with,
    independent_verifier,
    send,
    trusting_context,
)


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
