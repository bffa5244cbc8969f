"""A person calls a number of the account: what the application is asked, and how such calls end."""

from __future__ import annotations

import httpx2
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import CallOnPhone, DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Answer, Application

MENU = '<Gather numDigits="1" action="/key"><Say>Which door?</Say></Gather><Say>Goodbye.</Say>'


def dial(phone: DevPhone, application: Application) -> CallOnPhone:
    """Ada calls the account's number, which sends calls to `/in` and tells `/status` how they ended."""
    line = phone.line(OURS)
    line.sends_calls_to(f"{application.url}/in", status_callback=f"{application.url}/status")
    return phone.device(ADA).calls(OURS)


def test_a_caller_is_asked_presses_a_key_and_hangs_up(phone: DevPhone, application: Application) -> None:
    application.says("/in", MENU)
    application.says("/key", "<Say>It is open.</Say><Pause length='60'/>")
    call = dial(phone, application).hears("Which door")
    call.press("2").hears("open")
    phone.advance(9)
    call.hang_up().ended("completed")
    phone.settle()
    [first], [second] = application.at("/in"), application.at("/key")
    assert first.method == "POST"
    assert (first.fields["CallStatus"], second.fields["CallStatus"]) == ("ringing", "in-progress")
    for fields in (first.fields, second.fields):
        assert (fields["Direction"], fields["CallSid"]) == ("inbound", call.sid)
        assert (fields["From"], fields["Caller"]) == (ADA, ADA)
        assert (fields["To"], fields["Called"]) == (OURS, OURS)
    assert second.fields["Digits"] == "2"
    [last] = application.at("/status")
    assert (last.fields["CallStatus"], last.fields["SequenceNumber"]) == ("completed", "0")
    assert (last.fields["CallDuration"], last.fields["Duration"]) == ("9", "1")
    assert all(hook.signed for hook in application.webhooks)


