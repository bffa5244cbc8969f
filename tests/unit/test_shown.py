"""Text that is not what it looks like, on pages (https://trojansource.codes/), and moments in words."""

from __future__ import annotations

import pytest

from handoff.moments import DAY, HOUR, MINUTE, SECOND
from handoff.web.shown import moment, one_line, plain, span, suspicious


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay\u200b roll \u202etxt.exe", "pay\\u200b roll \\u202etxt.exe"),
        ("a\x00b\x1b[31m", "a\\x00b\\x1b[31m"),
        ("a\u2066b\u2069", "a\\u2066b\\u2069"),
        ("soft\u00adhyphen", "soft\\xadhyphen"),
        ("\ufeffbom", "\\ufeffbom"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("fill\u3164er", "fill\\u3164er"),
        ("line\u2028two", "line\\u2028two"),
        ("a\rb", "a\\x0db"),
        ("two\u200dwords", "two\\u200dwords"),
    ],
)
def test_what_hides_or_reorders_is_shown_as_an_escape_and_told(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert suspicious(text)


@pytest.mark.parametrize(
    "text",
    [
        "A checkbox is blocking checkout.",
        "one\ntwo\tthree\r\nfour",
        "Grüße, naïve café, 東京, שלום, مرحبا",
        "می\u200cخواهم",
        "👩\u200d💻",
        "<b>&amp;",
        "",
    ],
)
def test_honest_text_in_any_writing_is_left_as_it_is(text: str) -> None:
    assert plain(text) == text
    assert not suspicious(text)


def test_a_name_with_line_ends_stays_on_one_line() -> None:
    assert one_line("shopper\n\n  bot\t2") == "shopper bot 2"


def test_a_moment_is_said_with_its_zone() -> None:
    at = moment(1_796_061_911_000)
    assert at == {
        "iso": "2026-11-30T18:05:11+00:00",
        "text": "30 November, 18:05 UTC",
        "clock": "18:05:11",
    }


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (-5, "0 s"),
        (41 * SECOND + 999, "41 s"),
        (3 * MINUTE + 20 * SECOND, "3 min 20 s"),
        (2 * MINUTE, "2 min"),
        (2 * HOUR + 5 * MINUTE + 59 * SECOND, "2 h 5 min"),
        (3 * DAY + 4 * HOUR, "3 d 4 h"),
    ],
)
def test_a_span_is_said_in_two_units_at_most(ms: int, words: str) -> None:
    assert span(ms) == words
