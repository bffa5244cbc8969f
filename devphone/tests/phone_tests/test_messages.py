"""Texts from the create to the phone, their status callbacks, and how many segments they need."""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone import segments
from devphone.testing import DevPhone

from . import shared_files
from .conftest import ADA, BEN, OURS
from .stub_application import Application


def test_a_text_arrives_with_its_link_and_its_callbacks_in_order(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = "Checkout is blocked: https://h.test/h/abc123. Reply 1 when done (see http://h.test/help)."
    client.messages.create(to=ADA, from_=OURS, body=body, status_callback=f"{application.url}/status")
    text = phone.number(ADA).expect_text(containing="BLOCKED")
    assert text.links == ["https://h.test/h/abc123", "http://h.test/help"]
    phone.settle()
    assert application.statuses() == ["sending", "sent", "delivered"]
    last = application.at("/status")[-1]
    assert last.signed
    assert last.fields["MessageSid"] == last.fields["SmsSid"] == text.sid
    assert last.fields["SmsStatus"] == "delivered"
    assert (last.fields["To"], last.fields["From"]) == (ADA, OURS)
    assert len(last.fields["RawDlrDoneDate"]) == 10


def test_a_text_that_never_arrives_says_why(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.number(ADA).behaves("rings", texts="undelivered", error_code=30005)
    sent = client.messages.create(
        to=ADA, from_=OURS, body="Hello", status_callback=f"{application.url}/status"
    )
    phone.settle()
    phone.expect(sent.sid)
    assert application.statuses() == ["sending", "sent", "undelivered"]
    assert application.at("/status")[-1].fields["ErrorCode"] == "30005"
    assert client.messages(sent.sid).fetch().error_code == 30005


def test_without_a_receipt_sent_is_the_last_word(phone: DevPhone, client: Client) -> None:
    phone.number(ADA).behaves("rings", texts="no_receipt")
    sent = client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.number(ADA).expect_text("Hello")
    phone.settle()
    assert client.messages(sent.sid).fetch().status == "sent"


def test_a_messaging_service_chooses_the_sender(phone: DevPhone, client: Client) -> None:
    phone.pace(text_step_s=1)
    sent = client.messages.create(to=ADA, messaging_service_sid="MG" + "0" * 32, body="Hello")
    assert (sent.status, sent.num_segments) == ("accepted", "0")
    assert sent.from_ is None
    phone.advance(3)
    phone.number(ADA).expect_text("Hello")
    later = client.messages(sent.sid).fetch()
    assert (later.status, later.from_, later.num_segments) == ("delivered", OURS, "1")


def test_a_body_can_be_erased_and_a_text_deleted(phone: DevPhone, client: Client) -> None:
    sent = client.messages.create(to=BEN, from_=OURS, body="A secret")
    phone.number(BEN).expect_text("secret")
    assert client.messages(sent.sid).update(body="").body == ""
    assert client.messages(sent.sid).delete()
    assert client.messages.list(to=BEN) == []


def test_every_published_segment_vector() -> None:
    cases = shared_files.read("sms-segment-vectors.json")["cases"]
    wrong = [
        (case["name"], segments.count(case["body"]))
        for case in cases
        if segments.count(case["body"]) != (case["encoding"], case["segments"])
    ]
    assert len(cases) > 40
    assert wrong == []


@pytest.mark.parametrize(("body", "expected"), [("", ("GSM-7", 1)), ("€" * 81, ("GSM-7", 2))])
def test_an_escape_character_is_never_split(body: str, expected: tuple[str, int]) -> None:
    assert segments.count(body) == expected
