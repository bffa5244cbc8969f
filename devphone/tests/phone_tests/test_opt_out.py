"""STOP, START and HELP: Twilio obeys and answers them by itself, and the application hears them too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from twilio.rest import Client

from devphone import testing
from devphone.testing import DevPhone

from . import shared_files
from .conftest import ACCOUNT, ADA, BEN, OURS, TOKEN
from .refusals import refusal
from .stub_application import Application

SECOND = "+12125550101"
SERVICE = "MG" + "0" * 32


@pytest.fixture(scope="module")
def running() -> Iterator[DevPhone]:
    """A dev phone with two numbers."""
    with testing.start(
        ACCOUNT,
        TOKEN,
        clock="manual",
        numbers=[OURS, SECOND],
        timeout_s=5,
        calls_per_second=0,
        contract=shared_files.find("twilio_api_v2010.json"),
    ) as phone:
        yield phone


@pytest.mark.parametrize(
    "word", ["STOP", " stop\n", "Stopall", "unsubscribe", "END", "quit", "CANCEL", "revoke", "OptOut"]
)
def test_a_person_who_sends_stop_gets_no_more_texts_from_that_number(
    phone: DevPhone, client: Client, application: Application, word: str
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", ""))
    phone.device(ADA).texts(OURS, word)
    phone.device(ADA).expect_text("no more texts")
    assert [hook.fields["Body"] for hook in application.waits_for("/sms")] == [word]
    assert refusal(lambda: client.messages.create(to=ADA, from_=OURS, body="Hi")) == (400, 21610)
    client.messages.create(to=ADA, from_=SECOND, body="From the other number")
    phone.device(ADA).expect_text("other number")
    client.messages.create(to=BEN, from_=OURS, body="To somebody else")
    phone.device(BEN).expect_text("somebody else")
    client.calls.create(to=ADA, from_=OURS, twiml="<Response><Say>Hello</Say></Response>")
    phone.device(ADA).expect_call(saying="Hello").hang_up()


def test_a_messaging_service_is_stopped_with_its_sender(phone: DevPhone, client: Client) -> None:
    phone.device(ADA).texts(OURS, "STOP")
    phone.device(ADA).expect_text("no more texts")
    create = client.messages.create
    assert refusal(lambda: create(to=ADA, messaging_service_sid=SERVICE, body="Hi")) == (400, 21610)


@pytest.mark.parametrize("word", ["START", "yes", "Unstop "])
def test_start_lifts_it(phone: DevPhone, client: Client, word: str) -> None:
    phone.device(ADA).texts(OURS, "STOP")
    phone.device(ADA).expect_text("no more texts")
    phone.device(ADA).texts(OURS, word)
    phone.device(ADA).expect_text("again")
    client.messages.create(to=ADA, from_=OURS, body="Welcome back")
    phone.device(ADA).expect_text("Welcome back")


@pytest.mark.parametrize("word", ["HELP", "info"])
def test_help_is_answered_and_stops_nothing(phone: DevPhone, client: Client, word: str) -> None:
    phone.device(ADA).texts(OURS, word)
    reply = phone.device(ADA).expect_text("Reply STOP")
    assert client.messages(reply.sid).fetch().direction == "outbound-reply"
    client.messages.create(to=ADA, from_=OURS, body="Still here")
    phone.device(ADA).expect_text("Still here")


@pytest.mark.parametrize("words", ["STOP PLEASE", "please cancel", "Yes", "start", "no"])
def test_everything_else_is_an_ordinary_text(phone: DevPhone, client: Client, words: str) -> None:
    phone.device(ADA).texts(OURS, words)
    phone.settle()
    assert [text["direction"] for text in phone.state(ADA)["messages"]] == ["inbound"]
    client.messages.create(to=ADA, from_=OURS, body="Go on")
    phone.device(ADA).expect_text("Go on")


def test_after_stop_there_is_silence(phone: DevPhone, application: Application) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", "<Message>But wait</Message>"))
    phone.device(ADA).texts(OURS, "STOP")
    phone.device(ADA).expect_text("no more texts")
    phone.settle()
    phone.expect_debugger(21610)
    for word in ("STOP", "HELP"):
        phone.device(ADA).texts(OURS, word)
        phone.settle()
        phone.expect_debugger(21610)


def test_a_scheduled_text_is_not_called_off_by_stop(phone: DevPhone, client: Client) -> None:
    """https://support.twilio.com/hc/en-us/articles/4412165297947 says that STOP leaves it alone."""
    at = datetime.now(UTC) + timedelta(minutes=10)
    client.messages.create(
        to=ADA, messaging_service_sid=SERVICE, body="As planned", schedule_type="fixed", send_at=at
    )
    phone.device(ADA).texts(OURS, "STOP")
    phone.device(ADA).expect_text("no more texts")
    phone.advance(600)
    phone.device(ADA).expect_text("As planned")


def test_a_reset_forgets_who_said_stop(phone: DevPhone, client: Client) -> None:
    phone.device(ADA).texts(OURS, "STOP")
    phone.settle()
    phone.reset()
    client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.device(ADA).expect_text("Hello")
