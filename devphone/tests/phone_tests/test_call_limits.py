"""How long a call may ring and last, changes of that on the way, and updates that can't be obeyed."""

from __future__ import annotations

from twilio.rest import Client

from devphone.testing import DevPhone

from .answered_call import answered
from .conftest import ADA, OURS
from .refusals import refusal
from .stub_application import Application


def test_an_update_changes_the_time_limit_of_an_answered_call(
    phone: DevPhone, client: Client, application: Application
) -> None:
    ada = answered(phone, client, application, '<Pause length="600"/>', time_limit=500)
    phone.advance(30)
    client.calls(ada.sid).update(time_limit=90)
    phone.advance(59)
    assert ada.record()["status"] == "in-progress"
    phone.advance(1)
    assert ada.ended("completed").record()["duration_s"] == 90


def test_a_time_limit_that_is_over_already_ends_the_call_at_once(
    phone: DevPhone, client: Client, application: Application
) -> None:
    ada = answered(phone, client, application, '<Pause length="600"/>')
    phone.advance(30)
    client.calls(ada.sid).update(time_limit=10)
    assert ada.ended("completed").record()["duration_s"] == 30


def test_a_phone_rings_for_ten_minutes_at_most(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml="<Response/>", timeout=9999)
    ada = phone.device(ADA).let_ring()
    phone.advance(599)
    assert ada.record()["status"] == "ringing"
    phone.advance(1)
    ada.ended("no-answer")


def test_an_update_with_an_empty_document_is_refused_and_the_call_goes_on(
    phone: DevPhone, client: Client, application: Application
) -> None:
    ada = answered(phone, client, application, '<Pause length="60"/><Say>Still here.</Say>')
    assert refusal(lambda: client.calls(ada.sid).update(twiml="")) == (400, 21205)
    assert refusal(lambda: client.calls(ada.sid).update(url="")) == (400, 21205)
    phone.advance(60)
    ada.hears("Still here").hang_up()
