"""Texts from the create to the phone, their status callbacks, and how many segments they need."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from . import shared_files
from .conftest import ADA, BEN, OURS
from .refusals import refusal
from .stub_application import Application

SERVICE = "MG" + "0" * 32


def test_a_text_arrives_with_its_link_and_its_callbacks_in_order(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = "Checkout is blocked: https://h.test/h/abc123. Reply 1 when done (see http://h.test/help)."
    client.messages.create(to=ADA, from_=OURS, body=body, status_callback=f"{application.url}/status")
    text = phone.device(ADA).expect_text(containing="BLOCKED")
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
    phone.device(ADA).behaves("rings", texts="undelivered", error_code=30005)
    sent = client.messages.create(
        to=ADA, from_=OURS, body="Hello", status_callback=f"{application.url}/status"
    )
    phone.settle()
    phone.expect(sent.sid)
    assert application.statuses() == ["sending", "sent", "undelivered"]
    assert application.at("/status")[-1].fields["ErrorCode"] == "30005"
    assert client.messages(sent.sid).fetch().error_code == 30005


def test_without_a_receipt_sent_is_the_last_word(phone: DevPhone, client: Client) -> None:
    phone.device(ADA).behaves("rings", texts="no_receipt")
    sent = client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.device(ADA).expect_text("Hello")
    phone.settle()
    assert client.messages(sent.sid).fetch().status == "sent"


def test_a_messaging_service_chooses_the_sender(phone: DevPhone, client: Client) -> None:
    phone.pace(text_step_s=1)
    sent = client.messages.create(to=ADA, messaging_service_sid=SERVICE, body="Hello")
    assert (sent.status, sent.num_segments) == ("accepted", "0")
    assert sent.from_ is None
    phone.advance(1)
    queued = client.messages(sent.sid).fetch()
    assert (queued.status, queued.from_, queued.num_segments) == ("queued", OURS, "1")
    phone.advance(3)
    phone.device(ADA).expect_text("Hello")
    assert client.messages(sent.sid).fetch().status == "delivered"


def test_a_text_waits_until_it_is_scheduled(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sent = client.messages.create(
        to=ADA,
        messaging_service_sid=SERVICE,
        body="Tomorrow",
        schedule_type="fixed",
        send_at=datetime.now(UTC) + timedelta(hours=1),
        status_callback=f"{application.url}/status",
    )
    assert (sent.status, sent.from_, sent.date_sent) == ("scheduled", None, None)
    phone.advance(3500)
    assert phone.state(ADA)["messages"][0]["arrived"] is False
    phone.advance(200)
    phone.device(ADA).expect_text("Tomorrow")
    assert application.statuses() == ["queued", "sending", "sent", "delivered"]
    assert application.at("/status")[0].fields["MessagingServiceSid"] == SERVICE


def test_a_scheduled_text_can_be_called_off_and_no_other_can(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sent = client.messages.create(
        to=ADA,
        messaging_service_sid=SERVICE,
        body="Never mind",
        schedule_type="fixed",
        send_at=datetime.now(UTC) + timedelta(days=30),
        status_callback=f"{application.url}/status",
    )
    assert client.messages(sent.sid).update(status="canceled").status == "canceled"
    phone.advance(31 * 24 * 3600)
    phone.expect(sent.sid)
    assert client.messages(sent.sid).fetch().status == "canceled"
    assert application.statuses() == ["canceled"]
    assert refusal(lambda: client.messages(sent.sid).update(status="canceled")) == (400, 30409)


def test_without_a_service_a_schedule_is_passed_over(phone: DevPhone, client: Client) -> None:
    sent = client.messages.create(
        to=ADA, from_=OURS, body="Now then", schedule_type="fixed", send_at=datetime.now(UTC)
    )
    assert sent.status == "queued"
    phone.device(ADA).expect_text("Now then")
    phone.expect_debugger(35118)


def test_a_text_that_waits_too_long_is_not_sent(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.pace(text_step_s=100)
    late = client.messages.create(
        to=ADA, from_=OURS, body="Old news", validity_period=60, status_callback=f"{application.url}/status"
    )
    in_time = client.messages.create(to=ADA, from_=OURS, body="News", validity_period=100)
    phone.advance(400)
    phone.expect(late.sid)
    failed = client.messages(late.sid).fetch()
    assert (failed.status, failed.error_code) == ("failed", 30036)
    assert failed.error_message == "Validity Period Expired"
    assert application.statuses() == ["failed"]
    assert application.at("/status")[0].fields["ErrorCode"] == "30036"
    assert phone.device(ADA).expect_text("News").sid == in_time.sid


def test_a_text_can_fail_before_it_is_sent(phone: DevPhone, client: Client) -> None:
    phone.device(ADA).behaves("rings", texts="failed", error_code=30007)
    sent = client.messages.create(to=ADA, from_=OURS, body="Free money")
    phone.settle()
    phone.expect(sent.sid)
    failed = client.messages(sent.sid).fetch()
    assert (failed.status, failed.error_code, failed.date_sent) == ("failed", 30007, None)


def test_smart_encoding_saves_segments_unless_something_else_needs_unicode(
    phone: DevPhone, client: Client
) -> None:
    words = "\u201cCheckout\u201d is blocked \u2013 it can\u2019t go on\u2026 " + "x" * 60
    for body, smart, segments in ((words, True, "1"), (words, False, "2"), (words + "\u2705", True, "2")):
        sent = client.messages.create(to=ADA, from_=OURS, body=body, smart_encoded=smart)
        assert sent.num_segments == segments
        text = phone.device(ADA).expect_text("Checkout")
        assert ('"Checkout" is blocked - it can\'t go on...' in text.body) == (smart and segments == "1")


def test_a_picture_makes_it_an_mms(phone: DevPhone, client: Client) -> None:
    picture = "https://h.test/screen.png"
    sent = client.messages.create(to=ADA, from_=OURS, body="See " + "x" * 200, media_url=[picture])
    assert (sent.sid[:2], sent.num_media, sent.num_segments) == ("MM", "1", "1")
    assert phone.device(ADA).expect_text("See").media == [picture]


def test_a_content_template_is_accepted_and_noted(phone: DevPhone, client: Client) -> None:
    client.messages.create(to=ADA, from_=OURS, content_sid="HX" + "0" * 32, content_variables="{}")
    assert phone.device(ADA).expect_text().body == ""
    assert "ContentSid" in phone.expect_debugger(20001)["text"]


def test_what_twilio_refuses_is_refused_with_its_code(phone: DevPhone, client: Client) -> None:
    good: dict[str, Any] = {"to": ADA, "from_": OURS, "body": "Hello"}
    scheduled = {"to": ADA, "messaging_service_sid": SERVICE, "body": "Hi", "schedule_type": "fixed"}
    soon = datetime.now(UTC) + timedelta(seconds=200)
    late = datetime.now(UTC) + timedelta(days=36)
    refused: list[tuple[int, dict[str, Any]]] = [
        (21266, good | {"to": OURS}),
        (21623, good | {"media_url": ["https://h.test/a.png"] * 11}),
        (21620, good | {"media_url": ["ftp://h.test/a.png"]}),
        (21617, good | {"body": "x" * 1601}),
        (90007, good | {"validity_period": 0}),
        (90007, good | {"validity_period": 36001}),
        (35111, scheduled),
        (35114, scheduled | {"send_at": soon}),
        (35114, scheduled | {"send_at": late}),
        (35114, scheduled | {"send_at": "tomorrow"}),
        (35126, scheduled | {"schedule_type": "optimize"}),
    ]
    for code, fields in refused:
        assert refusal(lambda fields=fields: client.messages.create(**fields)) == (400, code), fields
    assert phone.state()["messages"] == []


def test_a_trial_account_texts_verified_numbers_with_a_notice(phone: DevPhone, client: Client) -> None:
    phone.account(trial=True, verified=[ADA])
    assert refusal(lambda: client.messages.create(to=BEN, from_=OURS, body="Hello")) == (400, 21608)
    sent = client.messages.create(to=ADA, from_=OURS, body="x" * 150)
    assert sent.num_segments == "2"
    assert phone.device(ADA).expect_text("simulated trial account").body == sent.body


def test_an_erased_body_reaches_the_person_and_stays_on_the_phone(phone: DevPhone, client: Client) -> None:
    phone.pace(text_step_s=1)
    sent = client.messages.create(to=ADA, from_=OURS, body="Your code is 42")
    assert client.messages(sent.sid).update(body="").body == ""
    phone.advance(10)
    assert phone.device(ADA).expect_text().body == "Your code is 42"
    assert client.messages(sent.sid).fetch().body == ""
    assert [text["body"] for text in phone.state(ADA)["messages"]] == ["Your code is 42"]


def test_a_deleted_text_still_arrives_and_is_a_surprise_to_who_did_not_expect_it(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.pace(text_step_s=1)
    status = f"{application.url}/status"
    sent = client.messages.create(to=ADA, from_=OURS, body="Surprise", status_callback=status)
    phone.advance(2)
    assert client.messages(sent.sid).delete()
    assert refusal(lambda: client.messages(sent.sid).fetch()) == (404, 20404)
    assert refusal(lambda: client.messages(sent.sid).update(body="")) == (404, 20404)
    assert refusal(lambda: client.messages(sent.sid).delete()) == (404, 20404)
    phone.advance(1)
    with pytest.raises(AssertionError, match="text to …0123, delivered: 'Surprise'"):
        phone.nothing_else_happened()
    phone.device(ADA).expect_text("Surprise")
    assert application.statuses() == ["sending", "sent", "delivered"]


def test_a_scheduled_text_that_was_canceled_before_its_201_came_is_never_sent(
    phone: DevPhone, client: Client
) -> None:
    phone.faults({"delay_201_s": {"seconds": 1, "on": "messages"}})
    at = datetime.now(UTC) + timedelta(hours=1)
    wanted = {"to": ADA, "messaging_service_sid": SERVICE, "body": "Never mind", "schedule_type": "fixed"}
    with ThreadPoolExecutor() as pool:
        sending = pool.submit(lambda: client.messages.create(**wanted, send_at=at))
        sid = phone.wait_for(lambda: next(iter(client.messages.list()), None), lambda: "no text").sid
        assert client.messages(sid).update(status="canceled").status == "canceled"
        assert sending.result().sid == sid
    phone.advance(7200)
    assert client.messages(sid).fetch().status == "canceled"
    phone.expect(sid)


def test_a_body_can_be_erased_and_a_text_deleted(phone: DevPhone, client: Client) -> None:
    sent = client.messages.create(to=BEN, from_=OURS, body="A secret")
    phone.device(BEN).expect_text("secret")
    assert client.messages(sent.sid).update(body="").body == ""
    assert refusal(lambda: client.messages(sent.sid).update(body="Another")) == (400, 30400)
    assert refusal(lambda: client.messages(sent.sid).update()) == (400, 30400)
    assert client.messages(sent.sid).delete()
    assert client.messages.list(to=BEN) == []


def test_a_text_under_way_can_not_be_deleted(phone: DevPhone, client: Client) -> None:
    phone.pace(text_step_s=10)
    sent = client.messages.create(to=BEN, from_=OURS, body="Wait")
    assert refusal(lambda: client.messages(sent.sid).delete()) == (409, 20009)
    phone.advance(30)
    phone.device(BEN).expect_text("Wait")
    assert client.messages(sent.sid).delete()


def test_every_published_segment_vector(phone: DevPhone, client: Client) -> None:
    cases = shared_files.read("sms-segment-vectors.json")["cases"]
    assert len(cases) > 40
    wrong = []
    for case in cases:
        sent = client.messages.create(to=ADA, from_=OURS, body=case["body"])
        phone.expect(sent.sid)
        seen = {text["sid"]: text for text in phone.state(ADA)["messages"]}[sent.sid]
        if (seen["encoding"], sent.num_segments) != (case["encoding"], str(case["segments"])):
            wrong.append((case["name"], seen["encoding"], sent.num_segments))
    assert wrong == []


def test_an_escape_character_is_never_split(phone: DevPhone, client: Client) -> None:
    assert client.messages.create(to=ADA, from_=OURS, body="€" * 80).num_segments == "1"
    assert client.messages.create(to=ADA, from_=OURS, body="€" * 153).num_segments == "3"
    phone.device(ADA).expect_text("€")
    phone.device(ADA).expect_text("€")
