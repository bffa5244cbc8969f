"""Every error code that the dev phone uses is one of Twilio's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import devphone

from . import shared_files

ELSEWHERE = {
    code: f"https://www.twilio.com/docs/api/errors/{code}"
    for code in (
        *(11100, 13312, 13321, 13322, 13327, 13328, 13329, 13330, 13331, 13332, 13333, 13334, 13410, 13430),
        13810,
        *(14101, 14102, 14103, 14104, 14105, 14106, 14109, 14111, 15004, 20004, 20009, 21234, 21266),
        *(21402, 21623, 21626),
        *(30036, 30400, 30409, 32018, 32019, 35111, 35114, 35118, 35126),
    )
}
"""Codes that the table in `shared` leaves out, and Twilio's page for each."""
NO_CODES = {
    10_000: "a limit of ours, or milliseconds",
    14_400: "seconds of a call",
    15_000: "milliseconds of a webhook",
    20_000: "entries that the journal keeps",
    36_000: "seconds that a text is valid",
    65_535: "the last character of 16 bits, the last port",
    65_536: "bytes of a document",
}


def numbers() -> Iterator[tuple[int, str]]:
    """Every whole number from 10000 to 69999 in the sources, and where it stands."""
    root = Path(devphone.__file__).parent
    for module in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and type(node.value) is int and 10_000 <= node.value < 70_000:
                yield node.value, f"{module.relative_to(root)}:{node.lineno}"


def test_every_code_is_in_twilios_dictionary() -> None:
    table = {entry["code"] for entry in shared_files.read("error-codes.json")["codes"]}
    known = table | set(ELSEWHERE) | set(NO_CODES)
    assert [where for number, where in numbers() if number not in known] == []


def test_the_lists_name_nothing_that_is_not_used() -> None:
    table = {entry["code"] for entry in shared_files.read("error-codes.json")["codes"]}
    used = {number for number, _ in numbers()}
    assert sorted((set(ELSEWHERE) | set(NO_CODES)) - used) == []
    assert sorted(set(ELSEWHERE) & table) == []
