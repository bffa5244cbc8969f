"""The people file: what it says, and how an operator is told what is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from handoff import pins, toml_lines
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
            "line 3, contacts.ada.numbers[1]: must start with + and the country code",
        ),
        (
            ADA.replace("+12125550123", "+15555"),
            "line 3, contacts.ada.numbers[1]: has too many or too few digits",
        ),
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


PLACES = {
    "a line separator in a comment ends no line": (
        "# a\u2028b\u0085c\n" + ADA.replace("numbers", "number"),
        "line 4, contacts.ada.number: is not a key",
    ),
    "lines that end the Windows way": (
        (ADA + "phone = 1\n").replace("\n", "\r\n"),
        "line 4, contacts.ada.phone: is not a key",
    ),
    "what only looks like keys, in a text of several lines": (
        '[contacts.ada]\nname = """\n[contacts.ben]\nnumbers = 1\n"""\nnumbers = ["+12125550123"]\n'
        '[contacts.ben]\nname = "Ben"\nnumbers = ["no"]\n',
        "line 9, contacts.ben.numbers[1]: must start with +",
    ),
    "the same with apostrophes, and quotes before its end": (
        '[contacts.ada]\nname = \'\'\'\n[contacts.ben]\n\'\'\'\ncaller_word = """a\\""""\nnumbers = ["no"]\n',
        "line 6, contacts.ada.numbers[1]: must start with +",
    ),
    "a name in quotes, with a dot": (
        ADA + '[contacts."a.b"]\nname = "B"\nnumbers = ["+12125550124"]\n',
        'line 4, contacts."a.b": must be lower-case letters',
    ),
    "one with an escape": (
        ADA.replace("contacts.ada", 'contacts."a\\u0064a"') + "phone = 1\n",
        "line 4, contacts.ada.phone: is not a key",
    ),
    "keys with dots": (
        'contacts.ada.name = "Ada"\ncontacts . ada . number = ["+12125550123"]\n',
        "line 1, contacts.ada.numbers: is missing",
    ),
    "tables in one line": (
        '[contacts]\nada = {name = "Ada", numbers = ["+12125550123"]}\nben = {name = "Ben"}\n',
        "line 3, contacts.ben.numbers: is missing",
    ),
    "steps in an array": (
        ADA
        + '[policies.default]\nsteps = [ # [\n  {contacts = ["ada"]},\n\n'
        + '  {contacts = ["ada"], ring_s = 1},\n]\n',
        "line 8, policies.default.steps[2].ring_s: ",
    ),
    "an array over lines": (
        ADA.replace('["+12125550123"]', '[\n  "+12125550123", # one\n  "no",\n]'),
        "line 5, contacts.ada.numbers[2]: must start with +",
    ),
    "tables of two arrays in turn": (
        ADA + '[[policies.a.steps]]\ncontacts = ["ada"]\n[[ policies . b . steps ]]\ncontacts = ["ada"]\n'
        '[[policies.a.steps]]\ncontacts = ["zed"]\n[[routes]]\npolicy = "x"\n[routes.when]\na = 1\n',
        "line 9, policies.a.steps[2].contacts: there is no contact zed",
    ),
}


@pytest.mark.parametrize(("text", "problem"), PLACES.values(), ids=PLACES)
def test_the_line_is_the_one_that_an_editor_shows(text: str, problem: str) -> None:
    with pytest.raises(BadPeople) as refused:
        parse(text)
    assert any(told.startswith(problem) for told in refused.value.problems), refused.value.problems


def test_every_key_of_the_example_stands_where_it_is_written() -> None:
    lines = toml_lines.lines_of(EXAMPLE)
    written = EXAMPLE.split("\n")

    def check(value: object, place: toml_lines.Where) -> None:
        if place:
            last = place[-1]
            assert isinstance(last, int) or last in written[lines[place] - 1], place
        inside = value.items() if isinstance(value, dict) else ()
        for key, one in inside or (enumerate(value) if isinstance(value, list) else ()):
            check(one, (*place, key))

    check(tomllib.loads(EXAMPLE), ())


def test_a_file_that_begins_as_editors_on_windows_write_it_is_the_same_file() -> None:
    assert parse("\ufeff" + ADA) == parse(ADA)


BOMBS = {
    "arrays in arrays": ADA + "x = " + "[" * 3_000,
    "closed ones": ADA + "x = " + "[" * 900 + "]" * 900,
    "tables in tables": ADA + "x = " + "{a=" * 3_000,
    "in a rule": ADA + "[[routes]]\nwhen = {a = " + "[" * 200 + "]" * 200 + '}\npolicy = "default"\n',
    "a key with many dots": ADA + "x." + "a." * 400_000 + "b = 1\n",
    "a table with many dots": "[" + "a." * 400_000 + "b]\n" + ADA,
    "a number with 5,000 digits": ADA + "ring_s = " + "9" * 5_000,
    "one that is larger than any": ADA + "ring_s = 0x" + "f" * 900_000,
    "a header of spaces": ADA + "\n[" + " " * 900_000,
    "a text without an end": ADA + 'x = """' + '\\"""' * 200_000,
    "quotes": ADA + '"' * 900_000,
    "apostrophes in lines": ADA + "'\n" * 400_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_whatever_is_in_the_file_is_refused_in_words_and_soon(text: str) -> None:
    with pytest.raises(BadPeople) as refused:
        parse(text)
    assert sum(map(len, refused.value.problems)) < 1_000


def test_what_is_wrong_a_thousand_times_is_not_told_a_thousand_times() -> None:
    with pytest.raises(BadPeople) as refused:
        parse(ADA + "".join(f"key{number} = 1\n" for number in range(1_000)))
    assert len(refused.value.problems) == 51 and refused.value.problems[-1] == "and 950 more"


OTHER = "+12125550199"
TELLING = {
    "as a contact": ADA + f'[[policies.default.steps]]\ncontacts = ["{OTHER}"]\n',
    "as people write it": ADA + '[[policies.default.steps]]\ncontacts = ["(212) 555\u2011-0199"]\n',
    "with what nobody sees": ADA + '[[policies.default.steps]]\ncontacts = ["212\\u200b5550199"]\n',
    "as a name": ADA + f'[contacts."{OTHER}"]\nname = "Ben"\nnumbers = ["+12125550124"]\n',
    "as a key": ADA + f"tel-{OTHER[1:]} = 1\n",
    "as a policy": ADA + f'[[routes]]\nwhen = {{a = 1}}\npolicy = "{OTHER}"\n',
    "twice": ADA + f'[contacts."{OTHER}"]\n[contacts."{OTHER}"]\n',
    "of two people": ADA.replace("0123", "0199") + BEN.replace("0124", "0199"),
    "in a text that is none": ADA + f"{OTHER}\n",
    "a bad one": ADA.replace("+12125550123", f"{OTHER}999999"),
}


@pytest.mark.parametrize("text", TELLING.values(), ids=TELLING)
def test_no_more_of_a_number_is_told_than_its_last_digits(text: str) -> None:
    with pytest.raises(BadPeople) as refused:
        parse(text)
    for told in refused.value.problems:
        digits = "".join(filter(str.isdigit, told.replace("+12125550123", "")))
        assert "555" not in digits, told


def test_what_is_told_drives_no_terminal_and_fills_no_screen() -> None:
    with pytest.raises(BadPeople) as refused:
        parse(ADA + f'"\\u001b[2J\\nline 1: fine{"x" * 5_000}" = 1\n')
    [told] = refused.value.problems
    assert told.isprintable() and len(told) <= 300
    assert told.startswith("line 4, contacts.ada.") and told.endswith(
        "is not a key of this file; is it misspelt?"
    )
