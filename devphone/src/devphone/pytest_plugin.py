"""The pytest plugin: fixtures that give a test a phone, Twilio's client and a place for the application.

Loaded with every test run of an environment that has the dev phone, so that everything but pytest is imported
when a test asks for it. What a phone can do in a test is `testing/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication
    from twilio.rest import Client

    from devphone.testing import DevPhone

_PHONE = pytest.StashKey["DevPhone"]()
_CLIENT_TIMEOUT_S = 10
_CLOCKS: tuple[Literal["manual", "real"], ...] = ("manual", "real")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The settings in pytest's configuration file."""
    parser.addini("devphone_account_sid", "AC and 32 hexadecimal digits, made up", default="AC" + "0" * 32)
    parser.addini("devphone_auth_token", "made up; signs the webhooks", default="simulated")
    parser.addini("devphone_numbers", "numbers of the account", type="args", default=["+12125550100"])
    parser.addini("devphone_clock", "manual: the test moves it, or real", default="manual")
    parser.addini("devphone_calls_per_second", "calls that leave the queue; 0 = all at once", default="0")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that used the phone also fails on what nobody expected, while its application still runs."""
    yield
    phone = item.stash.get(_PHONE, None)
    if phone is None:
        return
    surprise = ""
    try:
        phone.nothing_else_happened()
    except AssertionError as error:
        surprise = str(error)
    if surprise:  # outside of the handler, or it is printed twice
        pytest.fail(surprise, pytrace=False)


@pytest.fixture(scope="session")
def _devphone(pytestconfig: pytest.Config) -> Iterator[DevPhone]:
    """One dev phone for the whole run. It is a process of its own, on loopback."""
    from devphone import testing

    clock, rate = pytestconfig.getini("devphone_clock"), pytestconfig.getini("devphone_calls_per_second")
    if clock not in _CLOCKS:
        raise pytest.UsageError(f"devphone_clock must be manual or real, not {clock!r}")
    try:
        calls_per_second = float(rate)
    except ValueError:
        raise pytest.UsageError(f"devphone_calls_per_second must be a number, not {rate!r}") from None
    with testing.start(
        pytestconfig.getini("devphone_account_sid"),
        pytestconfig.getini("devphone_auth_token"),
        clock=clock,
        numbers=pytestconfig.getini("devphone_numbers"),
        calls_per_second=calls_per_second,
    ) as phone:
        yield phone


@pytest.fixture
def devphone(_devphone: DevPhone, request: pytest.FixtureRequest) -> DevPhone:
    """A Twilio double, as new; the test fails on calls, texts and errors that it did not expect."""
    _devphone.reset()
    request.node.stash[_PHONE] = _devphone
    return _devphone


@pytest.fixture
def devphone_client(devphone: DevPhone, pytestconfig: pytest.Config) -> Client:
    """Twilio's own client, with the dev phone's account and address."""
    from twilio.http.http_client import TwilioHttpClient
    from twilio.rest import Client

    client = Client(
        pytestconfig.getini("devphone_account_sid"),
        pytestconfig.getini("devphone_auth_token"),
        http_client=TwilioHttpClient(timeout=_CLIENT_TIMEOUT_S, pool_connections=False),
    )
    client.api.base_url = devphone.url
    return client


@pytest.fixture
def devphone_serve(devphone: DevPhone) -> Iterator[Callable[[WSGIApplication], str]]:
    """Serves a WSGI application for the length of the test; call it with the application, get its URL."""
    from devphone.testing.serving import serve

    with ExitStack() as servers:
        yield lambda application: servers.enter_context(serve(application))
        devphone.settle()  # the last callbacks of a test still find somebody
