"""What single verbs do: Say and its voices, Play, Pause, Redirect, and those that the dev phone does not do.

https://www.twilio.com/docs/voice/twiml
"""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone.engine import twiml
from devphone.testing import DevPhone

from . import shared_files
from .answered_call import answered, codes
from .stub_application import Application

TAGS = '<emphasis level="strong">{}</emphasis>'


def test_pause_play_and_a_loop_take_their_time(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = '<Say loop="2">fourteen chars</Say><Pause/><Play>/tune.mp3</Play><Play digits="1w2W"/>'
    call = answered(phone, client, application, body)
    phone.advance(8.4)
    assert call.record()["status"] == "in-progress"
    phone.advance(0.1)
    assert call.ended("completed").record()["duration_s"] == 8
    heard = [(line["at_s"], line["text"]) for line in call.record()["transcript"]]
    assert heard == [(0, "fourteen chars"), (3, "[plays /tune.mp3]"), (6, "[tones 1w2W]")]


def test_loop_0_repeats_until_the_end(phone: DevPhone, client: Client, application: Application) -> None:
    call = answered(phone, client, application, '<Say loop="0">fourteen chars</Say>', time_limit=600)
    phone.advance(599)
    assert call.record()["status"] == "in-progress"
    phone.advance(1)
    call.ended("completed")


@pytest.mark.parametrize(
    ("voice", "text", "fits"),
    [
        ("", "a" * 4096, True),
        ("alice", "a" * 4097, False),
        ("Polly.Joanna", "a" * 3000, True),
        ("Polly.Joanna", "a" * 3001, False),
        ("Polly.Joanna", TAGS.format("a" * 3000), True),
        ("Google.en-US-Standard-C", "a" * 4500, True),
        ("Google.en-US-Standard-C", TAGS.format("a") * 135, True),
        ("Google.en-US-Standard-C", TAGS.format("a") * 136, False),
        ("", "é" * 750, True),
        ("", "é" * 751, False),
    ],
    ids=[
        *("basic", "too long", "Polly", "too long for Polly", "Polly's tags", "Google", "Google's tags"),
        *("too long for Google", "URL-encoded", "too long URL-encoded"),
    ],
)
def test_a_text_is_as_long_as_the_voice_allows(
    phone: DevPhone, client: Client, application: Application, voice: str, text: str, fits: bool
) -> None:
    attributes = f'voice="{voice}"' if voice else ""
    call = answered(phone, client, application, f"<Say {attributes}>{text}</Say><Say>Next.</Say>")
    phone.advance(400)
    assert len(call.transcript) == (2 if fits else 1)
    codes(phone, *([] if fits else [13521]))


def test_an_empty_text_is_not_said(phone: DevPhone, client: Client, application: Application) -> None:
    assert answered(phone, client, application, "<Say> </Say><Say>Good.</Say>").transcript == ["Good."]
    codes(phone, 13520)


def test_speech_markup_is_understood(phone: DevPhone, client: Client, application: Application) -> None:
    text = (
        '<p><s>One <emphasis>two</emphasis>.</s><s>Three</s></p><break/><break time="1s"/>'
        '<say-as interpret-as="digits">45</say-as> <sub alias="World Wide Web">WWW</sub>'
        '<prosody rate="slow"><lang xml:lang="fr-FR"> fin</lang></prosody>'
    )
    call = answered(phone, client, application, f'<Say voice="Polly.Joanna">{text}</Say><Say>Next.</Say>')
    assert call.transcript == ["One two. Three 45 World Wide Web fin"]
    phone.advance(36 / 14 + 1.4)
    assert call.transcript[-1] != "Next."
    phone.advance(0.1)
    assert call.transcript[-1] == "Next."


def test_what_is_no_speech_markup_is_skipped(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = "<Say>Before <b>bold</b> after<audio src='x'/>.</Say>"
    assert answered(phone, client, application, body).transcript == ["Before after."]
    codes(phone, 12200, 12200)


@pytest.mark.parametrize(
    ("body", "code", "seconds"),
    [
        ('<Say voice="nobody">fourteen chars</Say>', 13511, 1),
        ('<Say loop="often">fourteen chars</Say>', 13510, 1),
        ('<Play loop="-1">/tune.mp3</Play>', 13410, 3),
        ('<Play digits="1x"/>', 13430, 0),
        ("<Play/>", 11100, 0),
        ('<Pause length="0"/>', 13910, 1),
        ('<Pause length="2.5"/>', 13910, 1),
    ],
)
def test_values_that_twilio_rejects_are_warned_about_and_replaced(
    phone: DevPhone, client: Client, application: Application, body: str, code: int, seconds: int
) -> None:
    call = answered(phone, client, application, f"{body}<Pause length='60'/>")
    phone.advance(seconds + 60)
    assert call.ended("completed").record()["duration_s"] == seconds + 60
    codes(phone, code)


def test_a_redirect_with_an_odd_method_posts(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/next", "<Say>There.</Say>")
    call = answered(phone, client, application, '<Redirect method="PUT">/next</Redirect>')
    assert call.transcript == ["There."]
    assert application.at("/next")[0].method == "POST"
    codes(phone, 13710)


@pytest.mark.parametrize("verb", ["Dial", "Record", "Enqueue", "Connect", "Pay"])
def test_verbs_that_the_phone_does_not_do_are_named(
    phone: DevPhone, client: Client, application: Application, verb: str
) -> None:
    call = answered(phone, client, application, f"<{verb}>+12125550124</{verb}><Say>Next.</Say>")
    assert call.transcript == ["Next."]
    assert f"{verb} is not something the dev phone does" in phone.expect_debugger(12200)["text"]


def test_attributes_and_children_are_those_of_twilios_own_library() -> None:
    published = shared_files.read("twiml-verbs.json")["verbs"]
    for name, attributes in twiml.ATTRIBUTES.items():
        assert set(published[name]["attributes"]) == attributes, name
    assert set(published["Gather"]["children"]) == twiml.NESTED
    assert set(published["Say"]["children"]) == twiml.SSML
    assert set(published) - set(twiml.ATTRIBUTES) <= twiml.NOT_DONE
