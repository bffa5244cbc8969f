"""Faults on demand: each goes wrong as often as asked, and the call itself goes on."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .calling import HELLO, ring, ring_hello
from .conftest import ADA, OURS
from .stub_application import Answer, Application


def test_a_lost_201_leaves_a_call_that_rings(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"lose_201": 1})
    with pytest.raises(requests.exceptions.ConnectionError):
        ring_hello(client, application)
    call = phone.device(ADA).expect_call(saying="Hello")
    assert [found.sid for found in client.calls.list(to=ADA)] == [call.sid]
    call.hang_up()
    assert ring_hello(client, application).status == "queued"
    phone.device(ADA).let_ring()


@pytest.mark.parametrize(("fault", "status"), [("500_after_accept", 500), ("503_after_accept", 503)])
def test_an_error_after_accepting_leaves_a_call_that_rings(
    phone: DevPhone, client: Client, application: Application, fault: str, status: int
) -> None:
    phone.faults({fault: 1})
    with pytest.raises(TwilioRestException) as failed:
        ring_hello(client, application)
    assert failed.value.status == status
    phone.device(ADA).expect_call(saying="Hello").hang_up()


def test_an_early_callback_comes_before_the_201(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"early_callback": 1})
    ring_hello(client, application)
    assert application.statuses()[0] == "initiated"
    phone.device(ADA).let_ring()


def test_callbacks_of_the_next_call_are_lost_and_of_the_one_after_are_not(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"lose_callbacks": 1})
    ring_hello(client, application)
    phone.device(ADA).let_ring().decline()
    phone.settle()
    assert application.webhooks == []
    ring_hello(client, application)
    phone.device(ADA).let_ring()
    phone.settle()
    assert application.statuses() == ["initiated", "ringing"]


def test_duplicate_callbacks_carry_the_same_number(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"duplicate_callbacks": 1})
    ring_hello(client, application)
    phone.device(ADA).let_ring().decline()
    phone.settle()
    numbers = [hook.fields["SequenceNumber"] for hook in application.at("/status")]
    assert numbers == ["0", "0", "1", "1", "2", "2"]


def test_reads_lag_behind_callbacks(phone: DevPhone, client: Client, application: Application) -> None:
    phone.faults({"fetch_lag_s": {"seconds": 5, "times": 1}})
    placed = ring_hello(client, application)
    phone.device(ADA).let_ring()
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
            ring_hello(client, application)
        assert (refused.value.code, refused.value.status) == (20429, 429)
    assert phone.state()["calls"] == []
    ring_hello(client, application)
    phone.device(ADA).let_ring()


def test_a_slow_201_is_slow(phone: DevPhone, client: Client, application: Application) -> None:
    phone.faults({"delay_201_s": {"seconds": 0.3}})
    begun = time.monotonic()
    ring_hello(client, application)
    assert time.monotonic() - begun >= 0.3
    phone.device(ADA).let_ring()


def test_a_request_that_is_never_answered_creates_nothing_and_ends_with_the_reset(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"never_answer": 1})
    client.http_client.timeout = 0.2
    with pytest.raises(requests.exceptions.ReadTimeout):
        ring_hello(client, application)
    client.http_client.timeout = 10
    with ThreadPoolExecutor(1) as others:
        phone.faults({"never_answer": 1})
        waiting = others.submit(ring, client, application)
        phone.wait_for(lambda: len(phone.requests()) == 2 or None, lambda: "the request did not come")
        assert phone.state()["calls"] == []
        phone.reset()
        with pytest.raises(requests.exceptions.ConnectionError):
            waiting.result(timeout=5)


def test_too_many_requests_at_once_are_refused_and_create_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.account(concurrent_requests=1)
    phone.faults({"never_answer": 1})
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(ring, client, application)
        phone.wait_for(lambda: phone.requests() or None, lambda: "the request did not come")
        with pytest.raises(TwilioRestException) as refused:
            ring_hello(client, application)
        assert (refused.value.status, refused.value.code) == (429, 20429)
        assert phone.state()["calls"] == []
        phone.reset()
        with pytest.raises(requests.exceptions.ConnectionError):
            waiting.result(timeout=5)
    assert client.calls.list() == []


@pytest.mark.parametrize(
    ("fault", "on", "status", "code"),
    [
        ("throttled", "calls", 429, 20429),
        ("throttled", "messages", 429, 20429),
        ("html_429", "calls", 429, 429),
        ("status_callback_refused", "calls", 400, 21609),
        ("geography_refused", "calls", 400, 21215),
        ("geography_refused", "messages", 400, 21408),
    ],
)
def test_refusals_have_twilios_codes_and_create_nothing(
    phone: DevPhone, client: Client, application: Application, fault: str, on: str, status: int, code: int
) -> None:
    phone.faults({fault: {"on": on}})
    with pytest.raises(TwilioRestException) as refused:
        if on == "calls":
            ring_hello(client, application)
        else:
            client.messages.create(to=ADA, from_=OURS, body="Hello")
    assert (refused.value.status, refused.value.code) == (status, code)
    assert phone.state()["calls"] == phone.state()["messages"] == []


def test_a_refused_status_callback_lets_a_call_without_one_pass(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"status_callback_refused": {"chance": 1}})
    with pytest.raises(TwilioRestException):
        ring_hello(client, application)
    client.calls.create(to=ADA, from_=OURS, twiml=HELLO.body)
    phone.device(ADA).let_ring()


def test_callbacks_of_one_call_come_in_the_wrong_order_and_none_is_lost(
    phone: DevPhone, client: Client, application: Application
) -> None:
    orders = []
    for seed in (1, 1, 2, 3, 4, 5):
        phone.faults({"reorder_callbacks": 1, "seed": seed})
        application.webhooks.clear()
        ring_hello(client, application)
        phone.device(ADA).expect_call(saying="Hello").hang_up()
        phone.settle()
        orders.append([int(hook.fields["SequenceNumber"]) for hook in application.at("/status")])
        assert sorted(orders[-1]) == [0, 1, 2, 3]
        assert orders[-1][:2] == [1, 0]
    assert orders[0] == orders[1]
    assert {tuple(order) for order in orders} == {(1, 0, 2, 3), (1, 0, 3, 2)}


def test_a_callback_that_nothing_follows_is_sent_at_the_end(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"reorder_callbacks": 2})
    for event, status in (("initiated", "initiated"), ("completed", "no-answer")):
        url = f"{application.url}/{event}"
        client.calls.create(
            to=ADA, from_=OURS, twiml=HELLO.body, status_callback=url, status_callback_event=[event]
        )
        phone.device(ADA).let_ring().decline()
        phone.settle()
        assert application.statuses(f"/{event}") == [status]


def test_receipts_of_a_text_come_in_the_wrong_order(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"reorder_callbacks": {"on": "messages"}})
    status = f"{application.url}/status"
    client.messages.create(to=ADA, from_=OURS, body="Hello", status_callback=status)
    phone.device(ADA).expect_text("Hello")
    phone.settle()
    assert application.statuses() == ["sent", "sending", "delivered"]


def test_late_callbacks_come_after_the_call_and_delay_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"late_callbacks": {"seconds": 60}})
    placed = ring_hello(client, application)
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    phone.settle()
    assert client.calls(placed.sid).fetch().status == "completed"
    phone.advance(59.9)
    assert application.webhooks == []
    phone.advance(0.1)
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]


def test_every_request_for_a_document_comes_twice_and_counts_once(
    phone: DevPhone, client: Client, application: Application
) -> None:
    # A retried voice request was refused by an application, and its caller heard nothing.
    phone.faults({"duplicate_webhooks": 1})
    prompt = '<Gather numDigits="1" action="/key"><Say>Press 1.</Say></Gather>'
    application.says("/key", "<Say>Thank you.</Say>", "<Say>You have pressed before.</Say>")
    client.calls.create(to=ADA, from_=OURS, url=application.says("/voice", prompt, "<Say>Again?</Say>"))
    call = phone.device(ADA).expect_call(saying="Press 1").press("1").hears("Thank you")
    phone.settle()
    for path in ("/voice", "/key"):
        first, second = application.at(path)
        assert first.fields == second.fields
        assert (first.signed, second.signed) == (True, True)
        token = "i-twilio-idempotency-token"
        assert first.headers[token] == second.headers[token]
    assert call.transcript == ["Press 1.", "Thank you."]
    call.hang_up()


def test_an_inbound_text_comes_twice_and_is_answered_once(phone: DevPhone, application: Application) -> None:
    # Redelivered webhooks made double messages.
    phone.faults({"duplicate_webhooks": {"on": "inbound_texts"}})
    phone.line(OURS).sends_texts_to(application.says("/sms", "<Message>Hi Ada.</Message>"))
    phone.device(ADA).texts(OURS, "Hello")
    phone.device(ADA).expect_text("Hi Ada")
    phone.settle()
    first, second = application.at("/sms")
    assert first.fields["MessageSid"] == second.fields["MessageSid"]
    phone.device(ADA).texts(OURS, "Hello again")
    phone.device(ADA).expect_text("Hi Ada")
    phone.settle()
    assert len(application.at("/sms")) == 3


def test_an_inbound_call_can_be_signed_with_the_wrong_token(
    phone: DevPhone, application: Application
) -> None:
    phone.faults({"wrong_token": {"on": "inbound_calls"}})
    phone.line(OURS).sends_calls_to(application.says("/voice", "<Say>Hello.</Say>"))
    for signed in (False, True):
        phone.device(ADA).calls(OURS).hears("Hello").hang_up()
        phone.settle()
        assert application.at("/voice")[-1].signed is signed


def test_a_callback_that_fails_is_listed_and_stops_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/status", Answer(status=500), Answer(status=204, body="", content_type=None))
    ring_hello(client, application)
    phone.device(ADA).expect_call(saying="Hello")
    phone.advance(5)
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]
    phone.expect_debugger(11200)


def test_a_callback_that_hangs_delays_later_ones_and_not_the_call(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/status", Answer(hold=True), Answer())
    ring_hello(client, application)
    call = phone.device(ADA).expect_call(saying="Hello")
    assert application.statuses() == ["initiated"]
    application.release()
    phone.settle()
    assert application.statuses() == ["initiated", "ringing", "in-progress"]
    call.hang_up()
