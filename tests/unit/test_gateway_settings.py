"""Which credentials and addresses a gateway to Twilio takes, and which it refuses at the start.

What it sends with them is in test_gateway_creates.py.
"""

from __future__ import annotations

import pytest

from voice.gateway import Placed
from voice.twilio_gateway import TwilioGateway

from .twilio_peer import OURS, SID, TOKEN, Peer, gateway, ring


def test_settings_that_would_move_the_host_are_refused_with_an_address_of_our_own() -> None:
    for name in ("TWILIO_EDGE", "TWILIO_REGION"):
        with pytest.raises(ValueError, match=f"{name}.*TWILIO_API_URL"):
            gateway("http://127.0.0.1:9", environment={name: "dublin"})
    assert TwilioGateway(SID, TOKEN, OURS, environment={"TWILIO_EDGE": "dublin"})


def test_the_machines_own_settings_move_no_host_behind_our_back(
    peer: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWILIO_EDGE", "dublin")
    assert ring(peer.url, environment={}) == Placed("CA1")


@pytest.mark.parametrize("url", ["127.0.0.1:4010", "ftp://127.0.0.1", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="TWILIO_API_URL"):
        gateway(url)


def test_missing_credentials_are_refused_at_the_start() -> None:
    for missing in range(3):
        given = [SID, TOKEN, OURS]
        given[missing] = ""
        with pytest.raises(ValueError, match="Twilio needs"):
            TwilioGateway(*given, environment={"TWILIO_ACCOUNT_SID": SID, "TWILIO_AUTH_TOKEN": TOKEN})
