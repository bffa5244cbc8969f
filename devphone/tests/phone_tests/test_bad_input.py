"""What an application, a program or a person sends by mistake: it is refused or apologised for, never fatal.

Every test ends with a phone that still works: the fixture asks it what else happened.
"""

from __future__ import annotations

import json

import httpx2
import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .answered_call import answered, codes
from .conftest import ACCOUNT, ADA, BEN, OURS, TOKEN
from .stub_application import Answer, Application

BASE = f"/2010-04-01/Accounts/{ACCOUNT}"
CALL = {"To": ADA, "From": OURS, "Url": "http://app.test/"}
TEXT = {"To": ADA, "From": OURS, "Body": "Hello"}
APOLOGY = "An application error has occurred. Goodbye."
LONG, VERY_LONG = "9" * 400, "9" * 5000
"""More than a float holds, and more than Python reads."""
DEEP = "<Say>" + "<s>" * 4000 + "Hi" + "</s>" * 4000 + "</Say>"
HALF = "\ud800"
"""A lone surrogate: JSON can write it, no other text can."""


@pytest.fixture
def raw(phone: DevPhone) -> httpx2.Client:
    """The REST API's wire itself."""
    return httpx2.Client(base_url=phone.url, auth=(ACCOUNT, TOKEN))


def control(
    phone: DevPhone, method: str, path: str, body: str | bytes, kind: str = "application/json"
) -> int:
    """The status with which the control API answers, which must be JSON."""
    answer = httpx2.request(
        method, f"{phone.url}/_devphone{path}", content=body, headers={"Content-Type": kind}, timeout=10
    )
    assert ("error" in answer.json()) == (answer.status_code >= 400)
    return answer.status_code


@pytest.mark.parametrize("number", [LONG, VERY_LONG], ids=["400", "5000"])
@pytest.mark.parametrize(
    ("body", "code", "seconds"),
    [
        ('<Pause length="{}"/>', 13910, 1),
        ('<Say loop="{}">fourteen chars</Say>', 13510, 1),
        ('<Play loop="{}">/tune.mp3</Play>', 13410, 3),
        ('<Gather timeout="{}"/>', 13313, 5),
        ('<Gather numDigits="{}" timeout="1"/>', 13314, 1),
        ('<Gather input="speech" speechTimeout="{}" timeout="1"/>', 13327, 1),
        ('<Gather input="speech" maxSpeechTime="{}" timeout="1"/>', 13328, 1),
        ('<Say>fourteen chars<break time="{}s"/></Say>', None, 1.5),
    ],
    ids=["Pause", "Say", "Play", "timeout", "numDigits", "speechTimeout", "maxSpeechTime", "break"],
)
def test_a_number_in_a_document_that_nobody_can_read_is_replaced_and_the_call_goes_on(
    phone: DevPhone,
    client: Client,
    application: Application,
    body: str,
    code: int | None,
    seconds: float,
    number: str,
) -> None:
    call = answered(phone, client, application, body.format(number) + '<Pause length="60"/>')
    phone.advance(seconds + 60)
    assert call.ended("completed").record()["duration_s"] == int(seconds + 60)
    codes(phone, *([] if code is None else [code]))


@pytest.mark.parametrize("body", [DEEP, "<Gather>" * 3000 + "</Gather>" * 3000], ids=["Say", "Gather"])
def test_a_document_that_is_nested_without_end_is_apologised_for(
    phone: DevPhone, client: Client, application: Application, body: str
) -> None:
    call = answered(phone, client, application, body)
    assert [line["text"] for line in call.record()["transcript"]] == [APOLOGY]
    phone.advance(10)
    call.ended("completed")
    codes(phone, 12100)


def test_as_plain_text_it_is_too_long_to_be_said(
    phone: DevPhone, client: Client, application: Application
) -> None:
    answer = Answer(f"<Response>{DEEP}</Response>", content_type="text/plain")
    client.calls.create(to=ADA, from_=OURS, url=application.answers("/voice", answer))
    phone.device(ADA).expect_call().ended("completed")
    codes(phone, 13521)


