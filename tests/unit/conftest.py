"""The servers that unit tests talk to, started and stopped.

What they are, and how to call them, is in receivers.py (agents) and twilio_peer.py (Twilio's API).
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from .receivers import Serve, receivers
from .twilio_peer import Peer, serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts receivers of resume callbacks; all are gone after the test."""
    with receivers(tmp_path) as start:
        yield start


@pytest.fixture
def second_address() -> str:
    """Another address of this machine; Linux has the whole block, others may not."""
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.2", 0))
        except OSError:
            pytest.skip("this machine has no 127.0.0.2")
    return "127.0.0.2"


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A server in the place of Twilio's API, new for each test."""
    with serving(Peer()) as one:
        yield one
