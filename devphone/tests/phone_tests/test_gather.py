"""Gather for keys, key by key and second by second.

Sources: https://www.twilio.com/docs/voice/twiml/gather, and two bugs that others had
(jambonz-feature-server issues 1306 and 1311).
"""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .answered_call import answered, codes, entered
from .stub_application import Application

FOURTEEN_SECONDS = "a" * 196


def test_the_clock_restarts_with_every_key(phone: DevPhone, client: Client, application: Application) -> None:
    call = answered(phone, client, application, '<Gather timeout="5" action="/key"/>')
    phone.advance(4.5)
    call.press("1")
    phone.advance(4.5)
    call.press("2")
    phone.advance(4)
    assert entered(application) == []
    call.press("#").ended("completed")
    assert entered(application) == ["12"]


def test_one_key_during_the_prompt_is_sent_after_the_timeout(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = f'<Gather numDigits="3" timeout="5" action="/key"><Say>{FOURTEEN_SECONDS}</Say></Gather>'
    call = answered(phone, client, application, body)
    phone.advance(2)
    call.press("7")
    phone.advance(4.9)
    assert entered(application) == []
    phone.advance(0.1)
    assert entered(application) == ["7"]
    call.ended("completed")


def test_a_key_half_a_second_into_the_message_stops_it_and_counts(
    phone: DevPhone, client: Client, application: Application
) -> None:
    body = f'<Gather numDigits="1" action="/key"><Say>{FOURTEEN_SECONDS}</Say><Say>Second.</Say></Gather>'
    call = answered(phone, client, application, body)
    phone.advance(0.5)
    call.press("1").ended("completed")
    assert entered(application) == ["1"]
    assert "Second." not in call.transcript


def test_the_timeout_begins_when_the_last_nested_verb_is_over(
    phone: DevPhone, client: Client, application: Application
) -> None:
    prompt = f'<Say>{FOURTEEN_SECONDS}</Say><Pause length="2"/>'
    body = f'<Gather timeout="5" action="/key">{prompt}</Gather><Say>Nobody?</Say>'
    call = answered(phone, client, application, body)
    phone.advance(20.9)
    assert "Nobody?" not in call.transcript
    phone.advance(0.1)
    assert call.transcript[-1] == "Nobody?"
    assert entered(application) == []


def test_a_prompt_that_may_not_be_interrupted_plays_to_its_end(
    phone: DevPhone, client: Client, application: Application
) -> None:
    prompt = f"<Say>{FOURTEEN_SECONDS}</Say><Say>Now.</Say>"
    body = f'<Gather numDigits="1" bargeIn="false" action="/key">{prompt}</Gather>'
    call = answered(phone, client, application, body)
    phone.advance(1)
    call.press("1")
    phone.advance(13.5)
    assert call.transcript[-1] == "Now."
    assert entered(application) == []
    call.press("2").ended()
    assert entered(application) == ["2"]


def test_num_digits_ends_it_at_once_and_further_keys_are_lost(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/key", '<Pause length="9"/>')
    call = answered(phone, client, application, '<Gather numDigits="2" action="/key"/>')
    call.press("1234")
    phone.settle()
    assert entered(application) == ["12"]
    assert call.record()["keys"] == "1234"


def test_a_key_pressed_while_the_action_is_thinking_is_lost(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/key", '<Gather numDigits="1" action="/second"><Pause length="9"/></Gather>')
    call = answered(phone, client, application, '<Gather numDigits="1" action="/key"/>')
    call.press("12")
    phone.settle()
    assert application.at("/second") == []
    call.press("3").ended()
    assert entered(application, path="/second") == ["3"]


@pytest.mark.parametrize(
    ("attributes", "keys", "digits"),
    [
        ('finishOnKey="*"', "1#*", "1#"),
        ('finishOnKey="" numDigits="3"', "*#0", "*#0"),
        ("", "A1#", "A1"),
        ('finishOnKey="5"', "1#5", "1#"),
    ],
)
def test_the_finish_key_is_not_among_the_digits(
    phone: DevPhone, client: Client, application: Application, attributes: str, keys: str, digits: str
) -> None:
    call = answered(phone, client, application, f'<Gather {attributes} action="/key"/>')
    call.press(keys).ended("completed")
    assert entered(application) == [digits]


@pytest.mark.parametrize("keys", ["", "#"])
def test_nothing_or_only_the_finish_key_goes_on_with_the_next_verb(
    phone: DevPhone, client: Client, application: Application, keys: str
) -> None:
    call = answered(phone, client, application, '<Gather action="/key"/><Say>Once more.</Say>')
    if keys:
        call.press(keys)
    else:
        phone.advance(5)
    assert call.transcript == ["Once more."]
    assert entered(application) == []


@pytest.mark.parametrize(("keys", "after_s"), [("", 5), ("#", 0)])
def test_an_empty_result_calls_the_action_when_asked_to(
    phone: DevPhone, client: Client, application: Application, keys: str, after_s: int
) -> None:
    body = '<Gather actionOnEmptyResult="true" action="/key"/><Say>Never said.</Say>'
    call = answered(phone, client, application, body)
    if keys:
        call.press(keys)
    phone.advance(after_s)
    call.ended("completed")
    assert entered(application) == [None]
    assert call.transcript == []


def test_the_default_action_is_the_present_document(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application, '<Gather numDigits="1"/>').press("4")
    phone.settle()
    assert entered(application, path="/voice") == [None, "4"]
    call.hang_up()


def test_the_action_is_asked_with_the_method_given_and_relative_to_the_document(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/deep/er/menu", '<Gather numDigits="1" action="key" method="GET"/>')
    call = answered(phone, client, application, "<Redirect>/deep/er/menu?step=2</Redirect>")
    call.press("1").ended()
    assert [hook.method for hook in application.at("/deep/er/key")] == ["GET"]
    assert entered(application, path="/deep/er/key") == ["1"]


def test_verbs_behind_the_gather_are_dead_once_the_action_was_called(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/key", "<Say>Alive.</Say>")
    call = answered(phone, client, application, '<Gather numDigits="1" action="/key"/><Say>Dead.</Say>')
    call.press("1")
    phone.advance(60)
    call.ended("completed")
    assert call.transcript == ["Alive."]


def test_keys_outside_a_gather_are_lost(phone: DevPhone, client: Client, application: Application) -> None:
    body = '<Pause length="3"/><Gather numDigits="1" action="/key"/><Say>Nothing came.</Say>'
    call = answered(phone, client, application, body)
    phone.advance(1)
    call.press("1")
    phone.advance(30)
    assert entered(application) == []
    assert call.transcript == ["Nothing came."]


def test_a_menu_that_is_asked_five_times_hears_five_answers(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/key", "<Redirect>/voice</Redirect>")
    call = answered(phone, client, application, '<Gather numDigits="1" action="/key"/>')
    for _ in range(5):
        call.press("9")
        phone.settle()
    assert entered(application) == ["9"] * 5
    assert len(application.at("/voice")) == 6


def test_values_that_twilio_rejects_are_warned_about_and_replaced(
    phone: DevPhone, client: Client, application: Application
) -> None:
    bad = (
        'timeout="soon" numDigits="0" finishOnKey="x" input="touch" actionOnEmptyResult="1" bargeIn="no" '
        'method="PUT"'
    )
    call = answered(phone, client, application, f'<Gather action="/key" {bad}/><Say>Anyone?</Say>')
    codes(phone, 13326, 13310, 13338, 13313, 13314, 13332, 13312)
    phone.advance(5)
    assert call.transcript == ["Anyone?"]


def test_a_verb_that_can_not_be_nested_is_skipped(
    phone: DevPhone, client: Client, application: Application
) -> None:
    call = answered(phone, client, application, "<Gather><Hangup/><Say>Press one.</Say></Gather>")
    assert call.transcript == ["Press one."]
    codes(phone, 12200)


def test_nested_sounds_have_their_own_complaints(
    phone: DevPhone, client: Client, application: Application
) -> None:
    answered(phone, client, application, '<Gather><Say voice="nobody" loop="often">Press one.</Say></Gather>')
    codes(phone, 13321, 13322)
