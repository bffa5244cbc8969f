"""The account's numbers: Twilio's REST resource, and the same data in the control API."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from twilio.rest import Client

from devphone import testing
from devphone.testing import DevPhone

from . import shared_files
from .conftest import ACCOUNT, ADA, OURS, TOKEN
from .refusals import refusal
from .stub_application import Application

SECOND = "+12125550101"


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


def test_a_number_is_found_by_itself_and_told_where_its_texts_go(
    phone: DevPhone, client: Client, application: Application
) -> None:
    (number,) = client.incoming_phone_numbers.list(phone_number=OURS)
    assert (number.phone_number, number.friendly_name) == (OURS, "(212) 555-0100")
    assert (number.sms_url, number.sms_method, number.capabilities["sms"]) == ("", "POST", True)
    url = application.says("/sms", "<Message>Here</Message>")
    updated = number.update(sms_url=url, voice_url=f"{application.url}/voice", voice_method="get")
    assert (updated.sms_url, updated.voice_method) == (url, "GET")
    assert client.incoming_phone_numbers(number.sid).fetch().sms_url == url
    (first, second) = phone.send("GET", "/numbers")["numbers"]
    assert (first["number"], first["sms_url"], second["sms_url"]) == (OURS, url, "")
    phone.device(ADA).texts(OURS, "Hello")
    phone.device(ADA).expect_text("Here")


def test_a_call_names_the_number_it_came_from(phone: DevPhone, client: Client) -> None:
    sent = client.calls.create(to=ADA, from_=OURS, twiml="<Response><Say>Hello</Say></Response>")
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    number = client.incoming_phone_numbers(sent.phone_number_sid).fetch()
    assert number.phone_number == OURS


def test_what_the_control_api_sets_is_what_twilios_client_reads(phone: DevPhone, client: Client) -> None:
    phone.send("PUT", f"/numbers/{SECOND}", {"voice_url": "http://127.0.0.1:1/v", "friendly_name": "Second"})
    (number,) = client.incoming_phone_numbers.list(friendly_name="Second")
    assert (number.phone_number, number.voice_url) == (SECOND, "http://127.0.0.1:1/v")
    assert number.update(voice_url="").voice_url == ""
    phone.reset()
    assert client.incoming_phone_numbers.list(friendly_name="Second") == []


def test_numbers_are_listed_page_by_page(client: Client) -> None:
    pages = client.incoming_phone_numbers.stream(page_size=1)
    assert [number.phone_number for number in pages] == [OURS, SECOND]
    assert [number.phone_number for number in client.incoming_phone_numbers.local.list()] == [OURS, SECOND]
    assert client.incoming_phone_numbers.list(phone_number="55") != []
    assert client.incoming_phone_numbers.list(phone_number="999") == []


def test_numbers_can_not_be_bought_or_given_back(client: Client) -> None:
    numbers = client.incoming_phone_numbers
    (number,) = numbers.list(phone_number=OURS)
    assert refusal(lambda: numbers.create(phone_number=ADA)) == (403, 20008)
    assert refusal(number.delete) == (403, 20008)
    assert refusal(lambda: numbers("PN" + "0" * 32).fetch()) == (404, 20404)


def test_a_wrong_address_or_method_changes_nothing(client: Client) -> None:
    (number,) = client.incoming_phone_numbers.list(phone_number=OURS)
    assert refusal(lambda: number.update(sms_url="h.test/sms", friendly_name="New")) == (400, 21402)
    assert refusal(lambda: number.update(sms_method="PUT", friendly_name="New")) == (400, 21209)
    assert number.fetch().friendly_name == "(212) 555-0100"


def test_what_the_dev_phone_does_not_act_on_is_noted(phone: DevPhone, client: Client) -> None:
    (number,) = client.incoming_phone_numbers.list(phone_number=OURS)
    number.update(voice_application_sid="AP" + "0" * 32, voice_caller_id_lookup=False)
    assert "VoiceApplicationSid" in phone.expect_debugger(20001)["text"]


@pytest.mark.parametrize(
    ("number", "wanted", "says"),
    [
        (OURS, {"sms_uri": ""}, "a number has no sms_uri"),
        (OURS, {"number": ADA}, "a number has no number"),
        (OURS, {"sms_url": "h.test"}, "sms_url must be an http or https URL"),
        (OURS, {"sms_url": 1}, "sms_url must be text"),
        (OURS, {"sms_method": "PUT"}, "sms_method must be GET or POST"),
        (ADA, {"sms_url": ""}, "not a number of this account"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    phone: DevPhone, number: str, wanted: dict[str, object], says: str
) -> None:
    with pytest.raises(AssertionError, match=says):
        phone.send("PUT", f"/numbers/{number}", {"friendly_name": "New", **wanted})
    assert "New" not in [line["friendly_name"] for line in phone.send("GET", "/numbers")["numbers"]]


def test_a_number_has_every_key_that_twilio_gives_it(phone: DevPhone, client: Client) -> None:
    schemas = shared_files.read("twilio_api_v2010.json")["components"]["schemas"]
    wanted = set(schemas["api.v2010.account.incoming_phone_number"]["properties"])
    (number,) = client.incoming_phone_numbers.list(phone_number=OURS)
    path = f"/2010-04-01/Accounts/{ACCOUNT}/IncomingPhoneNumbers/{number.sid}.json"
    assert set(json.loads(client.request("GET", phone.url + path).text)) == wanted
