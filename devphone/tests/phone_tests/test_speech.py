"""Gather for speech: what the person says, when it is over, and what the application hears of it.

https://www.twilio.com/docs/voice/twiml/gather
"""

from __future__ import annotations

import httpx2
import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .answered_call import answered, codes, entered
from .conftest import ADA, OURS
from .stub_application import Application

SEVEN_SECONDS = "a" * 98
ONE_SECOND = "Fourteen chars"


def asked(application: Application) -> list[tuple[str | None, str | None, str | None]]:
    """SpeechResult, Confidence and Digits of every request to the action."""
    fields = [hook.fields for hook in application.at("/key")]
    return [(each.get("SpeechResult"), each.get("Confidence"), each.get("Digits")) for each in fields]


def test_what_is_said_reaches_the_action_after_a_silence(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/key", "<Say>I see.</Say>")
    body = '<Gather input="speech" speechTimeout="2" action="/key"><Say>Why do you call?</Say></Gather>'
    call = answered(phone, client, application, body)
    assert (call.record()["takes_speech"], call.record()["takes_keys"]) == (True, False)
    call.says(ONE_SECOND, 0.75)
    phone.advance(2.9)
    assert application.at("/key") == []
    phone.advance(0.1)
    call.hears("I see")
    assert asked(application) == [(ONE_SECOND, "0.75", None)]
    assert application.at("/key")[0].signed
    lines = [(line["who"], line["text"], line["at_s"]) for line in call.record()["transcript"]]
    assert lines[1:] == [("person", ONE_SECOND, 0), ("voice", "I see.", 3)]


def test_what_a_screener_asks_is_understood_like_anything_else(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says(
        "/voice", '<Gather input="dtmf speech" speechTimeout="2" action="/key"><Say>Hi.</Say></Gather>'
    )
    application.says("/key", "<Say>It is the shop.</Say><Pause length='30'/>")
    phone.device(ADA).behaves("screening", greeting="Who is it? Who is it?", listens_s=8)
    client.calls.create(to=ADA, from_=OURS, url=f"{application.url}/voice")
    phone.settle()
    phone.advance(2 + 1.5 + 2)
    assert asked(application) == [("Who is it? Who is it?", None, None)]
    phone.advance(7)
    call = phone.device(ADA).screened_call(hearing="It is the shop.")
    assert call.transcript == ["It is the shop."], "the question was there before the first prompt"


def test_a_mailbox_is_understood_from_where_the_gather_begins(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", '<Pause/><Gather input="speech" speechTimeout="2" action="/key"/>')
    phone.device(ADA).behaves("voicemail", greeting="Fourteen chars and then some more")
    client.calls.create(to=ADA, from_=OURS, url=f"{application.url}/voice")
    phone.settle()
    phone.advance(10)
    assert entered(application, "SpeechResult") == ["and then some more"]
    phone.device(ADA).missed_call("completed")


def test_confidence_may_be_missing(phone: DevPhone, client: Client, application: Application) -> None:
    call = answered(phone, client, application, '<Gather input="speech" action="/key"/>')
    call.says("Yes", None)
    phone.advance(10)
    assert asked(application) == [("Yes", None, None)]


def test_sentences_before_the_silence_are_one_result_with_the_lowest_confidence(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application, '<Gather input="speech" speechTimeout="3" action="/key"/>')
    call.says(ONE_SECOND, 0.9)
    phone.advance(3.9)
    call.says("Still here.", 0.4)
    call.says("Hello?", None)
    phone.advance(17 / 14 + 2.9)
    assert application.at("/key") == []
    phone.advance(0.1)
    assert asked(application) == [(f"{ONE_SECOND} Still here. Hello?", "0.4", None)]


@pytest.mark.parametrize(
    ("attributes", "silence_s"), [('timeout="4"', 4), ('speechTimeout="auto"', 1), ('timeout="9"', 9)]
)
def test_the_silence_is_the_timeout_unless_it_is_said_otherwise(
    phone: DevPhone, client: Client, application: Application, attributes: str, silence_s: int
) -> None:
    body = f'<Gather input="speech" action="/key" {attributes}/>'
    answered(phone, client, application, body).says(ONE_SECOND)
    phone.advance(silence_s + 0.9)
    assert application.at("/key") == []
    phone.advance(0.1)
    assert len(application.at("/key")) == 1


def test_speech_interrupts_the_prompt(phone: DevPhone, client: Client, application: Application) -> None:
    prompt = f"<Say>{SEVEN_SECONDS}</Say><Say>Second.</Say>"
    body = f'<Gather input="speech" speechTimeout="1" action="/key">{prompt}</Gather>'
    call = answered(phone, client, application, body)
    phone.advance(1)
    call.says("Stop")
    phone.advance(2)
    assert asked(application) == [("Stop", "0.9", None)]
    assert "Second." not in call.transcript


def test_speech_during_a_prompt_that_may_not_be_interrupted_is_lost(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = f'<Gather input="speech" bargeIn="false" action="/key"><Say>{SEVEN_SECONDS}</Say></Gather>'
    call = answered(phone, client, application, f"{body}<Say>Nobody?</Say>").says("Stop")
    phone.advance(12)
    assert call.transcript == [SEVEN_SECONDS, "Nobody?"]
    assert application.at("/key") == []


def test_a_key_first_means_words_are_lost(phone: DevPhone, client: Client, application: Application) -> None:
    call = answered(phone, client, application, '<Gather input="dtmf speech" timeout="3" action="/key"/>')
    call.press("1").says("two").press("3")
    phone.advance(3)
    assert asked(application) == [(None, None, "13")]


def test_a_word_first_means_keys_are_lost_the_finish_key_too(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application, '<Gather input="speech dtmf" timeout="3" action="/key"/>')
    call.says(ONE_SECOND).press("1#")
    phone.settle()
    assert application.at("/key") == []
    phone.advance(4)
    assert asked(application) == [(ONE_SECOND, "0.9", None)]


def test_a_gather_for_speech_takes_no_keys_and_one_for_keys_no_words(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = '<Gather input="speech" action="/key"/><Gather action="/key"/><Say>Nothing came.</Say>'
    call = answered(phone, client, application, body).press("1#")
    phone.advance(5)
    assert call.record()["takes_speech"] is False
    call.says("Yes")
    phone.advance(5)
    assert call.transcript == ["Nothing came."]
    assert application.at("/key") == []


def test_silence_goes_on_or_calls_the_action_when_asked_to(
    phone: DevPhone, client: Client, application: Application
) -> None:
    asks = '<Gather input="speech" actionOnEmptyResult="true" action="/key"/>'
    call = answered(phone, client, application, f'<Gather input="speech" action="/key"/><Say>Hm.</Say>{asks}')
    phone.advance(5)
    assert call.transcript == ["Hm."]
    assert application.at("/key") == []
    phone.advance(10)
    assert asked(application) == [(None, None, None)]


def test_words_outside_a_gather_are_lost_but_heard(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = '<Pause length="3"/><Gather input="speech" action="/key"/>'
    call = answered(phone, client, application, body).says("Hello?")
    phone.advance(60)
    assert call.ended("completed").record()["transcript"][0]["text"] == "Hello?"
    assert application.at("/key") == []


@pytest.mark.parametrize(("attributes", "longest_s"), [("", 60), ('maxSpeechTime="10"', 10)])
def test_speech_without_an_end_is_cut_at_a_word(
    phone: DevPhone, client: Client, application: Application, attributes: str, longest_s: int
) -> None:
    call = answered(phone, client, application, f'<Gather input="speech" action="/key" {attributes}/>')
    call.says("gabble " * 140)
    phone.advance(longest_s - 0.1)
    assert application.at("/key") == []
    phone.advance(0.1)
    assert asked(application)[0][0] == " ".join(["gabble"] * (longest_s * 2))


def test_partial_results_are_told_while_the_person_speaks(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/partial", "<Hangup/>")
    attributes = 'partialResultCallback="/partial" partialResultCallbackMethod="GET" speechTimeout="3"'
    call = answered(phone, client, application, f'<Gather input="speech" action="/key" {attributes}/>')
    call.says("I need")
    phone.advance(1)
    call.says("a person")
    phone.advance(1)
    partial = application.at("/partial")
    assert [hook.fields["UnstableSpeechResult"] for hook in partial] == ["I need", "I need a person"]
    assert [hook.fields["SequenceNumber"] for hook in partial] == ["0", "1"]
    assert {hook.method for hook in partial} == {"GET"}
    assert all(hook.signed and hook.fields["To"] == ADA and "Stability" in hook.fields for hook in partial)
    assert call.record()["status"] == "in-progress"
    phone.advance(3)
    assert entered(application, "SpeechResult") == ["I need a person"]


def test_values_that_twilio_rejects_are_warned_about(
    phone: DevPhone, client: Client, application: Application
) -> None:
    bad = (
        'speechTimeout="never" maxSpeechTime="61" language="en" speechModel="guess" profanityFilter="off" '
        f'partialResultCallbackMethod="PUT" hints="{"x" * 101}"'
    )
    answered(phone, client, application, f'<Gather input="speech" {bad}/>')
    codes(phone, 13327, 13328, 13331, 13334, 13333, 13329, 13330)


def test_values_that_twilio_takes_are_not(phone: DevPhone, client: Client, application: Application) -> None:
    good = (
        'language="de-CH" hints="this is a phrase, $OOV_CLASS_DIGIT_SEQUENCE" speechModel="phone_call" '
        'enhanced="true" profanityFilter="false" speechTimeout="auto" debug="true"'
    )
    answered(phone, client, application, f'<Gather input="dtmf speech" {good}/>')
    assert phone.debugger() == []


def test_an_automatic_silence_needs_a_model_of_ones_own(
    phone: DevPhone, client: Client, application: Application
) -> None:
    answered(
        phone, client, application, '<Gather input="speech" speechTimeout="auto" speechModel="default"/>'
    )
    codes(phone, 13335)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"text": ""}, "text must be what the person says"),
        ({"text": 7}, "text must be a text"),
        ({"text": "Yes", "confidence": 1.5}, "confidence must be a number from 0 to 1"),
        ({"text": "Yes", "confidence": "high"}, "confidence must be a number"),
    ],
)
def test_a_person_can_not_say_that(
    phone: DevPhone, client: Client, application: Application, body: dict[str, object], sentence: str
) -> None:
    call = answered(phone, client, application, "<Pause/>")
    refused = httpx2.post(f"{phone.url}/_devphone/calls/{call.sid}/say", json=body)
    assert refused.status_code == 400
    assert sentence in refused.json()["error"]
    assert call.record()["transcript"] == []
