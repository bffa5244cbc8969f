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
        ("EUR 1,200.50", "1,200 euros and 50 cents"),
        ("USD 9.99", "9 US dollars and 99 cents"),
        ("12.50 CAD", "12 Canadian dollars and 50 cents"),
        ("$1.2M", "1.2 million dollars"),
        ("$300 million", "300 million dollars"),
        ("JPY 1,200", "1,200 yen"),
        ("-$50", "-50 dollars"),
        ("¥300", "¥300"),  # yen or yuan
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
        ("2026-11-30T18:00:30-05:00", "November 30, 2026, at 18:00:30 UTC minus 5"),
        ("0000-01-01", "0000-01-01"),
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
        ("Delete production-db-00001?", "Delete production-db 0 0 0 0 1?"),
        ("Delete staging-db-00001?", "Delete staging-db 0 0 0 0 1?"),
        ("PROD-DB-00001", "PROD-DB 0 0 0 0 1"),
        ("user-agent-john-smith-1234567", "user-agent-john-smith 1 2 3 4 5 6 7"),
        ("Delete 8f3k2c9d8f3k2c9d", "Delete the id ending in 2 c 9 d"),
        ("212-555-0123", "2 1 2 5 5 5 0 1 2 3"),
        ("USD 42000", "USD 42000"),
        ("05-12-2026", "05-12-2026"),
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
    "written",
    [
        "Refund order 1009 USD 420",
        "Refund order 1009 USD 42000",
        "Item 3 € 50",
        "Room 12 CAD 30 a night",
        "Pay $300 m. Smith",
        "Is it $4 b or $4B?",
        "EUR/USD 1.08 ok?",
        "5 EUR/USD",
        "Renew the CAD 2024 licence",
        "Convert 3 CAD drawings",
        "Retry in EUR 3 times",
        "usd 420, 420 usd",
        "Between $5-$10, $5-10, $5 - $10",
        "Pay 10 000 EUR, EUR 10 000 or € 5 000",
        "CHF 5'000",
        "$50%",
        "$007",
        "\\$50",
        "300 USD million",
    ],
)
def test_an_amount_that_may_be_another_one_stays_as_it_is(written: str) -> None:
    assert for_the_ear(written) == written


def test_a_letter_that_begins_the_next_choice_makes_no_billions() -> None:
    assert for_the_ear("Choose a) $4 b) $7") == "Choose a) $4 b) 7 dollars"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2026-11-30 18:00-20:00", "November 30, 2026 18:00-20:00"),
        ("2026-11-30 09:00 -12:30", "November 30, 2026 09:00 -12:30"),
        ("2026-11-30 10:00-11:00", "November 30, 2026 10:00-11:00"),
        ("2026-11-30T18:00-20:00", "2026-11-30T18:00-20:00"),
        ("2026-11-30..2026-12-02", "2026-11-30..2026-12-02"),
        ("2026-11-30 USD", "November 30, 2026 USD"),
    ],
)
def test_the_end_of_a_span_is_no_time_zone(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Pay ~~$500~~ $50", "Pay (crossed out: 500 dollars) 50 dollars"),
        ("~~Pay $500\nto Bob~~ pay $50", "(crossed out: Pay 500 dollars\nto Bob) pay 50 dollars"),
        ("5\u03360\u03360\u0336 50", "(crossed out: 500) 50"),
        ("~~ and ~500", "~~ and ~500"),
    ],
)
def test_what_is_struck_out_does_not_count(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("temp - 5\n- 20 °C", "temp - 5\n- 20 °C"),
        ("Balance:\n- 500 USD", "Balance:\n- 500 US dollars"),
        ("Balance:\n- 500\n+ 20", "Balance:\n- 500\n+ 20"),
        ("Balance:\n- 500 USD\n- 20 EUR", "Balance:\n500 US dollars.\n20 euros"),  # two are a list
        ("- fee\n- 20 EUR", "fee.\n20 euros"),
        ("5 EUR\n* 3 nights", "5 euros\n* 3 nights"),
        ("# 5 items", "# 5 items"),
        ("Alert if amount\n> 10,000 EUR", "Alert if amount\n> 10,000 euros"),
        ("Alert above\n> the limit", "Alert above\n> the limit"),
        ("> 5 failed logins", "> 5 failed logins"),
        ("Ben wrote:\n> pay\n> now", "Ben wrote:\npay.\nnow"),
        ("- [x] insured\n- [ ] express", "checked: insured.\nunchecked: express"),
    ],
)
def test_a_mark_before_a_number_may_be_its_sign(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("```transfer 500 EUR to Bob``` ok?", "transfer 500 euros to Bob ok?"),
        ("```DROP TABLE users```", "DROP TABLE users"),
        ("```delete\nprod\n```", "delete\nprod"),
        ("```python\nprint(5)\n```\nok?", "print(5).\nok?"),
        ("`*.pdf` or `*a` or `b*`", "*.pdf or *a or b*"),
    ],
)
def test_code_keeps_its_content(written: str, said: str) -> None:
    assert for_the_ear(written) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("build ✗, deploy ✓", "build cross mark, deploy check mark"),
        ("☑ insured ☐ express", "checked: insured, unchecked: express"),
        ("insured ☑ express ☐", "insured checked express unchecked"),
        ("❶ approve ❷ reject", "1 approve 2 reject"),
        ("1\ufe0f\u20e3Yes 2\ufe0f\u20e3No", "1 Yes 2 No"),
        ("① or 🔟, Ⓐ or 🅱", "1 or 10, A or B"),
        ("3 ✖ 4", "3 times 4"),
        ("➕ 500 ➖ 300", "plus 500 minus 300"),
        ("Ship to 🇺🇸 or 🇩🇪?", "Ship to flag U S or flag D E?"),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f?", "flag G B S C T?"),
        ("Pick 🟢 or 🔴", "Pick green circle or red circle"),
        ("Status 🔴", "Status red circle"),
        ("Rating ★★☆", "Rating black star black star white star"),
        ("Pick 🍎 or 🍐", "Pick red apple or pear"),
        ("🍎 costs 3", "red apple costs 3"),
        ("🚦", "vertical traffic light"),
        ("EUR 500 → 600, a -> b", "EUR 500 arrow 600, a arrow b"),
        ("🚨 Server down", "Server down"),
        ("See your phone 📱. Great 🎉🎉!", "See your phone. Great!"),
    ],
)
def test_only_decoration_goes(written: str, said: str) -> None:
    assert for_the_ear(written) == said


def test_ids_that_end_alike_are_told_apart() -> None:
    said = for_the_ear("Keep 3f2b8c1e-1111-4222-8333-abcdefabcdef or 4f2b8c1e-1111-4222-8333-abcdefabcdef?")
    assert "3 f 2 b 8 c" in said and "4 f 2 b 8 c" in said


def test_hidden_characters_part_no_number() -> None:
    assert for_the_ear("$4\u200b20 and $4\ue00020") == "420 dollars and 420 dollars"


#: What the corpus puts around the numbers: each pair of them once.


def test_no_number_of_the_real_reasons_is_lost() -> None:
    for written, _ in pairs():
        plain = re.sub(r"https?://\S+|[0-9a-f]{8}-\S+", "", written)
        plain = re.sub(r"\d{4}-(\d\d)-(\d\d)", lambda found: found[0].replace(f"-{found[1]}-", "-"), plain)
        said = re.sub(r"\D", "", for_the_ear(written))
        for digits in re.findall(r"\d+", plain):
            assert digits.strip("0") in said, (digits, written)
