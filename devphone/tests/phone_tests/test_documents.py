"""Fetching documents: what Twilio accepts, what it complains about, and what the caller hears then."""

from __future__ import annotations

import socket

import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import CallOnPhone, DevPhone

from .conftest import ADA, OURS
from .stub_application import Answer, Application

APOLOGY = "An application error has occurred. Goodbye."


def answered(phone: DevPhone, client: Client, url: str, **more: object) -> CallOnPhone:
    """A call to Ada with this document, answered, its first requests over."""
    client.calls.create(to=ADA, from_=OURS, url=url, **more)
    call = phone.device(ADA).expect_call()
    phone.settle()
    return call


def lines(call: CallOnPhone) -> list[str]:
    """All that was heard, the system's own words too."""
    return [line["text"] for line in call.record()["transcript"]]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(status=500), 11200),
        (Answer(status=404), 11200),
        (Answer("", content_type=None), 11200),
        (Answer("", content_type="text/html"), 12100),
        (Answer("", content_type="text/xml"), 12100),
        (Answer("<Response>", content_type="text/xml"), 12100),
        (Answer("<Response/><Response/>"), 12100),
        (Answer(b"<Response><Say>\x01</Say></Response>"), 12100),
        (Answer("<response/>"), 12102),
        (Answer("{}", content_type="application/json"), 12300),
        (Answer("<Response>" + " " * 65536 + "</Response>"), 11750),
    ],
    ids=[
        "500",
        "404",
        "no type",
        "empty HTML",
        "empty XML",
        "broken",
        "two roots",
        "control character",
        "root",
        "json",
        "too big",
    ],
)
def test_a_document_that_can_not_be_run_is_apologised_for(
    phone: DevPhone, client: Client, application: Application, answer: Answer, code: int
) -> None:
    call = answered(phone, client, application.answers("/voice", answer))
    phone.expect_debugger(code)
    assert lines(call) == [APOLOGY]
    assert call.record()["status"] == "in-progress"
    phone.advance(10)
    call.ended("completed")


@pytest.mark.parametrize(
    "content_type", ["text/xml", "application/xml; charset=utf-8", "text/html", "text/plain"]
)
def test_these_content_types_are_twiml(
    phone: DevPhone, client: Client, application: Application, content_type: str
) -> None:
    body = "<?xml version='1.0'?><!-- note --><Response><Say>Grüezi &amp; hello</Say></Response>"
    url = application.answers("/voice", Answer(body, content_type=content_type))
    assert lines(answered(phone, client, url)) == ["Grüezi & hello"]


