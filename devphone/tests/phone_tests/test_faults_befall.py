"""A fault has happened when it befell something; until then it is still to come."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import requests
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, OURS
from .stub_application import Application

DOCUMENT = "<Response><Say>Hello.</Say></Response>"


def to_come(phone: DevPhone) -> list[tuple[str, int]]:
    """Names and times of the faults that are still to come."""
    return [(fault["name"], fault["times"]) for fault in phone.send("GET", "/faults")["faults"]]


def code_of(create: Callable[[], object]) -> int:
    """The code with which a create is refused."""
    with pytest.raises(TwilioRestException) as refused:
        create()
    return refused.value.code


def test_a_create_that_is_refused_anyway_uses_no_fault_up(phone: DevPhone, client: Client) -> None:
    phone.faults({"throttled": 1})
    phone.faults({"throttled": {"on": "messages"}})
    assert code_of(lambda: client.calls.create(to="555", from_=OURS, twiml=DOCUMENT)) == 21211
    assert code_of(lambda: client.messages.create(to="555", from_=OURS, body="Hi")) == 21211
    phone.account(trial=True)
    assert code_of(lambda: client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)) == 21219
    assert code_of(lambda: client.messages.create(to=ADA, from_=OURS, body="Hi")) == 21608
    assert to_come(phone) == [("throttled", 1), ("throttled", 1)]
    phone.account(trial=False)
    assert code_of(lambda: client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)) == 20429
    assert code_of(lambda: client.messages.create(to=ADA, from_=OURS, body="Hi")) == 20429


def test_one_refusal_leaves_the_other_faults_for_the_next_create(phone: DevPhone, client: Client) -> None:
    phone.faults({"lose_201": 1, "rest_error": {"code": 20503, "status": 503}, "throttled": 1})
    for code in (20429, 20503):
        assert code_of(lambda: client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)) == code
    assert to_come(phone) == [("lose_201", 1)]
    with pytest.raises(requests.exceptions.ConnectionError):
        client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    phone.device(ADA).let_ring()


def test_one_answer_is_spoilt_in_one_way(phone: DevPhone, client: Client) -> None:
    phone.faults({"500_after_accept": 1, "503_after_accept": 1})
    assert code_of(lambda: client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)) == 20500
    assert to_come(phone) == [("503_after_accept", 1)]
    phone.device(ADA).let_ring()
    phone.faults({"503_after_accept": 0})


@pytest.mark.parametrize(
    "fault", ["lose_callbacks", "duplicate_callbacks", "reorder_callbacks", "early_callback"]
)
def test_a_call_without_a_callback_gives_a_callbacks_fault_nothing_to_do(
    phone: DevPhone, client: Client, fault: str
) -> None:
    phone.faults({fault: 1})
    begun = time.monotonic()
    client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    assert time.monotonic() - begun < 2
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    with pytest.raises(AssertionError, match=f"fault {fault} on calls did not happen, 1 left"):
        phone.nothing_else_happened()
    phone.faults({fault: 0})


def test_a_callbacks_fault_has_happened_when_there_was_a_callback(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"duplicate_callbacks": 2})
    status = f"{application.url}/status"
    client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT, status_callback=status)
    call = phone.device(ADA).expect_call(saying="Hello")
    phone.settle()
    assert to_come(phone) == [("duplicate_callbacks", 2)]
    call.hang_up()
    phone.settle()
    assert application.statuses() == ["completed", "completed"]
    assert to_come(phone) == [("duplicate_callbacks", 1)]
    phone.faults({"duplicate_callbacks": 0})


def test_a_fault_for_one_call_is_not_for_two_that_begin_before_it_happens(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"lose_callbacks": 1})
    for path in ("/first", "/second"):
        client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT, status_callback=application.url + path)
    for _ in range(2):
        phone.device(ADA).let_ring().decline()
    phone.settle()
    assert [hook.path for hook in application.webhooks] == ["/second"]


def test_a_port_that_is_in_the_address_anyway_can_not_be_signed_differently(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"signed_with_port": 1})
    client.calls.create(to=ADA, from_=OURS, url=application.says("/voice", "<Say>Hello.</Say>"))
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    assert application.at("/voice")[0].signed
    assert to_come(phone) == [("signed_with_port", 1)]
    phone.faults({"signed_with_port": 0})


@pytest.mark.parametrize("entry", [None, {"times": None}, {"chance": True}])
def test_times_without_end_are_no_times(phone: DevPhone, entry: object) -> None:
    with pytest.raises(AssertionError, match="times must be|chance must be"):
        phone.faults({"lose_201": entry})
    assert to_come(phone) == []


def test_a_call_goes_its_way_while_its_201_is_late(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"delay_201_s": {"seconds": 60}})
    client.http_client.timeout = 0.3
    with pytest.raises(requests.exceptions.ReadTimeout):
        client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT, status_callback=f"{application.url}/status")
    begun = time.monotonic()
    phone.device(ADA).expect_call(saying="Hello")
    phone.advance(10)
    assert application.statuses() == ["completed"]
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("fault", [{"never_answer": 1}, {"delay_201_s": {"seconds": 60}}])
def test_a_client_that_went_away_is_not_at_once_with_the_next(
    phone: DevPhone, client: Client, fault: dict[str, object]
) -> None:
    phone.account(concurrent_requests=1)
    phone.faults(fault)
    client.http_client.timeout = 0.3
    with pytest.raises(requests.exceptions.ReadTimeout):
        client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    client.http_client.timeout = 10

    def free() -> bool | None:
        try:
            client.calls(f"CA{'0' * 32}").fetch()
        except TwilioRestException as refused:
            return refused.status == 404 or None
        return None

    phone.wait_for(free, lambda: "the place was not given back")
    for call in phone.state()["calls"]:
        phone.expect(call["sid"])
