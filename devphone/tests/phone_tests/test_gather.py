"""Gather, key by key and second by second, on the bare engine.

Sources: https://www.twilio.com/docs/voice/twiml/gather, and two bugs that others had
(jambonz-feature-server issues 1306 and 1311).
"""

from __future__ import annotations

import pytest

from .pure_call import APP, PureCall

FOURTEEN_SECONDS = "a" * 196


def test_the_clock_restarts_with_every_key() -> None:
    call = PureCall('<Gather timeout="5" action="/key"/>')
    call.to(4.5).press("1").to(9).press("2").to(13).press("#")
    assert call.actions == [(13, "/key", "12")]


def test_one_key_during_the_prompt_is_sent_after_the_timeout() -> None:
    call = PureCall(f'<Gather numDigits="3" timeout="5" action="/key"><Say>{FOURTEEN_SECONDS}</Say></Gather>')
    call.to(2).press("7").to(60)
    assert call.actions == [(7, "/key", "7")]


def test_a_key_stops_the_prompt_and_counts() -> None:
    call = PureCall(
        f'<Gather numDigits="1" action="/key"><Say>{FOURTEEN_SECONDS}</Say><Say>Second.</Say></Gather>'
    )
    call.to(0.5).press("1").to(60)
    assert call.actions == [(0.5, "/key", "1")]
    assert "Second." not in call.said


def test_the_timeout_begins_when_the_last_nested_verb_is_over() -> None:
    prompt = f'<Say>{FOURTEEN_SECONDS}</Say><Pause length="2"/>'
    call = PureCall(f'<Gather timeout="5" action="/key">{prompt}</Gather><Say>Nobody?</Say>')
    call.to(20.9)
    assert "Nobody?" not in call.said
    call.to(21)
    assert call.said[-1] == "Nobody?"
    assert call.actions == []


def test_num_digits_ends_it_at_once_and_further_keys_are_lost() -> None:
    call = PureCall('<Gather numDigits="2" action="/key"/>')
    call.press("1234")
    assert call.actions == [(0, "/key", "12")]
    assert call.call.keys == "1234"


def test_the_finish_key_is_not_among_the_digits() -> None:
    assert PureCall('<Gather finishOnKey="*" action="/key"/>').press("1#*").actions == [(0, "/key", "1#")]


def test_with_an_empty_finish_key_every_key_is_a_digit() -> None:
    call = PureCall('<Gather finishOnKey="" numDigits="3" action="/key"/>').press("*#0")
    assert call.actions == [(0, "/key", "*#0")]


@pytest.mark.parametrize("keys", ["", "#"])
def test_nothing_or_only_the_finish_key_goes_on_with_the_next_verb(keys: str) -> None:
    call = PureCall('<Gather action="/key"/><Say>Once more.</Say>')
    if keys:
        call.press(keys)
    call.to(5)
    assert call.said == ["Once more."]
    assert call.actions == []


@pytest.mark.parametrize(("keys", "at"), [("", 5), ("#", 0)])
def test_an_empty_result_calls_the_action_when_asked_to(keys: str, at: int) -> None:
    call = PureCall('<Gather actionOnEmptyResult="true" action="/key"/><Say>Never said.</Say>')
    if keys:
        call.press(keys)
    call.to(30)
    assert call.actions == [(at, "/key", None)]
    assert call.said == []


def test_the_default_action_is_the_present_document() -> None:
    call = PureCall('<Gather numDigits="1"/>').press("4")
    assert call.actions == [(0, "/voice", "4")]


def test_the_action_is_asked_with_the_method_given_and_relative_to_the_document() -> None:
    asking = '<Gather numDigits="1" action="key" method="GET"/>'
    call = PureCall("<Redirect>/deep/er/menu?step=2</Redirect>", **{"deep/er/menu?step=2": asking}).press("1")
    last = call.asked[-1][1]
    assert (last.url, last.method) == (f"{APP}/deep/er/key", "GET")


def test_verbs_behind_the_gather_are_dead_once_the_action_was_called() -> None:
    call = PureCall('<Gather numDigits="1" action="/key"/><Say>Dead.</Say>', key="<Say>Alive.</Say>")
    call.press("1").to(60)
    assert call.said == ["Alive."]
    assert call.call.status == "completed"


def test_keys_outside_a_gather_are_lost() -> None:
    call = PureCall('<Pause length="3"/><Gather numDigits="1" action="/key"/><Say>Nothing came.</Say>')
    call.to(1).press("1").to(30)
    assert call.actions == []
    assert call.said == ["Nothing came."]


def test_a_gather_for_speech_takes_no_keys() -> None:
    call = PureCall('<Gather input="speech" action="/key"/><Say>Nothing came.</Say>').press("1").to(30)
    assert call.actions == []


def test_values_that_twilio_rejects_are_warned_about_and_replaced() -> None:
    call = PureCall(
        '<Gather timeout="soon" numDigits="0" finishOnKey="x" input="touch" actionOnEmptyResult="1"/>'
    )
    assert call.warnings == [13326, 13310, 13338, 13313, 13314]


def test_an_unknown_nested_verb_is_skipped() -> None:
    call = PureCall('<Gather action="/key"><Hangup/><Say>Press one.</Say></Gather>')
    assert call.said == ["Press one."]
    assert call.warnings == [12200]


def test_a_text_that_is_empty_or_too_long_is_not_said() -> None:
    call = PureCall(f"<Say/><Say>{'a' * 4097}</Say><Say>Good.</Say>")
    assert call.said == ["Good."]
    assert call.warnings == [13520, 13521]


def test_a_loop_that_asks_five_times_hears_five_answers() -> None:
    call = PureCall('<Gather numDigits="1" action="/key"/>', key="<Redirect>/voice</Redirect>")
    call.press("9").press("9").press("9").press("9").press("9")
    assert [path for _, path, _ in call.actions] == ["/key", "/voice"] * 5
