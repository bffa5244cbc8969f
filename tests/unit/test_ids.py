"""Ids: their shape, that no two are alike, and what does not count as one."""

from __future__ import annotations

import re

import pytest

from handoff import ids


@pytest.mark.parametrize("kind", [ids.HANDOFF, ids.ATTEMPT, ids.CALL, ids.API_KEY])
def test_an_id_names_its_kind_and_has_22_letters_and_digits(kind: str) -> None:
    made = ids.new_id(kind)
    assert re.fullmatch(rf"{kind}_[0-9A-Za-z]{{22}}", made)
    assert ids.is_id(made, kind)
    assert not any(ids.is_id(made, other) for other in ("ho", "at", "ca", "ak") if other != kind)


def test_ten_thousand_ids_are_all_different_and_use_the_whole_alphabet() -> None:
    made = {ids.new_id(ids.HANDOFF) for _ in range(10_000)}
    assert len(made) == 10_000
    assert len(set("".join(one[3:] for one in made))) == 62


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ho_",
        "ho_" + "a" * 21,
        "ho_" + "a" * 23,
        "ho_" + "a" * 21 + "\n",
        "ho_" + "a" * 22 + "\n",
        "ho_" + "a" * 21 + "é",
        "ho_" + "a" * 21 + "\u0661",  # a digit, and not one of ours
        "HO_" + "a" * 22,
        "ho_" + "../" * 7 + "a",
        " ho_" + "a" * 22,
        "at_" + "a" * 22,
    ],
)
def test_what_is_no_handoff_id_is_never_looked_up(text: str) -> None:
    assert not ids.is_id(text, ids.HANDOFF)


@pytest.mark.parametrize("name", ["a", "7", "checkout-bot", "shop.eu_1", "a" * 64])
def test_names_that_an_agent_may_have(name: str) -> None:
    assert ids.AGENT_NAME.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["", "-bot", "bot-", ".", "Bot", "a b", "a:b", "a{b}", "é", "a" * 65, "bot\n"]
)
def test_names_that_could_break_a_key_or_can_not_be_read_out(name: str) -> None:
    assert not ids.AGENT_NAME.fullmatch(name)
