"""What a browser carries between two requests: sealed, for one purpose, with an end."""

from __future__ import annotations

import pytest

from handoff.sessions import seal, unseal

NOW = 1_800_000_000_000
KEY, OLD, OTHER = "k" * 32, "o" * 32, "x" * 32


def test_what_was_sealed_is_known_again_until_its_time_is_over() -> None:
    text = seal(KEY, "operator", "ak_1|ö", NOW + 1_000)
    assert unseal([KEY], "operator", text, NOW) == "ak_1|ö"
    assert unseal([KEY], "operator", text, NOW + 999) == "ak_1|ö"
    assert unseal([KEY], "operator", text, NOW + 1_000) is None


def test_a_rotated_key_ends_no_session_while_it_is_still_listed() -> None:
    text = seal(OLD, "operator", "ak_1", NOW + 1)
    assert unseal([KEY, OLD], "operator", text, NOW) == "ak_1"
    assert unseal([KEY], "operator", text, NOW) is None


def test_a_seal_for_one_purpose_is_none_for_another() -> None:
    assert unseal([KEY], "pin", seal(KEY, "operator", "ak_1", NOW + 1), NOW) is None


@pytest.mark.parametrize(
    "forged",
    [
        "",
        ".",
        "x",
        "é.é",
        "=.=",
        "%00",
        "AAAA." + "0" * 64,
        "\ud800",
        seal(OTHER, "operator", "ak_1", NOW + 1),
        seal(KEY, "operator", "ak_1", NOW + 1)[:-1],
        seal(KEY, "operator", "ak_1", NOW + 1) + "0",
        "A" + seal(KEY, "operator", "ak_1", NOW + 1),
    ],
)
def test_what_was_not_sealed_by_us_is_nobody_and_no_error(forged: str) -> None:
    assert unseal([KEY], "operator", forged, NOW) is None


def test_an_end_can_not_be_moved_into_the_subject() -> None:
    text = seal(KEY, "pin", f"{NOW + 9}|ada", NOW - 1)
    assert unseal([KEY], "pin", text, NOW) is None
