"""Calls from the create to the end, as an application and a person see them."""

from __future__ import annotations

import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.engine.phones import Behaviour
from devphone.testing import DevPhone

from .calling import ring
from .conftest import ADA, BEN, OURS
from .stub_application import Answer, Application

MENU = (
    '<Gather numDigits="1" action="/key"><Say>A checkbox is blocking. Press 1.</Say></Gather><Say>Bye.</Say>'
)


def test_a_person_presses_one_and_hears_that_it_worked(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    application.says("/key", "<Say>Thank you.</Say>")
    placed = ring(client, application)
    assert placed.status == "queued"
    call = phone.device(ADA).expect_call(saying="checkbox")
    call.press("1").hears("Thank you")
    phone.advance(5)
    call.ended("completed")
    assert application.at("/key")[0].fields["Digits"] == "1"
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]
    assert [hook.fields["SequenceNumber"] for hook in application.at("/status")] == ["0", "1", "2", "3"]
    last = application.at("/status")[-1].fields
    assert last["CallbackSource"] == "call-progress-events"
    assert (last["CallDuration"], last["Duration"], last["SipResponseCode"]) == ("0", "0", "200")
    assert all(hook.signed for hook in application.webhooks)
    assert client.calls(placed.sid).fetch().status == "completed"


def test_twiml_is_fetched_when_the_phone_is_answered_and_not_before(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Say>Hello.</Say>")
    ring(client, application)
    call = phone.device(ADA).let_ring()
    phone.advance(30)
    assert application.at("/voice") == []
    call.answer().hears("Hello")
    fields = application.at("/voice")[0].fields
    assert fields["CallStatus"] == "in-progress"
    assert {"CallSid", "AccountSid", "From", "To", "Caller", "Called", "ApiVersion", "Direction"} < set(
        fields
    )
    call.hang_up()


def test_nobody_answers_and_the_call_ends_after_its_timeout(
    phone: DevPhone, client: Client, application: Application
) -> None:
    ring(client, application, timeout=25)
    call = phone.device(ADA).let_ring()
    phone.advance(24.9)
    assert call.record()["status"] == "ringing"
    phone.advance(0.2)
    call.ended("no-answer")
    assert application.at("/status")[-1].fields["SipResponseCode"] == "487"
    assert application.at("/voice") == []


@pytest.mark.parametrize(
    ("behaviour", "status", "sip"), [("busy", "busy", "486"), ("unreachable", "failed", "404")]
)
def test_a_phone_that_can_not_be_reached_says_why(
    phone: DevPhone, client: Client, application: Application, behaviour: Behaviour, status: str, sip: str
) -> None:
    phone.device(ADA).behaves(behaviour)
    ring(client, application)
    phone.device(ADA).missed_call(status)
    phone.settle()
    assert application.statuses() == ["initiated", status]
    assert application.at("/status")[-1].fields["SipResponseCode"] == sip


def test_declining_reads_as_no_answer_and_a_busy_tone_as_busy(
    phone: DevPhone, client: Client, application: Application
) -> None:
    ring(client, application)
    phone.device(ADA).let_ring().decline().ended("no-answer")
    ring(client, application, to=BEN)
    phone.device(BEN).let_ring().busy().ended("busy")


def test_a_voicemail_records_everything_and_presses_nothing(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    phone.device(ADA).behaves("voicemail", after_s=15)
    ring(client, application)
    phone.settle()
    phone.advance(15)
    call = phone.device(ADA).expect_call(saying="checkbox")
    phone.advance(20)
    call.hears("Bye").ended("completed")
    assert call.record()["keys"] == ""
    assert application.at("/key") == []


def test_a_call_canceled_while_queued_sends_no_callback_at_all(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.pace(queue_s=10)
    placed = ring(client, application)
    assert client.calls(placed.sid).update(status="canceled").status == "canceled"
    phone.advance(60)
    phone.device(ADA).missed_call("canceled")
    assert application.webhooks == []


def test_a_ringing_call_is_canceled_and_an_answered_one_is_not(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    first = ring(client, application)
    ada = phone.device(ADA).let_ring()
    assert client.calls(first.sid).update(status="canceled").status == "canceled"
    ada.ended("canceled")
    second = ring(client, application)
    call = phone.device(ADA).expect_call(saying="checkbox")
    assert client.calls(second.sid).update(status="canceled").status == "in-progress"
    assert client.calls(second.sid).update(status="completed").status == "completed"
    call.ended("completed")
    with pytest.raises(TwilioRestException) as refused:
        client.calls(second.sid).update(status="completed")
    assert refused.value.code == 21220


def test_only_subscribed_events_are_sent_and_counted(
    phone: DevPhone, client: Client, application: Application
) -> None:
    status = f"{application.url}/status"
    client.calls.create(to=ADA, from_=OURS, twiml="<Response/>", status_callback=status)
    phone.device(ADA).expect_call().ended("completed")
    phone.settle()
    assert [
        (hook.fields["CallStatus"], hook.fields["SequenceNumber"]) for hook in application.at("/status")
    ] == [("completed", "0")]


def test_two_events_in_one_field_subscribe_to_nothing_and_are_listed(
    phone: DevPhone, client: Client, application: Application
) -> None:
    client.calls.create(
        to=ADA,
        from_=OURS,
        twiml="<Response/>",
        status_callback=f"{application.url}/status",
        status_callback_event=["initiated ringing"],
    )
    phone.device(ADA).expect_call().ended()
    phone.settle()
    assert application.webhooks == []
    assert "'initiated ringing'" in phone.expect_debugger(21626)["text"]


def test_one_wrong_event_leaves_the_others_as_they_are(
    phone: DevPhone, client: Client, application: Application
) -> None:
    client.calls.create(
        to=ADA,
        from_=OURS,
        twiml="<Response/>",
        status_callback=f"{application.url}/status",
        status_callback_event=["answred", "ringing", "in-progress"],
    )
    phone.device(ADA).expect_call().ended()
    phone.settle()
    assert application.statuses() == ["ringing"]
    assert "'answred', 'in-progress'" in phone.expect_debugger(21626)["text"]


def test_the_person_hangs_up_while_the_application_is_still_thinking(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.answers("/voice", Answer("<Response><Say>Too late.</Say></Response>", hold=True))
    ring(client, application)
    call = phone.device(ADA).expect_call()
    application.waits_for("/voice")
    call.hang_up().ended("completed")
    application.waits_for("/status", 4)
    application.release()
    phone.settle()
    assert call.transcript == []
    assert application.statuses()[-1] == "completed"


def test_a_call_ends_at_its_time_limit(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/voice", '<Pause length="600"/>')
    ring(client, application, time_limit=90)
    call = phone.device(ADA).expect_call()
    phone.settle()
    phone.advance(89)
    assert call.record()["status"] == "in-progress"
    phone.advance(1)
    call.ended("completed")
    assert call.record()["duration_s"] == 90
    assert application.at("/status")[-1].fields["Duration"] == "2"


def test_an_update_redirects_the_call_in_the_middle_of_a_sentence(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    application.says("/settled", "<Say>Ben did it.</Say>")
    placed = ring(client, application)
    with pytest.raises(TwilioRestException) as refused:
        phone.device(ADA).let_ring()
        client.calls(placed.sid).update(url=f"{application.url}/settled")
    assert refused.value.code == 21220
    phone.send("POST", f"/calls/{placed.sid}/answer")
    phone.settle()
    client.calls(placed.sid).update(url=f"{application.url}/settled")
    phone.settle()
    client.calls(placed.sid).update(twiml="<Response><Say>Good day.</Say></Response>")
    phone.advance(10)
    said = [line["text"] for line in phone.send("GET", f"/calls/{placed.sid}")["transcript"]]
    assert said == ["A checkbox is blocking. Press 1.", "Ben did it.", "Good day."]
    assert application.at("/key") == []


def test_url_beats_twiml_on_create(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/voice", "<Say>From the address.</Say>")
    ring(client, application, twiml="<Response><Say>From the parameter.</Say></Response>")
    call = phone.device(ADA).expect_call(saying="From the address").hang_up()
    assert call.transcript == ["From the address."]
    phone.expect_debugger(32019)


def test_two_phones_have_their_own_calls(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/voice", MENU)
    application.says("/key", "<Say>Noted.</Say>")
    ring(client, application)
    ring(client, application, to=BEN)
    ben = phone.device(BEN).expect_call(saying="checkbox")
    ada = phone.device(ADA).expect_call(saying="checkbox")
    ben.press("2").hears("Noted").hang_up()
    ada.hang_up()
    assert [hook.fields["To"] for hook in application.at("/key")] == [BEN]


def test_an_unexpected_call_is_named_when_the_test_ends(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Say>Surprise.</Say>")
    placed = ring(client, application)
    phone.settle()
    with pytest.raises(AssertionError, match="call to …0123, ringing"):
        phone.nothing_else_happened()
    phone.send("POST", f"/calls/{placed.sid}/decline")
    phone.expect(placed.sid)


def test_a_second_call_to_a_phone_rings_while_the_first_goes_on(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    ring(client, application)
    first = phone.device(ADA).expect_call(saying="checkbox")
    ring(client, application)
    second = phone.device(ADA).let_ring()
    first.hang_up().ended("completed")
    second.answer().hears("checkbox").hang_up()


def test_the_control_api_says_who_is_on_the_phones_end(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", MENU)
    phone.pace(ring_s=2)
    sid = ring(client, application).sid

    def end() -> tuple[str, str, str, bool]:
        phone.settle()
        view = phone.send("GET", f"/calls/{sid}")
        return view["direction"], view["person"], view["at"], view["rings_person"]

    assert end() == ("outbound-api", ADA, "nobody", False)
    phone.advance(2)
    assert end() == ("outbound-api", ADA, "nobody", True)
    call = phone.device(ADA).expect_call()
    assert end() == ("outbound-api", ADA, "person", False)
    call.hang_up()
    assert end() == ("outbound-api", ADA, "person", False)


def test_the_last_callback_says_who_answered_when_that_was_asked(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Say>Hello.</Say>")
    phone.device(ADA).behaves("answers", answered_by="fax", verdict_after_s=3)
    ring(client, application, machine_detection="Enable")
    phone.settle()
    phone.advance(3)
    phone.device(ADA).expect_call(saying="Hello").hang_up()
    phone.settle()
    answered_by = [hook.fields.get("AnsweredBy") for hook in application.at("/status")]
    assert answered_by == [None, None, None, "fax"]
