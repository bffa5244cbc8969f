"""A reset in the middle of things: nothing of what was under way reaches the next test."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Answer, Application

HELLO = "<Response><Say>Hello.</Say></Response>"
ALL_EVENTS = ["initiated", "ringing", "answered", "completed"]


def line_s(phone: DevPhone) -> float:
    """Where the line's clock stands."""
    return float(phone.send("POST", "/clock/settle")["line_s"])


def left_behind(phone: DevPhone) -> list[object]:
    """Everything that the phone knows when nothing is under way any more."""
    phone.settle()
    state = phone.state()
    found: list[object] = [*state["calls"], *state["messages"], *phone.debugger(), *phone.requests()]
    return found


def answered_after_5_s(phone: DevPhone, client: Client, url: str) -> None:
    """A call to Ben, who picks up after 5 seconds of the line."""
    phone.device(BEN).behaves("answers", after_s=5)
    client.calls.create(to=BEN, from_=OURS, url=url)


# The clock


def test_an_interrupted_advance_does_not_move_the_next_tests_clock(
    phone: DevPhone, client: Client, application: Application
) -> None:
    answered_after_5_s(phone, client, application.answers("/voice", Answer(HELLO, hold=True)))
    with ThreadPoolExecutor(1) as others:
        moving = others.submit(DevPhone(phone.url).advance, 100)
        application.waits_for("/voice")
        phone.reset()
        with pytest.raises(AssertionError, match="the phone was reset meanwhile"):
            moving.result(timeout=2)
    client.calls.create(to=ADA, from_=OURS, twiml=HELLO, timeout=30)
    call = phone.device(ADA).let_ring()
    application.release()
    assert line_s(phone) == 0
    assert call.record()["status"] == "ringing"


def test_advances_at_once_move_the_clock_one_after_the_other(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("answers")
    url = application.says("/voice", '<Pause length="1"/><Redirect/>')
    client.calls.create(to=ADA, from_=OURS, url=url)
    phone.settle()
    with ThreadPoolExecutor(4) as others:
        for moved in [others.submit(DevPhone(phone.url).advance, 20) for _ in range(4)]:
            moved.result(timeout=10)
    assert line_s(phone) == 80
    (call,) = phone.state()["calls"]
    phone.expect(call["sid"])


# Answers that come too late


@pytest.mark.parametrize("path", ["/status", "/status#rc=0&xy=1"])
def test_a_callback_under_way_leaves_no_trace(
    phone: DevPhone, client: Client, application: Application, path: str
) -> None:
    application.answers("/status", Answer(status=500, hold=True))
    client.calls.create(
        to=ADA,
        from_=OURS,
        twiml=HELLO,
        status_callback=application.url + path,
        status_callback_event=ALL_EVENTS,
    )
    application.waits_for("/status")
    phone.device(ADA).let_ring().decline()
    seq = phone.send("GET", "/events")["seq"]
    phone.reset()
    application.release()
    assert left_behind(phone) == []
    assert phone.send("GET", f"/events?after={seq}")["events"] == []
    assert application.statuses() == ["initiated"]  # those behind it were never sent


def test_a_document_under_way_is_of_no_use_to_anybody(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"duplicate_webhooks": 1})
    # What the address of a redirect asks for is read when the redirect is answered.
    moved = Answer(status=307, headers={"Location": "/there#xy=1"}, hold=True)
    application.answers("/there", Answer(HELLO))
    client.calls.create(to=ADA, from_=OURS, url=application.answers("/voice", moved))
    phone.device(ADA).let_ring().answer()
    application.waits_for("/voice")
    phone.reset()
    application.release()
    assert left_behind(phone) == []
    assert len(application.at("/voice")) == 1


def test_a_reply_to_a_text_that_is_forgotten_is_not_sent(phone: DevPhone, application: Application) -> None:
    reply = Answer("<Response><Message>Hi Ada.</Message></Response>", hold=True)
    phone.line(OURS).sends_texts_to(application.answers("/sms", reply))
    phone.device(ADA).texts(OURS, "Hello")
    application.waits_for("/sms")
    phone.reset()
    application.release()
    assert left_behind(phone) == []


def test_callbacks_that_were_to_come_later_never_come(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"late_callbacks": {"seconds": 60}})
    status = f"{application.url}/status"
    client.calls.create(
        to=ADA, from_=OURS, twiml=HELLO, status_callback=status, status_callback_event=ALL_EVENTS
    )
    phone.device(ADA).let_ring()
    phone.reset()
    phone.advance(100)
    assert application.webhooks == []
    assert left_behind(phone) == []


def test_a_delayed_201_comes_at_once_and_is_nobodys(phone: DevPhone, client: Client) -> None:
    phone.faults({"delay_201_s": {"seconds": 60}})
    with ThreadPoolExecutor(1) as others:
        waiting = others.submit(client.calls.create, to=ADA, from_=OURS, twiml=HELLO)
        phone.device(ADA).let_ring()
        phone.reset()
        assert waiting.result(timeout=2).status == "queued"
    assert left_behind(phone) == []
    assert phone.send("GET", "/contract")["checked"] == 0


def test_cookies_are_gone(phone: DevPhone, application: Application) -> None:
    url = application.answers("/sms", Answer("<Response/>", headers={"Set-Cookie": "seen=1"}))
    for _ in range(2):
        for known in (False, True):
            phone.line(OURS).sends_texts_to(url)
            phone.device(ADA).texts(OURS, "Hello")
            phone.settle()
            assert ("cookie" in application.at("/sms")[-1].headers) is known
        phone.reset()
