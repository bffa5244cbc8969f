"""Whatever an agent wrote: no number of it is lost, and the longest reason takes no more than its time."""

from __future__ import annotations

import re

import pytest

from voice import ear, markup, pictures
from voice.ear import for_the_ear

AROUND = [
    *(
        "{} USD",
        "USD {}",
        "${}",
        "€ {}",
        "{}",
        "#{}",
        "order {}",
        "- {}",
        "> {}",
        "{}.50 EUR",
        "~~{}~~",
        "*{}*",
    ),
    *(
        "`{}`",
        "```pay {}``` ok",
        "# {}",
        "[{}](https://a.example)",
        "1. {}",
        "x-{}",
        "{}k",
        "{} ✗",
        "☐ {}",
        "{} b)",
        "({})",
        "{}-",
        "/{}",
        "{}, ",
        "a{}",
        "**{}**, ",
    ),
]


@pytest.mark.parametrize("first", AROUND)
def test_no_number_is_lost(first: str) -> None:
    """What stands around it may change; a number that was written is said."""
    for second in AROUND:
        for between in (" ", "\n", ", "):
            for one, two in ((1009, 420), (3, 50), (48213, 77)):
                written = first.format(one) + between + second.format(two)
                said = for_the_ear(written)
                digits = re.sub(r"\D", "", said)
                assert str(one) in digits and str(two) in digits, (written, said)


PATTERNS = [
    found
    for module in (ear, markup, pictures)
    for found in vars(module).values()
    if isinstance(found, re.Pattern)
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=[found.pattern[:20] for found in PATTERNS])
def test_what_repeats_without_a_bound_gives_nothing_back(pattern: re.Pattern[str]) -> None:
    """A pattern that may try each length of a long run takes square time: `\\s*` before an arrow did."""
    comments = r"(?m)[ ]{2,}#.*$|^ *#.*$" if pattern.flags & re.VERBOSE else r"(?!)"
    plain = re.sub(r"\\.", "x", re.sub(comments, "", pattern.pattern))
    plain = re.sub(r"\[\^?\]?[^\]]*\]", "x", plain)
    giving = re.sub(r"(?:[*+?]|\{\d*,?\d*\})\+", "", plain)
    assert not re.findall(r"[*+]|\{\d+,\}", giving), pattern.pattern


@pytest.mark.parametrize(
    "mark",
    [
        " ",
        "\n",
        "*",
        "[(",
        "a-",
        "1,",
        "_a",
        "(",
        "a@",
        "`a",
        "1-1-",
        "$1",
        "*a ",
        "[a](",
        "#",
        "at ",
        "- 5\n",
    ]
    + ["→", "🇺", "📱🚦", "❶", "☐ a", "~~a ", ",111", "www.", "a.", "> 5\n", "`` a ` ", "()", "F🚦", "\u200b"],
)
def test_twenty_times_the_longest_reason_takes_some_twenty_times_as_long(mark: str) -> None:
    """Nothing is measured: where time grows with the square, this test takes minutes and times out."""
    for_the_ear("at" + (mark * 40_000)[:40_000] + "x")
