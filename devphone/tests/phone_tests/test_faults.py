"""Faults on demand: each goes wrong as often as asked, and the call itself goes on."""

from __future__ import annotations

import time

import pytest
import requests
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client
from twilio.rest.api.v2010.account.call import CallInstance

from devphone.testing import DevPhone

from .conftest import ADA, OURS
from .stub_application import Answer, Application

DOCUMENT = "<Response><Say>Hello.</Say></Response>"


def ring(client: Client, application: Application) -> CallInstance:
    """A call to Ada that says hello and reports every event."""
    return client.calls.create(
        to=ADA,
        from_=OURS,
        twiml=DOCUMENT,
        status_callback=f"{application.url}/status",
        status_callback_event=["initiated", "ringing", "answered", "completed"],
    )


def test_a_lost_201_leaves_a_call_that_rings(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"lose_201": 1})
    with pytest.raises(requests.exceptions.ConnectionError):
        ring(client, application)
    call = phone.number(ADA).expect_call(saying="Hello")
    assert [found.sid for found in client.calls.list(to=ADA)] == [call.sid]
    call.hang_up()
    assert ring(client, application).status == "queued"
    phone.number(ADA).let_ring()


@pytest.mark.parametrize(("fault", "status"), [("500_after_accept", 500), ("503_after_accept", 503)])
def test_an_error_after_accepting_leaves_a_call_that_rings(
    phone: DevPhone, client: Client, application: Application, fault: str, status: int
) -> None:
    phone.faults({fault: 1})
    with pytest.raises(TwilioRestException) as failed:
        ring(client, application)
    assert failed.value.status == status
    phone.number(ADA).expect_call(saying="Hello").hang_up()


def test_an_early_callback_comes_before_the_201(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"early_callback": 1})
    ring(client, application)
    assert application.statuses()[0] == "initiated"
    phone.number(ADA).let_ring()


def test_callbacks_of_the_next_call_are_lost_and_of_the_one_after_are_not(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"lose_callbacks": 1})
    ring(client, application)
    phone.number(ADA).let_ring().decline()
    phone.settle()
    assert application.webhooks == []
    ring(client, application)
    phone.number(ADA).let_ring()
    phone.settle()
    assert application.statuses() == ["initiated", "ringing"]


def test_duplicate_callbacks_carry_the_same_number(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"duplicate_callbacks": 1})
    ring(client, application)
    phone.number(ADA).let_ring().decline()
    phone.settle()
    numbers = [hook.fields["SequenceNumber"] for hook in application.at("/status")]
    assert numbers == ["0", "0", "1", "1", "2", "2"]


def test_reads_lag_behind_callbacks(phone: DevPhone, client: Client, application: Application) -> None:
    phone.faults({"fetch_lag_s": {"seconds": 5, "times": 1}})
    placed = ring(client, application)
    phone.number(ADA).let_ring()
    phone.settle()
    assert application.statuses()[-1] == "ringing"
    assert client.calls(placed.sid).fetch().status == "queued"
    assert client.calls.list(status="ringing") == []
    phone.advance(5)
    assert client.calls(placed.sid).fetch().status == "ringing"


def test_a_refusal_is_answered_as_asked_and_creates_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"rest_error": {"code": 20429, "status": 429, "times": 2}})
    for _ in range(2):
        with pytest.raises(TwilioRestException) as refused:
            ring(client, application)
        assert (refused.value.code, refused.value.status) == (20429, 429)
    assert phone.state()["calls"] == []
    ring(client, application)
    phone.number(ADA).let_ring()


def test_a_slow_201_is_slow(phone: DevPhone, client: Client, application: Application) -> None:
    phone.faults({"delay_201_s": {"seconds": 0.3}})
    begun = time.monotonic()
    ring(client, application)
    assert time.monotonic() - begun >= 0.3
    phone.number(ADA).let_ring()


def test_faults_for_messages_leave_calls_alone(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"500_after_accept": {"times": 1, "on": "messages"}})
    ring(client, application)
    phone.number(ADA).let_ring()
    with pytest.raises(TwilioRestException):
        client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.number(ADA).expect_text("Hello")


def test_a_fault_that_does_not_exist_is_refused(phone: DevPhone) -> None:
    for wrong in (
        {"lose_everything": 1},
        {"fetch_lag_s": 3},
        {"lose_201": -1},
        {"rest_error": {"status": 9}},
    ):
        with pytest.raises(AssertionError):
            phone.faults(wrong)
    assert phone.send("GET", "/faults")["faults"] == []


def test_a_callback_that_fails_is_listed_and_stops_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/status", Answer(status=500), Answer(status=204, body="", content_type=None))
    ring(client, application)
    phone.number(ADA).expect_call(saying="Hello")
    phone.advance(5)
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]
    phone.expect_debugger(11200)


def test_a_callback_that_hangs_delays_later_ones_and_not_the_call(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/status", Answer(hold=True), Answer())
    ring(client, application)
    call = phone.number(ADA).expect_call(saying="Hello")
    assert application.statuses() == ["initiated"]
    application.release()
    phone.settle()
    assert application.statuses() == ["initiated", "ringing", "in-progress"]
    call.hang_up()