def test_the_rest_api_shows_who_called(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/in", MENU)
    call = dial(phone, application).hears("Which door")
    client.calls.create(to=ADA, from_=OURS, twiml="<Response/>")
    phone.device(ADA).let_ring().decline()
    found = client.calls(call.sid).fetch()
    assert (found.direction, found.status, found._from, found.to) == ("inbound", "in-progress", ADA, OURS)
    assert found.phone_number_sid == client.incoming_phone_numbers.list(phone_number=OURS)[0].sid
    assert [listed.sid for listed in client.calls.list(from_=ADA, to=OURS)] == [call.sid]
    assert found.start_time is not None
    with pytest.raises(TwilioRestException):
        client.calls(call.sid).delete()
    client.calls(call.sid).update(twiml="<Response><Say>We close now.</Say></Response>")
    call.hears("We close now")
    assert client.calls(call.sid).update(status="completed").status == "completed"
    call.ended("completed")
    assert client.calls(call.sid).fetch().duration == "0"
    client.calls(call.sid).delete()
    assert client.calls.list(from_=ADA) == []


@pytest.mark.parametrize(
    ("reject", "status", "sip"),
    [
        ("<Reject/>", "no-answer", "603"),
        ('<Reject reason="rejected"/>', "no-answer", "603"),
        ('<Reject reason="busy"/>', "busy", "486"),
    ],
)
def test_a_call_that_the_application_rejects_is_never_answered(
    phone: DevPhone, client: Client, application: Application, reject: str, status: str, sip: str
) -> None:
    application.says("/in", reject + "<Say>Unreachable.</Say>")
    call = dial(phone, application).ended(status)
    phone.settle()
    [last] = application.at("/status")
    assert (last.fields["CallStatus"], last.fields["SipResponseCode"]) == (status, sip)
    assert last.fields["CallDuration"] == "0"
    assert call.transcript == []
    assert call.record()["answered"] is None
    assert client.calls(call.sid).fetch().status == status


def test_a_reject_for_a_reason_that_twilio_does_not_know_is_a_warning(
    phone: DevPhone, application: Application
) -> None:
    application.says("/in", '<Reject reason="lunch"/>')
    dial(phone, application).ended("no-answer")
    assert "lunch" in phone.expect_debugger(13810)["text"]


def test_a_reject_that_comes_too_late_is_a_warning_and_a_hang_up(
    phone: DevPhone, application: Application
) -> None:
    application.says("/in", "<Say>Hello.</Say><Reject/>")
    call = dial(phone, application).hears("Hello")
    phone.advance(1)
    call.ended("completed")
    assert "Reject is for inbound calls, as their first verb" in phone.expect_debugger(12200)["text"]


def test_a_number_that_sends_calls_nowhere_is_not_in_service(phone: DevPhone) -> None:
    call = phone.device(ADA).calls(OURS).ended("no-answer")
    said = [(line["who"], line["text"]) for line in call.record()["transcript"]]
    assert said == [("system", "The number you have called is not in service.")]


@pytest.mark.parametrize(
    ("broken", "code"), [(Answer("Sorry", status=500), 11200), (Answer("<Response><Say>"), 12100)]
)
def test_the_fallback_is_asked_when_the_voice_url_fails(
    phone: DevPhone, application: Application, broken: Answer, code: int
) -> None:
    application.answers("/in", broken)
    application.says("/instead", "<Say>Please write to us.</Say>")
    line = phone.line(OURS)
    line.sends_calls_to(f"{application.url}/in", fallback_url=f"{application.url}/instead")
    call = phone.device(ADA).calls(OURS).hears("Please write to us")
    phone.advance(3)
    call.ended("completed")
    [asked] = application.at("/instead")
    assert (asked.fields["ErrorCode"], asked.fields["ErrorUrl"]) == (str(code), f"{application.url}/in")
    assert asked.fields["CallStatus"] == "ringing"
    phone.expect_debugger(code)


def test_without_a_fallback_the_caller_hears_an_apology(phone: DevPhone, application: Application) -> None:
    application.answers("/in", Answer("Sorry", status=500))
    call = dial(phone, application)
    phone.settle()
    assert call.record()["status"] == "in-progress"
    phone.advance(10)
    call.ended("completed")
    assert ["error" in line["text"] for line in call.record()["transcript"]] == [True]
    phone.expect_debugger(11200)


def test_a_caller_gives_up_while_the_application_is_still_thinking(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/in", Answer("<Response><Say>Too late.</Say></Response>", hold=True))
    call = dial(phone, application)
    application.waits_for("/in")
    call.hang_up().ended("no-answer")
    [last] = application.waits_for("/status")
    assert (last.fields["CallStatus"], last.fields["SipResponseCode"]) == ("no-answer", "487")
    application.release()
    phone.settle()
    assert call.transcript == []
    assert client.calls(call.sid).fetch().status == "no-answer"


def test_a_caller_hangs_up_while_a_key_is_being_handled(phone: DevPhone, application: Application) -> None:
    application.says("/in", MENU)
    application.answers("/key", Answer("<Response><Say>Too late.</Say></Response>", hold=True))
    call = dial(phone, application).hears("Which door").press("1")
    application.waits_for("/key")
    call.hang_up().ended("completed")
    application.waits_for("/status")
    application.release()
    phone.settle()
    assert call.transcript == ["Which door?"]


def test_a_ringing_call_is_taken_from_the_caller_by_the_rest_api(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/in", Answer(hold=True))
    call = dial(phone, application)
    application.waits_for("/in")
    with pytest.raises(TwilioRestException) as refused:
        client.calls(call.sid).update(twiml="<Response/>")
    assert refused.value.code == 21220
    assert client.calls(call.sid).update(status="canceled").status == "canceled"
    application.release()
    call.ended("canceled")


def test_only_the_callers_own_deeds_are_possible(phone: DevPhone, application: Application) -> None:
    application.says("/in", MENU)
    call = dial(phone, application).hears("Which door")
    for deed in (call.answer, call.decline, call.busy, call.to_voicemail):
        with pytest.raises(AssertionError, match="the person makes this call"):
            deed()
    with pytest.raises(AssertionError, match="this phone has a call now"):
        phone.device(ADA).calls(OURS)
    assert (call.record()["person"], call.record()["at"], call.record()["rings_person"]) == (
        *(ADA, "person"),
        False,
    )
    phone.send("POST", f"/phones/{ADA}/hangup")
    call.ended("completed")


@pytest.mark.parametrize(
    ("number", "to", "says"),
    [
        (ADA, BEN, "to must be a number of the account"),
        (ADA, None, "to must be a number of the account"),
        (ADA, [OURS], "to must be a number of the account"),
        (OURS, OURS, "is not a person's number"),
        ("5550123", OURS, "is not a person's number"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(phone: DevPhone, number: str, to: object, says: str) -> None:
    refused = httpx2.post(f"{phone.url}/_devphone/phones/{number}/call", json={"to": to})
    assert refused.status_code == 400
    assert says in refused.json()["error"]
    assert phone.state()["calls"] == []


def test_a_get_line_asks_by_get(phone: DevPhone, application: Application) -> None:
    application.says("/in", "<Hangup/>")
    phone.line(OURS).sends_calls_to(f"{application.url}/in?door=2", method="GET")
    phone.device(ADA).calls(OURS).ended("completed")
    [asked] = application.at("/in")
    assert (asked.method, asked.fields["door"], asked.fields["From"]) == ("GET", "2", ADA)
    assert asked.signed


def test_a_bad_line_drops_a_call_that_the_person_makes(phone: DevPhone, application: Application) -> None:
    application.says("/in", MENU + "<Pause length='60'/>")
    phone.device(ADA).behaves("bad_line", drops_after_s=3)
    call = dial(phone, application).hears("Which door")
    phone.advance(3)
    call.ended("completed")
    assert call.record()["duration_s"] == 3