def test_in_a_create_it_is_apologised_for_and_the_phone_can_be_answered(
    phone: DevPhone, client: Client
) -> None:
    twiml = "<Response><Say>" + "<s>" * 500 + "</s>" * 500 + "</Say></Response>"
    client.calls.create(to=ADA, from_=OURS, twiml=twiml)
    call = phone.device(ADA).let_ring()
    assert phone.send("POST", f"/phones/{ADA}/answer")["status"] == "in-progress"
    phone.advance(10)
    call.ended("completed")
    codes(phone, 12100)


def test_a_document_may_be_nested_as_deep_as_anybody_needs(
    phone: DevPhone, client: Client, application: Application
) -> None:
    tags = "<Gather><Say>" + "<emphasis>" * 47 + "Hi." + "</emphasis>" * 47 + "</Say></Gather>"
    assert answered(phone, client, application, tags).hang_up().transcript == ["Hi."]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(f"<Response><Message>{'<b>' * 4000}{'</b>' * 4000}</Message></Response>"), 12100),
        (Answer("", content_type="text/html"), 12100),
        (Answer("", content_type="text/xml"), 12100),
        (Answer("", content_type="text/plain"), None),
        (Answer("", content_type=None), 11200),
    ],
    ids=["nested", "empty HTML", "empty XML", "empty text", "no type"],
)
def test_an_answer_to_a_text_that_makes_no_sense_is_not_sent(
    phone: DevPhone, application: Application, answer: Answer, code: int | None
) -> None:
    phone.line(OURS).sends_texts_to(application.answers("/sms", answer))
    phone.device(ADA).texts(OURS, "Hello")
    phone.settle()
    assert len(phone.state(ADA)["messages"]) == 1
    codes(phone, *([] if code is None else [code]))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"/phones/{ADA}/text", {"to": OURS, "body": HALF}),
        ("POST", f"/phones/{ADA}/text", {"to": OURS, "media": [f"http://app.test/{HALF}"]}),
        ("POST", f"/phones/{ADA}/say", {"text": f"{HALF} hello"}),
        ("PUT", f"/phones/{ADA}", {"behaviour": "voicemail", "greeting": HALF}),
        ("PUT", f"/numbers/{OURS}", {"voice_url": f"http://app.test/{HALF}"}),
        ("PUT", f"/numbers/{OURS}", {HALF: ""}),
        ("POST", "/faults", {"sha256_signature": {"secret": HALF}}),
        ("PUT", "/account", {"verified": [HALF]}),
        ("POST", f"/phones/{ADA}/answer", {"why": [[[HALF]]]}),
    ],
)
def test_half_a_character_is_refused_wherever_it_stands(
    phone: DevPhone, method: str, path: str, body: dict[str, object]
) -> None:
    before = phone.state(), phone.send("GET", "/numbers"), phone.send("GET", "/faults")
    assert control(phone, method, path, json.dumps(body)) == 400
    assert (phone.state(), phone.send("GET", "/numbers"), phone.send("GET", "/faults")) == before


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"trial": true}', "application/x-www-form-urlencoded"),
        ('{"trial": true}', "text/plain"),
        ('{"trial": true}', ""),
        ('{"trial": tru', "application/json"),
        ("[" * 200_000, "application/json"),
        ('{"trial": ' + "[" * 200_000, "application/json"),
        ('{"calls_per_second": NaN}', "application/json"),
        ('{"calls_per_second": 1e999}', "application/json"),
        ('{"calls_per_second": ' + VERY_LONG + "}", "application/json"),
        ('{"calls_per_second": 1e-320}', "application/json"),
        (b'{"trial": "\xff"}', "application/json"),
        ("null", "application/json"),
        ("[]", "application/json"),
    ],
)
def test_what_the_control_api_can_not_read_is_refused(phone: DevPhone, body: str | bytes, kind: str) -> None:
    assert control(phone, "PUT", "/account", body, kind) == 400
    assert control(phone, "POST", "/faults", body, kind) == 400
    assert control(phone, "POST", "/clock/settle", body, kind) == 400
    assert phone.account() == {
        "calls_per_second": 0,
        "concurrent_requests": 0,
        "trial": False,
        "verified": [],
    }


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", f"/phones/{ADA}/press", {"digits": "1" * 101}, 400),
        ("POST", f"/phones/{ADA}/press", {"digits": 1}, 400),
        ("POST", f"/phones/{ADA}/press", {}, 400),
        ("POST", f"/phones/{ADA}/press", {"keys": "1"}, 400),
        ("POST", f"/phones/{ADA}/say", {"text": "Hi", "loud": True}, 400),
        ("POST", f"/phones/{ADA}/hangup", {"digits": "1"}, 400),
        ("POST", f"/phones/{BEN}/call", {"to": OURS, "at": 5}, 400),
        ("POST", "/clock/advance", {"seconds": 1, "minutes": 1}, 400),
        ("POST", "/clock/settle", {"seconds": 1}, 400),
        ("POST", "/reset", {"calls": True}, 400),
        ("PUT", "/phones/+1212555\u0660123", {"behaviour": "busy"}, 400),
        ("GET", "/nowhere", None, 404),
        ("POST", "/", None, 404),
        ("GET", "", None, 404),
        ("DELETE", "/state", None, 405),
        ("OPTIONS", "/faults", None, 405),
        ("BREW", "/reset", None, 405),
        ("GET", "/events?after=%C2%B2", None, 400),
        ("GET", f"/events?after={VERY_LONG}", None, 400),
        ("GET", "/events?after=-1", None, 400),
        ("GET", "/events?after=1&wait_s=nan", None, 400),
        ("GET", "/events?after=1&wait_s=-1", None, 400),
        ("GET", f"/events?after=1&wait_s={VERY_LONG}", None, 400),
    ],
)
def test_the_control_api_passes_nothing_over(
    phone: DevPhone, client: Client, method: str, path: str, body: object, status: int
) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml="<Response><Gather/></Response>")
    call = phone.device(ADA).expect_call()
    assert control(phone, method, path, "" if body is None else json.dumps(body)) == status
    assert (call.record()["status"], call.record()["keys"]) == ("in-progress", "")


