"""The REST API as twilio-python sees it.

The form of every answer is compared with Twilio's OpenAPI file by the dev phone itself; see test_contract.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ACCOUNT, ADA, BEN, OURS, TOKEN, client_for
from .refusals import refusal

BASE = f"/2010-04-01/Accounts/{ACCOUNT}"
DOCUMENT = "<Response><Say>Hello.</Say></Response>"


@pytest.fixture
def raw(phone: DevPhone) -> httpx2.Client:
    """The wire itself, for looking at answers that the library hides."""
    return httpx2.Client(base_url=phone.url, auth=(ACCOUNT, TOKEN))


def test_a_call_can_be_read_in_every_state(phone: DevPhone, client: Client, raw: httpx2.Client) -> None:
    form = {"To": ADA, "From": OURS, "Twiml": DOCUMENT}
    created = raw.post(f"{BASE}/Calls.json", data=form)
    assert created.status_code == 201
    seen = [created.json()]
    url = f"{BASE}/Calls/{seen[0]['sid']}.json"
    call = phone.device(ADA).let_ring()
    seen.append(raw.get(url).json())
    call.answer()
    seen.append(raw.get(url).json())
    phone.advance(5)
    seen.append(raw.get(url).json())
    assert [body["status"] for body in seen] == ["queued", "ringing", "in-progress", "completed"]
    assert (seen[0]["duration"], seen[3]["duration"]) == (None, "0")
    assert seen[3]["from_formatted"] == "(212) 555-0100"
    assert seen[3]["start_time"] is not None
    assert client.calls(seen[0]["sid"]).fetch().end_time is not None


def test_a_message_can_be_read_at_once_and_later(phone: DevPhone, raw: httpx2.Client) -> None:
    created = raw.post(f"{BASE}/Messages.json", data={"To": ADA, "From": OURS, "Body": "Hello"})
    assert created.status_code == 201
    assert (created.json()["status"], created.json()["num_segments"]) == ("queued", "1")
    phone.device(ADA).expect_text("hello")
    phone.settle()
    later = raw.get(f"{BASE}/Messages/{created.json()['sid']}.json").json()
    assert later["status"] == "delivered"


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"From": OURS, "Twiml": DOCUMENT}, 21201),
        ({"To": ADA, "Twiml": DOCUMENT}, 21213),
        ({"To": ADA, "From": OURS}, 21205),
        ({"To": ADA, "From": OURS, "Url": "/relative"}, 21205),
        ({"To": ADA, "From": OURS, "Url": "http://[/"}, 21205),
        (
            {"To": ADA, "From": OURS, "Twiml": DOCUMENT, "StatusCallback": "http://under_score.test/"},
            21609,
        ),
        ({"To": "2125550123", "From": OURS, "Twiml": DOCUMENT}, 21211),
        ({"To": ADA, "From": "2125550100", "Twiml": DOCUMENT}, 21212),
        ({"To": ADA, "From": BEN, "Twiml": DOCUMENT}, 21210),
        ({"To": ADA, "From": OURS, "Twiml": DOCUMENT, "Timeout": "soon"}, 21208),
        ({"To": ADA, "From": OURS, "Twiml": DOCUMENT, "Method": "PUT"}, 21209),
        ({"To": ADA, "From": OURS, "Twiml": DOCUMENT, "StatusCallback": "nowhere"}, 21609),
        ({"To": "+15005550001", "From": OURS, "Twiml": DOCUMENT}, 21217),
        ({"To": "+15005550002", "From": OURS, "Twiml": DOCUMENT}, 21214),
        ({"To": "+15005550003", "From": OURS, "Twiml": DOCUMENT}, 21215),
        ({"To": "+15005550004", "From": OURS, "Twiml": DOCUMENT}, 21216),
        ({"To": ADA, "From": "+15005550001", "Twiml": DOCUMENT}, 21212),
    ],
)
def test_a_call_that_can_not_be_placed_is_refused_with_twilios_code(
    phone: DevPhone,
    raw: httpx2.Client,
    form: dict[str, str],
    code: int,
) -> None:
    refused = raw.post(f"{BASE}/Calls.json", data=form)
    assert (refused.status_code, refused.json()["status"], refused.json()["code"]) == (400, 400, code)
    assert phone.state()["calls"] == []


@pytest.mark.parametrize(
    ("form", "code", "status"),
    [
        ({"From": OURS, "Body": "x"}, 21604, 400),
        ({"To": ADA, "Body": "x"}, 21603, 400),
        ({"To": ADA, "From": OURS}, 21602, 400),
        ({"To": ADA, "From": OURS, "Body": "x" * 1601}, 21617, 400),
        ({"To": ADA, "From": BEN, "Body": "x"}, 21606, 400),
        ({"To": "0123", "From": OURS, "Body": "x"}, 21211, 400),
        ({"To": "+15005550001", "From": OURS, "Body": "x"}, 21211, 400),
        ({"To": "+15005550002", "From": OURS, "Body": "x"}, 21612, 400),
        ({"To": "+15005550003", "From": OURS, "Body": "x"}, 21408, 400),
        ({"To": "+15005550004", "From": OURS, "Body": "x"}, 21610, 400),
        ({"To": "+15005550009", "From": OURS, "Body": "x"}, 21614, 400),
        ({"To": ADA, "From": "+15005550007", "Body": "x"}, 21606, 400),
        ({"To": ADA, "From": "+15005550008", "Body": "x"}, 21611, 429),
    ],
)
def test_a_text_that_can_not_be_sent_is_refused_with_twilios_code(
    phone: DevPhone, raw: httpx2.Client, form: dict[str, str], code: int, status: int
) -> None:
    refused = raw.post(f"{BASE}/Messages.json", data=form)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert phone.state()["messages"] == []


def test_the_wrong_token_is_refused_and_nothing_rings(phone: DevPhone) -> None:
    with pytest.raises(TwilioRestException) as refused:
        client_for(phone, token="wrong").calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    assert (refused.value.status, refused.value.code) == (401, 20003)


def test_another_account_and_an_unknown_call_are_not_found(client: Client, raw: httpx2.Client) -> None:
    other = raw.get(f"/2010-04-01/Accounts/AC{'0' * 32}/Calls.json")
    assert (other.status_code, other.json()["code"]) == (404, 20404)
    with pytest.raises(TwilioRestException) as missing:
        client.calls("CA" + "0" * 32).fetch()
    assert (missing.value.status, missing.value.code) == (404, 20404)
    assert raw.get(f"{BASE}/Recordings.json").json()["code"] == 20404


def test_a_parameter_in_the_wrong_case_is_passed_over_and_listed(phone: DevPhone, raw: httpx2.Client) -> None:
    form = {"To": ADA, "From": OURS, "Twiml": DOCUMENT, "statuscallback": "http://app.test/"}
    assert raw.post(f"{BASE}/Calls.json", data=form).status_code == 201
    phone.device(ADA).let_ring()
    assert "statuscallback" in phone.expect_debugger(20001)["text"]


def test_lists_are_filtered_and_paged_newest_first(phone: DevPhone, client: Client) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    placed = [client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT).sid for _ in range(5)]
    other = client.calls.create(to=BEN, from_=OURS, twiml=DOCUMENT).sid
    for sid in [*placed, other]:
        phone.expect(sid)
    phone.settle()
    assert [call.sid for call in client.calls.list(to=ADA, page_size=2)] == placed[::-1]
    assert [call.sid for call in client.calls.list(to=BEN, start_time_after=before)] == [other]
    assert client.calls.list(start_time_after=datetime.now(UTC) + timedelta(minutes=1)) == []
    assert client.calls.list(start_time_before=before) == []
    day = client.calls(other).fetch().start_time.date()
    assert [call.sid for call in client.calls.list(to=BEN, start_time=day)] == [other]
    assert client.calls.list(to=BEN, start_time=day - timedelta(days=1)) == []
    client.calls(placed[0]).update(status="canceled")
    assert [call.sid for call in client.calls.list(status="canceled")] == [placed[0]]
    assert [call.sid for call in client.calls.list(limit=2)] == [other, placed[4]]


def test_one_page_says_where_it_is_and_what_follows(
    phone: DevPhone, client: Client, raw: httpx2.Client
) -> None:
    for _ in range(3):
        phone.expect(client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT).sid)
    page = raw.get(f"{BASE}/Calls.json", params={"PageSize": 2}).json()
    assert (page["start"], page["end"], page["page"], page["page_size"]) == (0, 1, 0, 2)
    last = raw.get(page["next_page_uri"]).json()
    assert (last["start"], last["end"], len(last["calls"]), last["next_page_uri"]) == (2, 2, 1, None)


def test_nothing_is_passed_over_when_every_text_is_deleted_on_the_way(
    phone: DevPhone, client: Client
) -> None:
    for number in range(7):
        phone.expect(client.messages.create(to=ADA, from_=OURS, body=str(number)).sid)
    phone.settle()
    deleted = []
    for text in client.messages.stream(page_size=2):
        assert text.delete()
        deleted.append(text.body)
    assert deleted == ["6", "5", "4", "3", "2", "1", "0"]
    assert client.messages.list() == []


def test_nothing_is_passed_over_when_calls_leave_the_filter_on_the_way(
    phone: DevPhone, client: Client
) -> None:
    phone.pace(queue_s=60)
    placed = [client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT).sid for _ in range(5)]
    canceled = []
    for call in client.calls.stream(status="queued", page_size=2):
        call.update(status="canceled")
        canceled.append(call.sid)
        phone.expect(call.sid)
    assert canceled == placed[::-1]


def test_a_page_has_a_thousand_records_at_most(raw: httpx2.Client) -> None:
    for wanted, given in ((1000, 1000), (1001, 1000), (0, 1)):
        assert raw.get(f"{BASE}/Calls.json", params={"PageSize": wanted}).json()["page_size"] == given


def test_a_deleted_call_is_still_a_call_that_somebody_got(phone: DevPhone, client: Client) -> None:
    placed = client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    phone.settle()
    phone.send("POST", f"/calls/{placed.sid}/decline")
    assert client.calls(placed.sid).delete()
    assert client.calls.list() == []
    assert refusal(lambda: client.calls(placed.sid).fetch()) == (404, 20404)
    assert refusal(lambda: client.calls(placed.sid).update(status="completed")) == (404, 20404)
    assert refusal(lambda: client.calls(placed.sid).delete()) == (404, 20404)
    with pytest.raises(AssertionError, match="call to …0123, no-answer"):
        phone.nothing_else_happened()
    phone.device(ADA).missed_call("no-answer")


def test_the_account_tells_a_program_that_its_credentials_are_good(phone: DevPhone, client: Client) -> None:
    account = client.api.accounts(ACCOUNT).fetch()
    assert (account.sid, account.status, account.type) == (ACCOUNT, "active", "Full")
    assert account.subresource_uris["calls"] == f"{BASE}/Calls.json"
    phone.account(trial=True)
    assert [found.type for found in client.api.accounts.list()] == ["Trial"]
    assert client.api.accounts.list(friendly_name="Another") == []
    assert refusal(lambda: client_for(phone, token="wrong").api.accounts(ACCOUNT).fetch()) == (401, 20003)
    assert refusal(lambda: client.api.accounts("AC" + "0" * 32).fetch()) == (404, 20404)
    assert refusal(lambda: client.api.accounts(ACCOUNT).update(friendly_name="Ours")) == (404, 20404)


def test_an_ended_call_can_be_deleted_and_a_live_one_can_not(phone: DevPhone, client: Client) -> None:
    placed = client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT)
    call = phone.device(ADA).let_ring()
    with pytest.raises(TwilioRestException):
        client.calls(placed.sid).delete()
    call.decline()
    assert client.calls(placed.sid).delete()
    assert client.calls.list() == []


def test_the_request_log_shows_fields_and_arrival(phone: DevPhone, client: Client) -> None:
    before_ms = datetime.now(UTC).timestamp() * 1000
    events = ["initiated", "answered"]
    placed = client.calls.create(to=ADA, from_=OURS, twiml=DOCUMENT, status_callback_event=events)
    phone.device(ADA).let_ring()
    entry = phone.requests()[-1]
    assert (entry["method"], entry["path"], entry["status"]) == ("POST", f"{BASE}/Calls.json", 201)
    assert entry["sid"] == placed.sid
    assert entry["form"]["StatusCallbackEvent"] == events
    assert before_ms <= entry["at_ms"] <= datetime.now(UTC).timestamp() * 1000


def test_every_answer_carries_twilios_headers(phone: DevPhone, raw: httpx2.Client) -> None:
    answers = [
        raw.get(f"{BASE}/Calls.json"),
        raw.get(f"{BASE}/Calls/CA{'0' * 32}.json"),
        raw.get(f"{BASE}/Calls.json", auth=("nobody", "")),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 401]
    for answer in answers:
        assert answer.headers["Twilio-Request-Id"].startswith("RQ")
        assert answer.headers["Twilio-Concurrent-Requests"] == "1"
        assert 0 <= float(answer.headers["Twilio-Request-Duration"]) < 5
    assert len({answer.headers["Twilio-Request-Id"] for answer in answers}) == 3
    assert phone.state()["calls"] == []
