"""Where a resume callback may go: the address that was checked, and no other.

The name a certificate has to prove is in test_resume_tls.py.
"""

from __future__ import annotations

import socket

import pytest

from handoff.resume import Delivered, DeliveryFailed, FailureKind

from .receivers import Serve, at, failed_with, send


def test_a_private_address_is_refused_and_nothing_is_sent(serve: Serve) -> None:
    receiver = serve()
    for outcome in (
        send(receiver.url(), allow_private=False),
        send(receiver.url(host="localhost"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("127.0.0.1"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("8.8.8.8", "127.0.0.1"), allow_private=False),
        send(receiver.url(host="agent.internal"), lookup=at("8.8.8.8"), allow_private=False),
        send(receiver.url(host="agent.example"), lookup=at("::ffff:127.0.0.1"), allow_private=False),
    ):
        assert outcome == DeliveryFailed(
            FailureKind.UNSAFE_ADDRESS, "the URL must lead to a public address", retryable=False
        )
    assert receiver.requests == []


def test_a_name_that_changes_between_check_and_call_gains_nothing_by_it(
    serve: Serve, second_address: str
) -> None:
    checked = serve()
    other = serve(host=second_address, port=checked.port)
    asked: list[tuple[str, int]] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else [second_address]

    url = checked.url(host="rebinding.example")
    assert send(url, lookup=rebinding) == Delivered(200)
    assert asked == [("rebinding.example", checked.port)], "looked up once, and only by us"
    assert checked.requests[0].headers["Host"] == f"rebinding.example:{checked.port}"
    assert other.requests == []
    # The next try looks it up anew, and checks what it finds then.
    assert failed_with(send(url, lookup=rebinding, allow_private=False)) == (
        FailureKind.UNSAFE_ADDRESS,
        False,
    )
    assert len(asked) == 2
    assert other.requests == []


def test_the_next_address_is_tried_when_one_refuses(serve: Serve, second_address: str) -> None:
    receiver = serve(host=second_address)
    assert send(receiver.url(host="agent.example"), lookup=at("127.0.0.1", second_address)) == Delivered(200)


def test_nobody_listening_is_a_failed_connection_and_an_unknown_name_a_dns_failure() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        outcome = send(f"http://127.0.0.1:{unused.getsockname()[1]}/")
    assert outcome == DeliveryFailed(
        FailureKind.CONNECT_FAILED, "no connection: connection refused", retryable=True
    )
    assert failed_with(send("http://agent.example/", lookup=at())) == (FailureKind.DNS_FAILED, True)


def test_a_proxy_in_the_environment_is_not_asked(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, proxy = serve(), serve()
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url(""))
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert send(receiver.url()) == Delivered(200)
    assert proxy.requests == []
