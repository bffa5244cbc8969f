"""What the dev phone's tests share: a running phone, Twilio's own client, and a stub application."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from twilio.http.http_client import TwilioHttpClient
from twilio.rest import Client

from devphone import testing

from . import shared_files
from .stub_application import Application

ACCOUNT = "AC" + "0123456789abcdef" * 2
TOKEN = "a token made up for tests"
ADA, BEN, CY = "+12125550123", "+12125550124", "+12125550125"
OURS = "+12125550100"


@pytest.fixture(scope="session")
def running() -> Iterator[testing.DevPhone]:
    """One dev phone with a manual clock for the whole run, its answers checked where Twilio's file is."""
    with testing.start(
        ACCOUNT,
        TOKEN,
        clock="manual",
        numbers=[OURS],
        timeout_s=5,
        calls_per_second=0,
        contract=shared_files.find("twilio_api_v2010.json"),
    ) as phone:
        yield phone


@pytest.fixture
def phone(running: testing.DevPhone, application: Application) -> Iterator[testing.DevPhone]:
    """That phone, as new; afterwards nothing may have happened that the test did not expect."""
    running.reset()
    yield running
    application.release()
    running.nothing_else_happened()


@pytest.fixture
def client(phone: testing.DevPhone) -> Client:
    """Twilio's library, pointed at the dev phone."""
    return client_for(phone)


@pytest.fixture
def application() -> Iterator[Application]:
    """The application that Twilio would call."""
    with Application(TOKEN) as stub:
        yield stub


def client_for(phone: testing.DevPhone, token: str = TOKEN) -> Client:
    """A client of Twilio's library for one dev phone."""
    client = Client(ACCOUNT, token, http_client=TwilioHttpClient(timeout=10, pool_connections=False))
    client.api.base_url = phone.url
    return client
