"""Six digits instead of a link: how a code is made, kept, typed and said."""

from __future__ import annotations

import pytest

from handoff import codes
from voice import spoken_page

KEY = "0123456789abcdef" * 4


def test_a_code_is_six_digits_and_another_one_for_every_place_person_and_number() -> None:
    made = {
        codes.derive(KEY, handoff, contact, place, number)
        for handoff in ("ho_1", "ho_2")
        for contact in ("ada", "ben")
        for place in ("at_1", "at_2")
        for number in (0, 1)
    }
    assert len(made) == 16 and all(len(code) == 6 and code.isdigit() for code in made)
    again = codes.derive(KEY, "ho_1", "ada", "at_1", 0)
    assert again in made and codes.derive(KEY[::-1], "ho_1", "ada", "at_1", 0) != again


def test_codes_are_spread_over_all_there_are_leading_zeros_too() -> None:
    made = [codes.derive(KEY, "ho_1", "ada", "at_1", number) for number in range(2_000)]
    assert {code[0] for code in made} == set("0123456789") and len(set(made)) > 1_980


def test_what_is_kept_needs_the_servers_key() -> None:
    assert codes.hashed(KEY, "482913") != codes.hashed(KEY[::-1], "482913")
    assert "482913" not in codes.hashed(KEY, "482913") and len(codes.hashed(KEY, "482913")) == 64


@pytest.mark.parametrize("typed", ["482913", " 482 913 ", "482-913", "４８２９１３", "48 29 13\t"])
def test_a_code_may_be_typed_as_people_do(typed: str) -> None:
    assert codes.tidy(typed) == "482913"


@pytest.mark.parametrize(
    "typed", ["", "48291", "4829130", "48291a", "٤٨٢٩١٣", "9" * 100_000, "*#", "²²²²²²²"]
)
def test_nothing_else_is_one(typed: str) -> None:
    assert codes.tidy(typed) is None


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://handoff.example.com/c", "handoff dot example dot com slash c"),
        ("https://on-call.example/team/c", "on dash call dot example slash team slash c"),
        ("https://h2.example:8443/c", "h 2 dot example port 8 4 4 3 slash c"),
        ("http://127.0.0.1:8010/c", "1 2 7 dot 0 dot 0 dot 1 port 8 0 1 0 slash c"),
    ],
)
def test_an_address_is_said_as_one_would_say_it_to_who_types(url: str, said: str) -> None:
    assert spoken_page.address(url) == said


def test_the_digits_are_said_apart_in_two_groups() -> None:
    said = spoken_page.open_and_enter("https://handoff.example/c", "048291")
    assert said == "Open handoff dot example slash c, and enter 0 4 8, 2 9 1."
