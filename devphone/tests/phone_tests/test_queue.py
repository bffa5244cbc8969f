"""Calls per second: more creates than the account may start wait in a queue, in order.

https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource
"""

from __future__ import annotations

import os
import subprocess
import sys

import httpx2
import pytest
from twilio.rest import Client

from devphone import testing
from devphone.testing import DevPhone

from .conftest import ACCOUNT, ADA, BEN, CY, OURS, TOKEN, client_for
from .stub_application import Application

PEOPLE = (ADA, BEN, CY)
DOCUMENT = "<Response><Pause/></Response>"


def place(client: Client, to: str, **more: object) -> tuple[str, str]:
    """A call; its sid and queue_time."""
    placed = client.calls.create(to=to, from_=OURS, twiml=DOCUMENT, **more)
    assert placed.status == "queued"
    return str(placed.sid), str(placed.queue_time)


def ringing(phone: DevPhone) -> list[str]:
    """Whose phone rings or rang, by the order of the calls."""
    phone.settle()
    calls = phone.state()["calls"]
    for call in calls:
        phone.expect(call["sid"])
    return [call["to"] for call in calls if call["status"] == "ringing"]


def test_one_call_starts_each_second_and_the_wait_is_told(phone: DevPhone, client: Client) -> None:
    phone.account(calls_per_second=1)
    assert [place(client, to)[1] for to in PEOPLE] == ["0", "1000", "2000"]
    assert ringing(phone) == [ADA]
    phone.advance(0.9)
    assert ringing(phone) == [ADA]
    phone.advance(0.1)
    assert ringing(phone) == [ADA, BEN]
    phone.advance(1)
    assert ringing(phone) == [ADA, BEN, CY]
    phone.advance(0.5)
    assert place(client, "+12125550126")[1] == "500"
    phone.advance(2)
    assert place(client, "+12125550127")[1] == "0"
    assert ringing(phone) == [*PEOPLE, "+12125550126", "+12125550127"]


@pytest.mark.parametrize(("rate", "step_s"), [(0.5, 2), (5, 0.2)])
def test_the_rate_is_what_the_account_says(
    phone: DevPhone, client: Client, rate: float, step_s: float
) -> None:
    phone.account(calls_per_second=rate)
    assert [place(client, to)[1] for to in PEOPLE] == [str(round(step_s * 1000 * n)) for n in range(3)]
    phone.advance(step_s)
    assert ringing(phone) == [ADA, BEN]


def test_without_a_limit_nobody_waits(phone: DevPhone, client: Client) -> None:
    assert [place(client, to)[1] for to in PEOPLE] == ["0", "0", "0"]
    assert ringing(phone) == list(PEOPLE)


def test_a_canceled_call_leaves_the_queue_and_those_behind_it_move_up(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.account(calls_per_second=1)
    place(client, ADA)
    second, _ = place(client, BEN, status_callback=f"{application.url}/status")
    place(client, CY)
    assert client.calls(second).update(status="canceled").status == "canceled"
    assert place(client, "+12125550126")[1] == "2000"
    phone.advance(1)
    assert ringing(phone) == [ADA, CY]
    assert application.webhooks == []


def test_a_higher_rate_helps_those_who_wait(phone: DevPhone, client: Client) -> None:
    phone.account(calls_per_second=0.1)
    for to in PEOPLE:
        place(client, to)
    assert ringing(phone) == [ADA]
    phone.account(calls_per_second=1)
    phone.advance(1)
    assert ringing(phone) == [ADA, BEN]
    phone.account(calls_per_second=0)
    assert ringing(phone) == list(PEOPLE)


def test_the_time_in_the_queue_is_no_ringing_time(phone: DevPhone, client: Client) -> None:
    phone.account(calls_per_second=0.1)
    place(client, ADA, timeout=5)
    sid, _ = place(client, BEN, timeout=5)
    phone.advance(14.9)
    assert ringing(phone) == [BEN]
    assert client.calls(sid).fetch().queue_time == "10000"
    phone.advance(0.1)
    assert ringing(phone) == []


def test_texts_and_inbound_calls_do_not_wait(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.account(calls_per_second=0.1)
    place(client, ADA)
    client.messages.create(to=BEN, from_=OURS, body="Now.")
    phone.device(BEN).expect_text(containing="Now")
    phone.send("PUT", f"/numbers/{OURS}", {"voice_url": application.says("/in", "<Say>Welcome.</Say>")})
    phone.device(CY).calls(OURS).hears("Welcome")
    assert ringing(phone) == [ADA]


def test_an_account_may_start_one_call_a_second_unless_it_is_told_otherwise() -> None:
    with testing.start(ACCOUNT, TOKEN, numbers=[OURS]) as fresh:
        assert fresh.send("GET", "/account")["calls_per_second"] == 1
        fresh.account(calls_per_second=3)
        fresh.reset()
        assert fresh.send("GET", "/account")["calls_per_second"] == 1
        assert place(client_for(fresh), ADA)[1] == "0"
        assert place(client_for(fresh), BEN)[1] == "1000"


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [(["--calls-per-second", "many"], {}), ([], {"DEVPHONE_CALLS_PER_SECOND": "-1"})],
    ids=["option", "environment"],
)
def test_the_program_does_not_start_with_a_rate_that_is_none(
    arguments: list[str], environ: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "devphone", "--account-sid", ACCOUNT, "--auth-token", TOKEN]
    refused = subprocess.run(
        command + arguments, env=os.environ | environ, capture_output=True, text=True, timeout=10, check=False
    )
    assert refused.returncode == 2
    assert "calls per second must be a number" in refused.stderr


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"calls_per_second": -1}, "calls_per_second must be a number from 0"),
        ({"concurrent_requests": 1.5}, "concurrent_requests must be a whole number"),
        ({"trial": "yes"}, "trial must be true or false"),
        ({"verified": ["2125550123"]}, "verified must be a list of numbers"),
        ({"calls_per_minute": 1}, "an account has no calls_per_minute"),
    ],
)
def test_an_account_can_not_be_like_that(phone: DevPhone, limits: dict[str, object], sentence: str) -> None:
    before = phone.send("GET", "/account")
    refused = httpx2.put(f"{phone.url}/_devphone/account", json={"calls_per_second": 9, **limits})
    assert refused.status_code == 400
    assert sentence in refused.json()["error"]
    assert phone.send("GET", "/account") == before