def test_plain_text_that_is_no_twiml_is_read_aloud(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", Answer("Just words.", content_type="text/plain"))
    assert lines(answered(phone, client, url)) == ["Just words."]


def test_204_is_an_empty_document(phone: DevPhone, client: Client, application: Application) -> None:
    answered(phone, client, f"{application.url}/voice").ended("completed")


def test_the_fallback_is_asked_and_told_what_went_wrong(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", Answer(status=503))
    fallback = application.says("/fallback", "<Say>Something else.</Say>")
    call = answered(phone, client, url, fallback_url=fallback, fallback_method="GET")
    call.hears("Something else")
    asked = application.at("/fallback")[0]
    assert (asked.method, asked.fields["ErrorCode"], asked.fields["ErrorUrl"]) == ("GET", "11200", url)
    assert asked.signed
    phone.expect_debugger(11200)


def test_a_fallback_that_fails_too_is_not_asked_again(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.answers("/voice", Answer(status=503))
    fallback = application.answers("/fallback", Answer(status=503))
    assert lines(answered(phone, client, url, fallback_url=fallback)) == [APOLOGY]
    assert len(application.at("/fallback")) == 1
    phone.expect_debugger(11200)
    phone.expect_debugger(11200)


def test_unknown_verbs_and_attributes_are_warned_about_and_skipped(
    phone: DevPhone, client: Client, application: Application
) -> None:
    url = application.says("/voice", '<say>lower</say><Shout>no</Shout><Say Voice="alice">Yes.</Say>')
    assert lines(answered(phone, client, url)) == ["Yes."]
    for _ in range(3):
        phone.expect_debugger(12200)


def test_an_inline_document_needs_absolute_actions(
    phone: DevPhone, client: Client, application: Application
) -> None:
    twiml = '<Response><Gather numDigits="1" action="/key"/></Response>'
    client.calls.create(to=ADA, from_=OURS, twiml=twiml)
    call = phone.device(ADA).expect_call().press("1")
    phone.settle()
    assert lines(call) == ["1", APOLOGY]
    phone.expect_debugger(11100)
    client.calls.create(to=ADA, from_=OURS, twiml=twiml.replace("/key", f"{application.url}/key"))
    phone.device(ADA).expect_call().press("1").ended("completed")
    assert application.at("/key")[0].fields["Digits"] == "1"


def test_a_document_of_an_update_needs_absolute_actions_too(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application.says("/voice", '<Pause length="60"/>'))
    client.calls(call.sid).update(twiml='<Response><Gather numDigits="1" action="/key"/></Response>')
    call.press("1")
    phone.settle()
    assert lines(call) == ["1", APOLOGY]
    phone.expect_debugger(15004)


def test_a_document_in_the_request_has_4000_characters_at_most(phone: DevPhone, client: Client) -> None:
    start, end = '<Response><Pause length="60"/><!--', "--></Response>"
    longest = start + "x" * (4000 - len(start) - len(end)) + end
    placed = client.calls.create(to=ADA, from_=OURS, twiml=longest)
    phone.device(ADA).expect_call()
    for refused in (
        lambda: client.calls.create(to=ADA, from_=OURS, twiml=longest + " "),
        lambda: client.calls(placed.sid).update(twiml=longest + " "),
    ):
        with pytest.raises(TwilioRestException) as refusal:
            refused()
        assert (refusal.value.status, refusal.value.code) == (400, 32018)


def test_an_application_of_the_account_can_not_be_named(client: Client) -> None:
    with pytest.raises(TwilioRestException) as refusal:
        client.calls.create(to=ADA, from_=OURS, application_sid="AP" + "0" * 32)
    assert refusal.value.code == 21218


def test_audio_is_played_and_the_call_ends(phone: DevPhone, client: Client, application: Application) -> None:
    url = application.answers("/voice", Answer(b"RIFF", content_type="audio/wav"))
    call = answered(phone, client, url)
    assert lines(call) == [f"[plays {url}]"]
    phone.advance(3)
    call.ended("completed")


def test_a_document_that_leads_to_itself_in_silence_comes_to_an_end(
    phone: DevPhone, client: Client, application: Application
) -> None:
    fallback = application.says("/fallback", "<Redirect>/voice</Redirect>")
    call = answered(
        phone, client, application.says("/voice", "<Redirect>/voice</Redirect>"), fallback_url=fallback
    )
    phone.expect_debugger(11215)
    assert lines(call) == [APOLOGY]
    assert len(application.at("/voice")) == 100
    assert application.at("/fallback") == []


def test_a_document_that_leads_to_itself_after_a_pause_goes_on(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application.says("/voice", "<Pause/><Redirect>/voice</Redirect>"))
    phone.advance(110)
    assert len(application.at("/voice")) == 111
    call.hang_up()


def test_the_url_is_signed_byte_for_byte_and_the_fragment_stays_here(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Hangup/>")
    answered(phone, client, f"{application.url}/voice?a=%2B1&b=%20&c=1%2F2#rc=2&rp=all")
    hook = application.at("/voice")[0]
    assert hook.url == f"{application.url}/voice?a=%2B1&b=%20&c=1%2F2"
    assert hook.signed


def test_get_carries_the_fields_in_the_signed_query(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Hangup/>")
    answered(phone, client, f"{application.url}/voice?mine=1", method="GET")
    hook = application.at("/voice")[0]
    assert (hook.method, hook.fields["mine"], hook.fields["To"]) == ("GET", "1", ADA)
    assert hook.signed


def test_every_webhook_looks_like_twilios(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/voice", "<Redirect>/next</Redirect>")
    application.says("/next", "<Hangup/>")
    answered(phone, client, f"{application.url}/voice").ended()
    tokens = {hook.headers["i-twilio-idempotency-token"] for hook in application.webhooks}
    assert len(tokens) == 2
    for hook in application.webhooks:
        assert hook.headers["user-agent"] == "TwilioProxy/1.1"
        assert hook.headers["content-type"] == "application/x-www-form-urlencoded"


def test_cookies_live_as_long_as_the_call(phone: DevPhone, client: Client, application: Application) -> None:
    body = "<Response><Redirect>/next</Redirect></Response>"
    url = application.answers("/voice", Answer(body, headers={"Set-Cookie": "step=one; Path=/"}))
    application.says("/next", "<Hangup/>")
    answered(phone, client, url).ended()
    answered(phone, client, url).ended()
    assert [hook.headers.get("cookie") for hook in application.at("/next")] == ["step=one", "step=one"]
    assert [hook.headers.get("cookie") for hook in application.at("/voice")] == [None, None]


def test_keys_are_not_sent_again_after_a_redirect(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", '<Gather numDigits="1" action="/key"/>')
    application.answers("/key", Answer("", 302, {"Location": "/moved?to=here"}))
    application.says("/moved", "<Say>Arrived.</Say>")
    answered(phone, client, f"{application.url}/voice").press("1").hears("Arrived")
    moved = application.at("/moved")[0]
    assert (moved.method, "Digits" in moved.fields, moved.fields["to"]) == ("GET", False, "here")
    assert moved.signed


def test_an_endless_redirect_is_given_up(phone: DevPhone, client: Client, application: Application) -> None:
    url = application.answers("/voice", Answer("", 307, {"Location": "/voice"}))
    answered(phone, client, url)
    phone.expect_debugger(11215)
    assert len(application.at("/voice")) == 11


def test_an_application_that_is_down_is_reported_as_such(phone: DevPhone, client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert lines(answered(phone, client, f"http://127.0.0.1:{port}/voice")) == [APOLOGY]
    phone.expect_debugger(11205)
