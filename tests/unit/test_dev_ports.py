"""Port choice of `handoff dev`: what is taken stays with whoever has it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from handoff.dev import ports


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen(1)
        yield server.getsockname()[1]


def test_a_free_port_that_was_asked_for_is_taken_as_it_is() -> None:
    wanted = ports.choose(None)
    assert ports.choose(wanted) == wanted


def test_a_taken_port_gives_the_next_free_one(taken: int) -> None:
    chosen = ports.choose(taken)
    assert chosen > taken
    assert ports.is_free(chosen)


def test_a_port_promised_to_another_process_is_not_given_twice() -> None:
    wanted = ports.choose(None)
    assert ports.choose(wanted, but={wanted}) > wanted


def test_a_port_is_free_again_the_moment_its_server_and_a_client_closed() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as every server does
        server.bind((ports.LOOPBACK, 0))
        server.listen(1)
        port = server.getsockname()[1]
        with socket.create_connection((ports.LOOPBACK, port)) as client:
            accepted, _ = server.accept()
            accepted.close()  # the server closes first: its end lingers in TIME_WAIT
            assert client.recv(1) == b""
    assert ports.is_free(port)


def test_past_the_last_port_nothing_is_invented() -> None:
    with pytest.raises(OSError, match="no free port"):
        ports.choose(65_535, but={65_535})
