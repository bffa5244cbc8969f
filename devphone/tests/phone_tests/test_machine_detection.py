"""Machine detection: who answered, when Twilio knows, and how the application is told; keys that are sent.

https://www.twilio.com/docs/voice/answering-machine-detection
"""

from __future__ import annotations

import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, OURS
from .stub_application import Application, Webhook

GREETING_S = 7
GREETING = "m" * 14 * GREETING_S


def place(client: Client, application: Application, **more: object) -> str:
    """A call to Ada whose document says one sentence; its sid."""
    application.says("/voice", "<Say>The document.</Say><Pause length='30'/>")
    url = f"{application.url}/voice"
    return str(client.calls.create(to=ADA, from_=OURS, url=url, **more).sid)


def verdict(hook: Webhook) -> tuple[str | None, str | None]:
    """AnsweredBy and MachineDetectionDuration of one webhook."""
    return hook.fields.get("AnsweredBy"), hook.fields.get("MachineDetectionDuration")


def test_the_line_is_silent_until_it_is_known_who_answered(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sid = place(client, application, machine_detection="Enable")
    call = phone.device(ADA).expect_call()
    phone.advance(2.1)
    assert application.at("/voice") == []
    assert client.calls(sid).fetch().answered_by is None
    phone.advance(0.1)
    call.hears("The document")
    assert [verdict(hook) for hook in application.at("/voice")] == [("human", "2200")]
    assert client.calls(sid).fetch().answered_by == "human"
    assert call.record()["answered_by"] == "human"


@pytest.mark.parametrize(
    ("mode", "answered_by", "after_s"),
    [("Enable", "machine_start", 4), ("DetectMessageEnd", "machine_end_beep", GREETING_S)],
)
def test_a_mailbox_is_a_machine_at_once_or_at_its_beep(
    phone: DevPhone, client: Client, application: Application, mode: str, answered_by: str, after_s: int
) -> None:
    phone.device(ADA).behaves("voicemail", greeting=GREETING)
    place(client, application, machine_detection=mode)
    call = phone.device(ADA).expect_call()
    phone.advance(after_s - 0.1)
    assert application.at("/voice") == []
    phone.advance(0.1)
    call.hears("The document")
    assert [verdict(hook) for hook in application.at("/voice")] == [(answered_by, str(after_s * 1000))]


def test_a_call_screener_is_a_machine_without_a_beep(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("screening", greeting=GREETING, after_s=0)
    phone.expect(place(client, application, machine_detection="DetectMessageEnd"))
    phone.advance(GREETING_S + 1.2)
    assert [verdict(hook) for hook in application.at("/voice")] == [("machine_end_silence", "8200")]


def test_in_the_background_the_document_runs_at_once_and_the_verdict_is_posted(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("voicemail", greeting=GREETING)
    sid = place(
        client,
        application,
        machine_detection="DetectMessageEnd",
        async_amd="true",
        async_amd_status_callback=f"{application.url}/amd",
    )
    phone.device(ADA).expect_call(saying="The document")
    assert verdict(application.at("/voice")[0]) == (None, None)
    phone.advance(GREETING_S)
    told = application.at("/amd")[0]
    assert told.fields == {
        "CallSid": sid,
        "AccountSid": client.account_sid,
        "AnsweredBy": "machine_end_beep",
        "MachineDetectionDuration": "7000",
    }
    assert told.signed
    assert client.calls(sid).fetch().answered_by == "machine_end_beep"
    client.calls(sid).update(twiml="<Response><Say>To the mailbox.</Say></Response>")
    phone.advance(5)
    assert phone.send("GET", f"/calls/{sid}")["recorded"][-1] == "To the mailbox."


def test_without_a_callback_the_verdict_is_only_on_the_resource(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sid = place(client, application, machine_detection="Enable", async_amd="true")
    phone.device(ADA).expect_call(saying="The document")
    phone.expect_debugger(21262)
    phone.advance(5)
    assert client.calls(sid).fetch().answered_by == "human"
    assert [hook.path for hook in application.webhooks] == ["/voice"]


@pytest.mark.parametrize(
    "answered_by",
    [
        *("human", "machine_start", "machine_end_beep", "machine_end_silence", "machine_end_other"),
        *("fax", "unknown"),
    ],
)
def test_a_test_can_ask_for_any_verdict_at_any_time(
    phone: DevPhone, client: Client, application: Application, answered_by: str
) -> None:
    phone.device(ADA).behaves("answers", answered_by=answered_by, verdict_after_s=9.5)
    sid = place(client, application, machine_detection="DetectMessageEnd")
    phone.device(ADA).expect_call()
    phone.advance(9.4)
    assert application.at("/voice") == []
    phone.advance(0.1)
    assert [verdict(hook) for hook in application.at("/voice")] == [(answered_by, "9500")]
    assert client.calls(sid).fetch().answered_by == answered_by


@pytest.mark.parametrize(
    ("greeting", "tuning", "answered_by", "after_s"),
    [
        ("", {}, "unknown", 5),
        ("", {"machine_detection_silence_timeout": "2000"}, "unknown", 2),
        ("Ada. Go on.", {}, "human", 1.986),
        (GREETING, {"machine_detection_speech_threshold": "6000"}, "machine_start", 6),
        ("m" * 70, {"machine_detection_speech_threshold": "6000"}, "human", 6.2),
        ("m" * 28, {"machine_detection_speech_end_threshold": "500"}, "human", 2.5),
        (GREETING, {"machine_detection_timeout": "3"}, "unknown", 3),
    ],
    ids=["silence", "less silence", "short", "threshold", "below it", "end of speech", "timeout"],
)
def test_the_verdict_follows_from_the_first_sentence_and_can_be_wrong(
    phone: DevPhone,
    client: Client,
    application: Application,
    greeting: str,
    tuning: dict[str, str],
    answered_by: str,
    after_s: float,
) -> None:
    phone.device(ADA).behaves("voicemail", greeting=greeting)
    place(client, application, machine_detection="Enable", **tuning)
    phone.device(ADA).expect_call()
    phone.advance(10)
    assert [verdict(hook) for hook in application.at("/voice")] == [(answered_by, str(round(after_s * 1000)))]


def test_a_greeting_longer_than_the_timeout_is_some_machine(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("voicemail", greeting=GREETING)
    place(client, application, machine_detection="DetectMessageEnd", machine_detection_timeout="5")
    phone.device(ADA).expect_call()
    phone.advance(5)
    assert [verdict(hook) for hook in application.at("/voice")] == [("machine_end_other", "5000")]


@pytest.mark.parametrize("background", ["true", "false"])
def test_a_call_that_is_over_before_has_no_verdict(
    phone: DevPhone, client: Client, application: Application, background: str
) -> None:
    callback = f"{application.url}/amd"
    more = {"async_amd": background, "async_amd_status_callback": callback}
    sid = place(client, application, machine_detection="Enable", **more)
    call = phone.device(ADA).expect_call()
    phone.settle()
    phone.advance(1)
    call.hang_up()
    phone.advance(30)
    assert client.calls(sid).fetch().answered_by is None
    assert application.at("/amd") == []
    assert len(application.at("/voice")) == (1 if background == "true" else 0)


def test_a_redirect_ends_the_silence_without_a_verdict(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sid = place(client, application, machine_detection="Enable")
    call = phone.device(ADA).expect_call()
    client.calls(sid).update(twiml="<Response><Say>Never mind.</Say><Pause length='30'/></Response>")
    call.hears("Never mind")
    phone.advance(10)
    assert application.at("/voice") == []
    assert client.calls(sid).fetch().answered_by is None


def test_keys_are_sent_before_the_document_and_switch_detection_off(
    phone: DevPhone, client: Client, application: Application
) -> None:
    sid = place(client, application, send_digits="W12w#", machine_detection="Enable")
    call = phone.device(ADA).expect_call()
    phone.advance(2.9)
    assert application.at("/voice") == []
    phone.advance(0.1)
    call.hears("The document")
    assert call.record()["transcript"][0]["text"] == "[sends keys W12w#]"
    assert verdict(application.at("/voice")[0]) == (None, None)
    assert client.calls(sid).fetch().answered_by is None


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"send_digits": "12x"}, 21206),
        ({"send_digits": "1" * 33}, 21206),
        ({"machine_detection": "true"}, 21234),
        ({"machine_detection": "Enable", "machine_detection_timeout": "2"}, 21234),
        ({"machine_detection": "Enable", "machine_detection_timeout": "60"}, 21234),
        ({"machine_detection": "Enable", "machine_detection_speech_threshold": "999"}, 21234),
        ({"machine_detection": "Enable", "machine_detection_speech_end_threshold": "5001"}, 21234),
        ({"machine_detection": "Enable", "machine_detection_silence_timeout": "1 s"}, 21234),
        ({"machine_detection": "Enable", "async_amd": "True"}, 21234),
        ({"machine_detection": "Enable", "async_amd_status_callback": "nowhere"}, 21609),
        ({"machine_detection": "Enable", "async_amd_status_callback_method": "PUT"}, 21209),
    ],
)
def test_what_twilio_refuses_is_refused(
    client: Client, application: Application, more: dict[str, str], code: int
) -> None:
    with pytest.raises(TwilioRestException) as refused:
        place(client, application, **more)
    assert (refused.value.status, refused.value.code) == (400, code)
