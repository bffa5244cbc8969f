"""What an agent wrote, as the voice says it: real reasons in a file for people to read, and rule by rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from voice.ear import for_the_ear
from voice.speech import IN_THE_TEXT, LIMIT, read_aloud, sentences

SPOKEN = Path(__file__).parents[1] / "data" / "spoken_reasons.txt"


def pairs() -> list[tuple[str, str]]:
    """Each reason of the file and what is said of it. `\\n` stands for a line break of the agent's."""
    blocks = re.split(r"\n{2,}", SPOKEN.read_text().partition("\n\n")[2].strip())
    found = [block.split("\n") for block in blocks]
    return [(written.replace("\\n", "\n"), said.removeprefix("    ")) for written, said in found]


@pytest.mark.parametrize(("written", "said"), pairs(), ids=[written[:40] for written, _ in pairs()])
def test_real_reasons_are_said_as_the_file_has_them(written: str, said: str) -> None:
    assert read_aloud(written) == said


def test_the_file_has_twenty_reasons_and_more() -> None:
    assert len(pairs()) >= 20


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("$5", "5 dollars"),
        ("$1", "1 dollar"),
        ("$0.05", "5 cents"),
        ("£1.01", "1 pound and 1 penny"),
        ("€1,200.50", "1,200 euros and 50 cents"),
        ("420 USD", "420 US dollars"),
        ("EUR 3", "3 euros"),
        ("$1.2M", "1.2 million dollars"),
        ("¥300", "300 yen"),
        ("1.200,50 €", "1.200,50 €"),
        ("$1.234", "$1.234"),
        ("R$ 5", "R$ 5"),
    ],
)
def test_amounts_are_said_as_people_say_them_or_left_alone(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2026-11-30", "November 30, 2026"),
        ("2026-11-30T09:05:00Z", "November 30, 2026, at 9:05 UTC"),
        ("2026-11-30 18:00", "November 30, 2026, at 18:00"),
        ("2026-11-30T18:00+05:30", "November 30, 2026, at 18:00 UTC plus 5 hours 30"),
        ("2026-11-31", "2026-11-31"),
        ("0000-01-01", "January 1, 0"),
        ("11/12/2026", "11/12/2026"),
        ("2026-11-30-7", "2026-11-30-7"),
    ],
)
def test_dates_that_can_mean_one_day_only_are_said(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("482913", "4 8 2 9 1 3"),
        ("0042", "0 0 4 2"),
        ("order 1009", "order 1009"),
        ("#1009", "number 1 0 0 9"),
        ("8f3k2", "8 f 3 k 2"),
        ("INV-2024-0042", "I N V 2 0 2 4 0 0 4 2"),
        ("id 3f2b8c1e-1111-4222-8333-abcdefabcdef", "id ending in c d e f"),
        ("+12125550123", "plus 1 2 1 2 5 5 5 0 1 2 3"),
        ("12345.67", "12345.67"),
        ("192.168.0.1:8000", "192.168.0.1:8000"),
        ("12,345", "12,345"),
        ("iPhone 15, MP3, H2O, GPT-4, 3rd, v2.1.0, web-12, us-east-1a, 2FA, 10am, 500MB", None),
    ],
)
def test_ids_are_spelled_and_words_are_not(written: str, said: str | None) -> None:
    assert for_the_ear(written) == (written if said is None else said)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("at https://www.partner.example/cart?id=9.", "on a page at partner.example."),
        ("(see https://a.example/x)", "(see a page at a.example)"),
        ("https://bank.example@evil.example/", "a page at evil.example"),
        ("https://xn--pple-43d.com/", "a page"),
        ("Log in at https://10.0.0.1", "Log in on a page"),
        ("http://127.0.0.1:8000/x", "a page"),
        ("https://[", "a page"),
        ("ada@example.com", "ada at example.com"),
    ],
)
def test_an_address_is_named_by_its_place_or_not_at_all(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    "plain",
    [
        "2 * 3 * 4",
        "snake_case_name",
        "a < b > c",
        "5 - 3",
        "Is it 50% or 60%?",
        "café, naïve, 20 °C",
        "C# and F#",
    ],
)
def test_what_only_looks_like_markup_stays(plain: str) -> None:
    assert for_the_ear(plain) == plain


def test_a_long_reason_is_cut_after_a_sentence_and_says_where_the_rest_is() -> None:
    said = read_aloud("The checkout is blocked. " * 60, rest=IN_THE_TEXT)
    assert len(said) <= LIMIT and said.endswith(f"The checkout is blocked. {IN_THE_TEXT}")
    assert "..." not in said


def test_a_long_reason_without_an_end_is_cut_at_a_word() -> None:
    assert read_aloud("wall " * 300).endswith("wall... The link shows the rest.")


def test_slowly_is_one_sentence_after_the_other() -> None:
    assert sentences("It is blocked. Is it you? Press one") == ["It is blocked.", "Is it you?", "Press one"]


@pytest.mark.parametrize(
    "mark", ["*", "[(", "a-", "1,", "_a", "(", "a@", "`a", "1-1-", "$1", "*a ", "[a](", "#"]
)
def test_no_text_takes_long(mark: str) -> None:
    """With the longest reason there is, what takes square or worse time takes seconds."""
    for_the_ear((mark * 2_000)[:2_000])
