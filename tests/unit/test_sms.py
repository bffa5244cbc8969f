"""The text that brings the link."""

from __future__ import annotations

import re

import pytest

from handoff.models import Handoff
from handoff.states import Kind, State
from tests.shared_data import shared
from voice.sms import MAX_SEGMENTS, segments, text_for, text_with_code

LINK = "https://handoff.example/h/9XcVbNmAsDfGhJkLqWeRtY"


def text(reason: str, kind: Kind = Kind.CLEAR, agent: str = "shopper", link: str = LINK) -> str:
    """The text about a handoff with this reason."""
    return text_for(about(reason, kind, agent), link)


def about(reason: str, kind: Kind = Kind.CLEAR, agent: str = "shopper") -> Handoff:
    """A handoff with this reason."""
    return Handoff(
        id="ho_1",
        kind=kind,
        state=State.ESCALATING,
        reason=reason,
        agent=agent,
        api_key="ak_1",
        timeout_s=600,
        policy="default",
        created_at=0,
        deadline=600_000,
    )


def test_a_short_reason_makes_one_segment() -> None:
    body = text("A checkbox is blocking checkout")
    assert body == f"shopper is blocked: A checkbox is blocking checkout {LINK}"
    assert segments(body) == ("GSM-7", 1)


def test_each_kind_says_what_is_wanted() -> None:
    assert text("Which address?", Kind.ASK) == f"shopper asks: Which address? {LINK}"
    assert text("Refund 420 USD", Kind.APPROVE) == f"shopper needs your yes or no: Refund 420 USD {LINK}"


def test_typographers_characters_do_not_double_the_price() -> None:
    body = text("The \u201cpay\u201d button\u2019s gone \u2013 it\u00a0says\u2026 \uff21\uff22\uff23")
    assert body == f'shopper is blocked: The "pay" button\'s gone - it says... ABC {LINK}'
    assert segments(body) == ("GSM-7", 1)


def test_letters_of_another_language_stay_what_they_are() -> None:
    # Telephony case 58: such a text costs more, but it loses nothing.
    body = text("Falta el c\u00f3digo")
    assert f": Falta el c\u00f3digo {LINK}" in body
    assert segments(body)[0] == "UCS-2"


@pytest.mark.parametrize(
    "reason", ["word " * 200, "\u4f60\u597d " * 400, "\U0001f6d2" * 500, "x" * 100_000, "{" * 400]
)
def test_a_long_reason_is_shortened_and_the_link_is_whole(reason: str) -> None:
    # Telephony case 45.
    body = text(reason)
    encoding, count = segments(body)
    assert len(body) <= 320
    assert count <= MAX_SEGMENTS[encoding]
    assert body.endswith(f"... {LINK}")
    assert body.startswith("shopper is blocked: " + reason[:30].rstrip())


def test_the_room_is_used() -> None:
    body = text("word " * 200)
    assert segments(body) == ("GSM-7", 2)
    assert len(body) > 290


@pytest.mark.parametrize(
    "bait",
    ["https://evil.example/x", "www.evil.example", "evil.example", "EVIL.example/pay?x", "ada@evil.example"]
    + [
        "evil\u3002example",
        "198.51.100.1/x",
        "\uff45\uff56\uff49\uff4c\uff0e\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45",
    ]
    + ["ev\u200bil.ex\u202eample", "b\u00fccher.example", "sms:+12125550199", "xn--bcher-kva.example"],
)
def test_what_an_agent_wrote_never_becomes_a_second_link(bait: str) -> None:
    for body in (text(f"Go to {bait} now"), text("Go", agent=bait)):
        before = body.removesuffix(LINK)
        assert body == before + LINK
        assert before[-1] == " "
        assert "://" not in before
        assert not re.search(r"\w[.\u3002\uff0e\uff61]\w\w|sms:\+|\d/", before), before


def test_lines_and_hidden_characters_can_not_push_the_link_away() -> None:
    body = text("one\r\n\r\ntwo\u202e\u2066three\x00")
    assert body == f"shopper is blocked: one twothree {LINK}"


def test_the_link_goes_alone_when_there_is_room_for_nothing_else() -> None:
    long_link = "https://handoff.example/" + "h" * 300
    assert text("A checkbox", link=long_link) == long_link


def test_an_empty_reason_and_a_nameless_agent_still_make_a_text() -> None:
    assert text("\u200b", agent="\u200b") == f"An agent is blocked: {LINK}"


def test_a_character_of_two_places_is_not_split_over_two_parts() -> None:
    assert segments("a" * 152 + "{" + "a" * 152) == ("GSM-7", 3)
    assert segments("\u4f60" * 66 + "\U0001f6d2" + "\u4f60" * 66) == ("UCS-2", 3)


def test_segments_are_counted_as_the_published_calculator_counts_them() -> None:
    # Telephony cases 56 and 57 are among them.
    cases = shared("twilio/sms-segment-vectors.json")["cases"]
    assert len(cases) > 40
    wrong = [case["name"] for case in cases if segments(case["body"]) != (case["encoding"], case["segments"])]
    assert wrong == []


@pytest.mark.parametrize(
    "reason", ["A checkbox is blocking checkout", "word " * 200, "See https://evil.example/x now"]
)
def test_without_a_link_it_says_whom_to_call_and_what_to_enter(reason: str) -> None:
    body = text_with_code(about(reason), "+12125550100", "048291")
    assert body.endswith(" Call +1 212 555 0100 and enter 048291.")
    assert "://" not in body and ".." not in body.replace("...", "")
    encoding, count = segments(body)
    assert count <= MAX_SEGMENTS[encoding]
    short = text_with_code(about("A checkbox is in the way"), "+12125550100", "048291")
    assert short == "shopper is blocked: A checkbox is in the way. Call +1 212 555 0100 and enter 048291."
    assert segments(short) == ("GSM-7", 1)