def test_a_hundred_keys_can_be_pressed_at_once(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml="<Response><Gather/></Response>")
    assert phone.device(ADA).expect_call().press("1" * 100).record()["keys"] == "1" * 100


@pytest.mark.parametrize(
    ("path", "form", "code"),
    [
        ("/Calls.json", CALL | {"Timeout": VERY_LONG}, 21208),
        ("/Calls.json", CALL | {"Timeout": LONG}, 21208),
        ("/Calls.json", CALL | {"Timeout": "²"}, 21208),
        ("/Calls.json", CALL | {"TimeLimit": LONG}, 21208),
        ("/Calls.json", CALL | {"MachineDetectionTimeout": VERY_LONG}, 21234),
        ("/Calls.json", CALL | {"To": "+1212555\u0660123"}, 21211),
        ("/Messages.json", TEXT | {"ValidityPeriod": VERY_LONG}, 90007),
    ],
)
def test_numbers_that_nobody_can_read_are_refused(
    phone: DevPhone, raw: httpx2.Client, path: str, form: dict[str, str], code: int
) -> None:
    refused = raw.post(BASE + path, data=form)
    assert (refused.status_code, refused.json()["code"]) == (400, code)
    assert len(refused.json()["message"]) < 300
    assert phone.state()["calls"] == phone.state()["messages"] == []


