"""What an agent wrote, made fit for the ear."""

from __future__ import annotations

import sys
import unicodedata
from urllib.parse import quote

import pytest

from handoff.moments import DAY, HOUR, MINUTE, SECOND
from voice.speech import LIMIT, LIMIT_ENCODED, THE_REST, ago, clean, read_aloud, sentence, spaced, span, tidy


def test_ordinary_words_pass_unchanged() -> None:
    # Telephony cases 36 to 38: markup characters, accents, a typographer's quote and an emoji are words too.
    for text in (
        "Tom & Jerry <b> \"x\" 'y' ]]>",
        "caf\u00e9 t\u00fc",
        "Ada\u2019s cart \U0001f6d2",
        "3.5 or 4/5",
    ):
        assert clean(text) == text


def test_only_characters_that_xml_can_carry_and_an_ear_can_hear_are_left() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    kept = tidy(every)
    assert {unicodedata.category(char) for char in kept}.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn"})
    assert not {char for char in kept if char.isspace()} - {" "}
    assert len(kept) > 100_000


def test_hidden_characters_neither_join_nor_reverse_words() -> None:
    assert tidy("pay\u200b no\u202ething\u2066 \ufeffnow\u00ad") == "pay nothing now"
    assert tidy("one\ttwo\r\nthree\x00four\u2028five\u00a0six") == "one two three four five six"


def test_one_letter_is_one_character() -> None:
    assert tidy("cafe\u0301") == "caf\u00e9"


@pytest.mark.parametrize(
    "link",
    ["https://evil.example/x?y=1#z", "HTTP://EVIL.EXAMPLE", "www.evil.example", "evil.example/pay"]
    + [
        "ftp://198.51.100.1/",
        "198.51.100.1:8080",
        "data:text/html,x",
        "tel:+12125550123",
        "mailto:a@b.example",
    ]
    + ["https\u200b://evil.example"],
)
def test_a_link_is_never_spelled_out(link: str) -> None:
    assert tidy(f"Open {link}, then go on.") == "Open a link, then go on."


def test_a_word_and_a_number_behind_a_colon_are_no_link() -> None:
    for text in ("Send data:500 rows", "The intent:buy 3"):
        assert tidy(text) == text
    assert tidy("Open intent://scan/#Intent;end") == "Open a link"


def test_a_text_that_grows_when_it_is_said_is_cut_and_says_so() -> None:
    said = read_aloud("🚦 " * 1_000 + "pay")
    assert len(said) <= LIMIT and said.endswith(THE_REST)


def test_a_long_text_is_cut_at_a_word_and_says_so() -> None:
    cut = clean("checkout " * 200)
    assert len(cut) <= LIMIT
    assert cut.endswith(f"checkout... {THE_REST}")
    assert clean("a" * LIMIT) == "a" * LIMIT
    assert len(clean("a" * (LIMIT + 1))) <= LIMIT


def test_a_text_that_is_long_only_when_encoded_is_cut_too() -> None:
    # Twilio's error 13521: 500 emoji are well under 3,000 characters and well over 4,500 URL-encoded.
    for text in ("\U0001f6d2" * 500, "\u4f60\u597d" * 250):
        cut = clean(text)
        assert len(quote(cut)) <= LIMIT_ENCODED
        assert cut.endswith(THE_REST)


def test_what_is_left_out_before_the_text_begins_is_not_silent_either() -> None:
    assert clean("\u200b" * 100_000 + "pay") == THE_REST
    assert clean("\u200b" * 100) == ""


def test_a_sentence_ends_once() -> None:
    assert [sentence(text) for text in ("Done", "Done.", "Done?", "")] == ["Done.", "Done.", "Done?", ""]


def test_a_code_is_read_digit_by_digit() -> None:
    assert spaced("4821") == "4 8 2 1"
    assert spaced("48 21") == "4 8 2 1"


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (-5 * SECOND, "less than a minute"),
        (30 * SECOND, "less than a minute"),
        (MINUTE, "one minute"),
        (2 * MINUTE - 1, "two minutes"),
        (5 * MINUTE, "five minutes"),
        (59 * MINUTE + 45 * SECOND, "one hour"),
        (2 * HOUR, "two hours"),
        (26 * HOUR, "26 hours"),
        (3 * DAY, "three days"),
        (90 * DAY, "90 days"),
    ],
)
def test_a_span_is_said_as_a_person_would(ms: int, words: str) -> None:
    assert span(ms) == words


def test_a_moment_ago_is_just_now_and_so_is_a_clock_that_runs_ahead() -> None:
    assert [ago(ms) for ms in (-MINUTE, 0, 5 * SECOND)] == ["just now"] * 3
    assert ago(2 * MINUTE) == "two minutes ago"
