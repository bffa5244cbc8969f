"""A trial account: verified numbers only, a notice before every call, ten minutes at most."""

from __future__ import annotations

import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Application

MENU = '<Gather numDigits="1" action="/key"><Say>Press 1 to confirm.</Say></Gather><Say>Bye.</Say>'
NOTICE_S = 8.0
"""The notice, about; then there are 10 seconds for a key."""


@pytest.fixture
def trial(phone: DevPhone) -> DevPhone:
    """A trial account on which Ada's number is verified."""
    phone.account(trial=True, verified=[ADA])
    return phone


def ring(client: Client, application: Application, **more: object) -> str:
    """Call Ada with all events; the sid."""
    placed = client.calls.create(
        to=ADA,
        from_=OURS,
        url=f"{application.url}/voice",
        status_callback=f"{application.url}/status",
        status_callback_event=["initiated", "ringing", "answered", "completed"],
        **more,
    )
    return str(placed.sid)


def test_a_number_that_was_not_verified_is_refused(trial: DevPhone, client: Client) -> None:
    with pytest.raises(TwilioRestException) as refused:
        client.calls.create(to=BEN, from_=OURS, twiml="<Response/>")
    assert (refused.value.status, refused.value.code) == (400, 21219)
    trial.account(trial=False)
    client.calls.create(to=BEN, from_=OURS, twiml="<Response/>")
    trial.device(BEN).expect_call().ended("completed")


def test_the_confirm_key_at_the_notice_is_no_confirmation(
    trial: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    application.says("/key", "<Say>Thank you.</Say>")
    ring(client, application)
    call = trial.device(ADA).expect_call()
    trial.advance(4)
    assert [line["who"] for line in call.record()["transcript"]] == ["system"]
    assert "Press any key" in call.record()["transcript"][0]["text"]
    assert application.at("/voice") == []
    call.press("1").hears("Press 1 to confirm")
    trial.settle()
    assert application.at("/key") == []
    assert "Digits" not in application.at("/voice")[0].fields
    call.press("1").hears("Thank you")
    assert application.at("/key")[0].fields["Digits"] == "1"
    assert call.record()["keys"] == "11"
    trial.advance(2)
    call.ended("completed")
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]


def test_a_call_on_which_nobody_presses_a_key_ends_and_the_application_was_never_asked(
    trial: DevPhone, client: Client, application: Application
) -> None:
    ring(client, application)
    call = trial.device(ADA).expect_call()
    trial.settle()
    trial.advance(NOTICE_S + 9)
    assert call.record()["status"] == "in-progress"
    trial.advance(1)
    call.ended("completed")
    assert application.at("/voice") == []


def test_an_update_replaces_the_notice_too(trial: DevPhone, client: Client, application: Application) -> None:
    sid = ring(client, application)
    call = trial.device(ADA).expect_call()
    client.calls(sid).update(twiml="<Response><Say>Ben did it.</Say><Pause length='60'/></Response>")
    call.hears("Ben did it")
    trial.advance(NOTICE_S + 20)
    assert call.record()["status"] == "in-progress"
    call.press("1").hang_up()
    assert application.at("/voice") == []


def test_a_call_ends_after_ten_minutes_whatever_its_own_limit(
    trial: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Pause length='3600'/>")
    sid = ring(client, application, time_limit=3000)
    call = trial.device(ADA).expect_call().press("5")
    trial.settle()
    trial.advance(300)
    client.calls(sid).update(time_limit=2000)
    trial.advance(299)
    assert call.record()["status"] == "in-progress"
    trial.advance(1)
    call.ended("completed")
    assert call.record()["duration_s"] == 600
    trial.expect_debugger(13805)


def test_a_shorter_limit_of_its_own_is_no_matter_of_the_trial(
    trial: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Pause length='3600'/>")
    ring(client, application, time_limit=60)
    call = trial.device(ADA).expect_call().press("5")
    trial.settle()
    trial.advance(60)
    assert call.ended("completed").record()["duration_s"] == 60


def test_a_mailbox_never_hears_more_than_the_notice(
    trial: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    trial.device(ADA).behaves("voicemail")
    ring(client, application)
    call = trial.device(ADA).expect_call()
    trial.advance(60)
    call.ended("completed")
    assert (call.recorded, application.at("/voice")) == ([], [])


def test_callers_hear_the_notice_too_and_strangers_do_not_get_through(
    trial: DevPhone, application: Application
) -> None:
    application.says("/in", MENU)
    trial.line(OURS).sends_calls_to(f"{application.url}/in")
    trial.device(BEN).calls(OURS).ended("no-answer")
    call = trial.device(ADA).calls(OURS)
    trial.settle()
    assert application.webhooks == []
    call.press("9").hears("Press 1 to confirm").hang_up()
    assert application.at("/in")[0].fields["CallStatus"] == "in-progress"