@pytest.mark.parametrize(
    "query",
    ["PageSize=" + VERY_LONG, "PageSize=%C2%B2", "Page=" + LONG, "PageToken=PASM0", "StartTime=" + LONG],
)
def test_a_list_that_nobody_can_make_is_refused(raw: httpx2.Client, query: str) -> None:
    refused = raw.get(f"{BASE}/Calls.json?{query}")
    assert (refused.status_code, refused.json()["code"]) == (400, 20001)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("StartTime=0001-01-01T00:00%2B10:00", 0),
        ("StartTime>=0001-01-01T00:00%2B10:00", 1),
        ("StartTime>=9999-12-31T23:59-10:00", 0),
        ("StartTime<=9999-12-31T23:59-10:00", 1),
    ],
)
def test_the_ends_of_the_calendar_are_dates_too(
    phone: DevPhone, raw: httpx2.Client, query: str, found: int
) -> None:
    phone.expect(raw.post(f"{BASE}/Calls.json", data=CALL).json()["sid"])
    assert len(raw.get(f"{BASE}/Calls.json?{query}").json()["calls"]) == found


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("PUT", f"{BASE}/Calls.json", 405, 20004),
        ("PATCH", f"{BASE}/Calls/CA0.json", 405, 20004),
        ("OPTIONS", f"{BASE}/Messages.json", 405, 20004),
        ("BREW", f"{BASE}/Calls.json", 405, 20004),
        ("DELETE", f"{BASE}.json", 405, 20004),
        ("DELETE", f"{BASE}/Calls.json", 405, 20004),
        ("DELETE", f"{BASE}/Messages.json", 405, 20004),
        ("DELETE", f"{BASE}/IncomingPhoneNumbers.json", 405, 20004),
        ("DELETE", f"{BASE}/IncomingPhoneNumbers/Local.json", 405, 20004),
        ("DELETE", "/2010-04-01/Accounts.json", 405, 20004),
        ("DELETE", f"{BASE}/Calls/CA0.json", 404, 20404),
        ("GET", f"/Accounts/{ACCOUNT}/Calls.json", 404, 20404),
        ("GET", "/v1/Services", 404, 20404),
        ("POST", "/", 405, 20004),
        ("PUT", "/2010-04-01/Accounts.json", 405, 20004),
        ("PUT", "/2010-04-01", 405, 20004),
        ("POST", "/2010-04-01/Accounts.json", 404, 20404),
        ("GET", "/2010-04-01", 404, 20404),
        ("GET", "/2010-04-01/", 404, 20404),
        ("GET", "/2010-04-01/Nothing", 404, 20404),
        ("GET", f"{BASE}/", 404, 20404),
        ("GET", f"{BASE}//Calls.json", 404, 20404),
        ("GET", "/2010-04-01//Accounts.json", 404, 20404),
        ("GET", f"{BASE}/Calls/{'a' * 50_000}.json", 404, 20404),
        ("GET", f"{BASE}/Calls/%00.json", 404, 20404),
    ],
)
def test_no_wrong_path_answers_html(
    raw: httpx2.Client, method: str, path: str, status: int, code: int
) -> None:
    answer = raw.request(method, path)
    assert (answer.status_code, answer.json()["code"], answer.json()["status"]) == (status, code, status)


def test_too_much_in_one_field_is_refused_in_twilios_form(raw: httpx2.Client) -> None:
    refused = raw.post(f"{BASE}/Messages.json", files={"Body": (None, "a" * 600_000)})
    assert (refused.status_code, refused.json()["status"]) == (413, 413)


@pytest.mark.parametrize(
    "path", ["/2010-04-01", "/2010-04-01/Accounts.json", f"{BASE}.json", f"{BASE}/Nothing"]
)
def test_nobody_learns_what_there_is_without_the_token(phone: DevPhone, path: str) -> None:
    for auth in (None, (ACCOUNT, "wrong")):
        refused = httpx2.get(phone.url + path, auth=auth)
        assert (refused.status_code, refused.json()["code"]) == (401, 20003)
