"""Who can be reached: numbers as operators write them, names, and the ladder made of them."""

from __future__ import annotations

import pytest

from handoff.people import BadNumber, mask, of_environment, parse_people, parse_phone, with_pins


@pytest.mark.parametrize(
    ("written", "e164"),
    [
        ("+12125550123", "+12125550123"),
        ("+1 (212) 555-0123", "+12125550123"),
        ("+1.212.555.0123", "+12125550123"),
        ("+1\u2011212\u2013555\u20140123", "+12125550123"),
        (" +44 20 7946 0123 ", "+442079460123"),
        ("+49\u00a030\u00a023125000", "+493023125000"),
    ],
)
def test_numbers_as_people_write_them_become_e164(written: str, e164: str) -> None:
    assert parse_phone(written) == e164


@pytest.mark.parametrize(
    "written",
    [
        "",
        "+",
        "2125550123",
        "0012125550123",
        "+02125550123",
        "+1212555012",
        "+121255501234",
        "+1234567890123456",
        "+99912345678",
        "+1212555012٣",
        "+1212KLONDIKE",
        "+12125550123;ext=5",
        "tel:+12125550123",
        "+12125550123\x00",
        "client:ada",
        "911",
    ],
)
def test_what_can_not_be_called_is_refused(written: str) -> None:
    with pytest.raises(BadNumber):
        parse_phone(written)


def test_the_order_is_the_order_of_ringing_and_names_are_optional() -> None:
    people = parse_people("Ada = +12125550123, +12125550124,Ben=+12125550125,")
    assert [(one.id, one.name) for one in people] == [
        ("ada", "Ada"),
        ("contact-2", "contact 2"),
        ("ben", "Ben"),
    ]


def test_two_people_of_one_name_stay_apart() -> None:
    people = parse_people("Ada=+12125550123,ada=+12125550124,Ada=+12125550125")
    assert len({one.id for one in people}) == 3


def test_ids_stay_apart_even_when_somebody_is_named_like_another_id() -> None:
    people = parse_people("Ada=+12125550121,Ada 3=+12125550122,Ada=+12125550123")
    assert len({one.id for one in people}) == 3


def test_a_name_in_any_script_is_kept_and_its_id_is_plain() -> None:
    (one,) = parse_people("Zoë Müller=+12125550123")
    assert one.name == "Zoë Müller"
    (other,) = parse_people("李=+12125550123")
    assert (other.id, other.name) == ("contact-1", "李")


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("Ada=+12125550123,Ben=12", "entry 2"),
        ("+1", "entry 1"),
        ("Ada=+14155550199,Ben=+1 415 555 0199", "entry 2"),
        ("Ada=+14155550199," + "B" * 41 + "=+12125550124", "entry 2"),
        ("A\x07da=+12125550123", "entry 1"),
    ],
)
def test_a_problem_names_the_entry_and_not_the_number(text: str, entry: str) -> None:
    with pytest.raises(BadNumber, match=entry) as refused:
        parse_people(text)
    assert "4155550199" not in str(refused.value) and refused.value.__cause__ is None


@pytest.mark.parametrize("text", ["", " ", ",", ",,"])
def test_nobody_to_call_is_refused(text: str) -> None:
    with pytest.raises(BadNumber, match="nobody"):
        parse_people(text)


def test_a_masked_number_shows_its_last_four_digits() -> None:
    assert mask("+12125550123") == "…0123"


def test_everybody_is_rung_in_turn_for_the_same_time() -> None:
    policy = of_environment(parse_people("Ada=+12125550123,Ben=+12125550124"), 25, 2).default
    assert [[contact.id for contact in step.contacts] for step in policy.steps] == [["ada"], ["ben"]]
    assert {step.ring_s for step in policy.steps} == {25} and policy.rounds == 2


def test_every_web_process_keeps_a_pin_alike_and_another_pin_otherwise() -> None:
    """A page that was opened with a PIN is opened in all of them, until it is another one."""
    people = parse_people("Ada=+12125550123")

    def kept(pin: str, server_key: str = "k" * 32) -> str | None:
        return with_pins(people, f"ada={pin}", server_key)[0].pin

    assert kept("482913") == kept("482913")
    assert len({kept("482913"), kept("482914"), kept("482913", "other" * 8)}) == 3
