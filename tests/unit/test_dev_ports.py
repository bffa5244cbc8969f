"""Port choice of `handoff dev`: what is taken stays with whoever has it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from handoff.dev import ports
from handoff.dev.ports import Promises


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((ports.LOOPBACK, 0))
        server.listen(1)
        yield server.getsockname()[1]


@pytest.fixture
def promises() -> Iterator[Promises]:
    ours = Promises()
    yield ours
    ours.close()


def test_a_free_port_that_was_asked_for_is_given(promises: Promises) -> None:
    wanted = ports.any_port()
    assert promises.get(wanted) == wanted


def test_a_taken_port_gives_the_next_free_one(promises: Promises, taken: int) -> None:
    chosen = promises.get(taken)
    assert chosen > taken
    assert ports.is_free(chosen)


def test_no_port_is_given_twice_to_one_system(promises: Promises) -> None:
    wanted = ports.any_port()
    assert len({promises.get(wanted), promises.get(wanted)}) == 2


def test_two_systems_that_start_together_do_not_choose_the_same_port(promises: Promises) -> None:
    # Nobody listens yet, so that the port looks free to both; web would share it with the other one's web.
    wanted = promises.get(ports.any_port())
    others = Promises()
    assert others.get(wanted) > wanted
    others.close()


def test_ports_that_were_given_back_are_given_again(promises: Promises) -> None:
    others = Promises()
    wanted = others.get(ports.any_port())
    others.close()
    assert promises.get(wanted) == wanted


def test_a_listening_socket_is_had_on_the_next_free_port(taken: int) -> None:
    with ports.listen(taken) as door:
        assert door.getsockname()[1] > taken


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


def test_past_the_last_port_nothing_is_invented(promises: Promises) -> None:
    with pytest.raises(OSError, match="no free port"):
        promises.get(65_536)
