"""The people file: what it says, and how an operator is told what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from handoff import pins
from handoff.people_file import BadPeople, parse
from handoff.policy import People

EXAMPLE = (Path(__file__).parents[2] / "people.example.toml").read_text()
ADA = '[contacts.ada]\nname = "Ada"\nnumbers = ["+12125550123"]\n'
BEN = '[contacts.ben]\nname = "Ben"\nnumbers = ["+12125550124"]\n'


def ladder(people: People, policy: str = "default") -> list[list[str]]:
    found = people.policy(policy)
    assert found is not None
    return [[one.id for one in step.contacts] for step in found.steps]


def test_the_example_reads_as_it_says() -> None:
    people = parse(EXAMPLE)
    assert [one.name for one in people.contacts] == ["Ada", "Ben", "Cy"]
    assert people.contacts[0].numbers == ("+12125550123", "+12125550126")
    assert ladder(people) == [["ada"], ["ben"], ["cy"]] and people.default.rounds == 2
    assert [step.wait_s for step in people.default.steps] == [60, 0, 0]
    assert ladder(people, "payments") == [["ben", "cy"]]
    assert people.routed({"team": "payments"}).name == "payments"


def test_without_policies_everybody_is_rung_in_turn() -> None:
    assert ladder(parse(ADA + BEN)) == [["ada"], ["ben"]]


def test_the_wait_of_a_step_in_turn_follows_the_last_of_its_people() -> None:
    steps = '[[policies.default.steps]]\ncontacts = ["ada", "ben"]\nring = "in turn"\nwait_s = 90\n'
    assert [step.wait_s for step in parse(ADA + BEN + steps).default.steps] == [0, 90]


@pytest.mark.parametrize(
    ("metadata", "policy"),
    [
        ({"team": "payments", "more": 1}, "payments"),
        ({"team": "Payments"}, "default"),
        ({}, "default"),
        ({"paid": True, "team": "x"}, "paid"),
        ({"paid": 1}, "default"),
    ],
    ids=["one more value", "other case", "nothing", "second rule", "1 is not true"],
)
def test_rules_choose_by_what_the_metadata_has(metadata: dict[str, object], policy: str) -> None:
    step = 'contacts = ["ben"]\n'
    rules = (
        f"[[policies.payments.steps]]\n{step}[[policies.paid.steps]]\n{step}"
        '[[routes]]\nwhen = {team = "payments"}\npolicy = "payments"\n'
        '[[routes]]\nwhen = {paid = true}\npolicy = "paid"\n'
    )
    assert parse(ADA + BEN + rules).routed(metadata).name == policy


def test_a_pin_is_kept_as_a_hash_and_is_in_no_text() -> None:
    kept = pins.kept("482913")
    people = parse(ADA + f'pin = "{kept}"\n')
    (ada,) = people.contacts
    assert pins.matches("482913", ada.pin) and not pins.matches("482914", ada.pin)
    assert kept != pins.kept("482913"), "each has a salt of its own"
    assert kept not in repr(people)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "contacts: is missing"),
        ("[contacts.ada\n", "line 1"),
        (ADA + 'phone = "x"\n', "line 4, contacts.ada.phone: is not a key of this file; is it misspelt?"),
        (
            ADA.replace("+1212", "1212"),
            "line 3, contacts.ada.numbers[1]: must be a full number with its plus",
        ),
        (ADA.replace("+12125550123", "+15555"), "line 3, contacts.ada.numbers[1]: must be a full number"),
        (ADA.replace('["+12125550123"]', "3161234567"), "line 3, contacts.ada.numbers: "),
        ('[contacts.ada]\nname = "Ada"\n', "line 1, contacts.ada.numbers: is missing"),
        (ADA.replace("contacts.ada", "contacts.Ada"), "contacts.Ada: must be lower-case letters"),
        (ADA.replace('"Ada"', '"A\\u202ed"'), "line 2, contacts.ada.name: must be one line of printable"),
        (ADA + 'pin = "482913"\n', "line 4, contacts.ada.pin: must be what `handoff pin` prints"),
        (ADA + BEN.replace("0124", "0123"), "line 6, contacts.ben.numbers: …0123 is also ada's"),
        (ADA + BEN.replace("0124", "0100"), "line 6, contacts.ben.numbers: …0100 is the number that calls"),
        (
            ADA + '[[policies.default.steps]]\ncontacts = ["ada", "eve"]\n',
            "line 5, policies.default.steps[1].contacts: there is no contact eve",
        ),
        (
            ADA
            + '[[policies.p.steps]]\ncontacts = ["ada"]\n'
            + '[[policies.p.steps]]\ncontacts = ["ada"]\nring_s = 0\n',
            "line 8, policies.p.steps[2].ring_s: ",
        ),
        (ADA + "[policies.p]\nrounds = 2\n", "line 4, policies.p.steps: is missing"),
        (
            ADA + '[[routes]]\nwhen = {a = 1}\npolicy = "p"\n',
            "line 6, routes[1].policy: there is no policy p",
        ),
    ],
)
def test_what_is_wrong_is_told_with_line_and_key(text: str, problem: str) -> None:
    with pytest.raises(BadPeople) as refused:
        parse(text, not_number="+12125550100")
    assert any(problem in told for told in refused.value.problems), refused.value.problems
    assert "482913" not in str(refused.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BadPeople) as refused:
        parse(ADA + 'phone = "x"\n' + BEN + 'wife = "y"\n')
    assert [told.partition(":")[0] for told in refused.value.problems] == [
        "line 4, contacts.ada.phone",
        "line 8, contacts.ben.wife",
    ]
