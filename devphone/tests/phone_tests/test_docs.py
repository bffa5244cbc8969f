"""The documentation names all there is: requests, deeds, faults, behaviours, options; and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import get_args

import httpx2
import pytest

from devphone import testing
from devphone.clock import ManualClock
from devphone.driver import Driver
from devphone.engine.phones import Behaviour, Phone, Texts
from devphone.settings import Settings
from devphone.web.app import create_app

from .conftest import ACCOUNT, TOKEN
from .documentation import BEHAVIOUR, CONTROL_API, README, code_block, headings, names, part, rows

ON = {
    "creates": {"calls", "messages"},
    "calls": {"calls"},
    "all": {"calls", "messages", "inbound_calls", "inbound_texts"},
}
"""What the column `on` of the table of faults means."""


def test_every_request_of_the_control_api_is_documented_and_no_other() -> None:
    app = create_app(Driver(Settings(ACCOUNT, TOKEN), ManualClock()))
    there = {
        f"{method} {rule.rule.removeprefix('/_devphone/').replace('<', '{').replace('>', '}')}"
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.rule.startswith("/_devphone/")
    }
    documented = [names(row[0])[0] for row in rows(part(CONTROL_API, "Requests"))]
    assert sorted(documented) == sorted(there)


def test_every_deed_of_a_person_is_documented(phone: testing.DevPhone) -> None:
    refusal = httpx2.post(f"{phone.url}/_devphone/calls/CA/sing").json()["error"]
    deeds = str(refusal).removeprefix("a person can ").split(", ")
    assert sorted(names(row[0])[0] for row in rows(part(CONTROL_API, "Deeds"))) == sorted(deeds)


def test_every_field_of_a_call_and_a_text_is_documented(phone: testing.DevPhone) -> None:
    call = phone.device("+12125550123").calls("+12125550100").record()
    assert set(call) <= set(names(part(CONTROL_API, "A call")))
    phone.device("+12125550123").texts("+12125550100", "Hi")
    (text,) = phone.state()["messages"]
    assert set(text) == set(names(part(CONTROL_API, "A text"))) - {
        "outbound-api",
        "outbound-reply",
        "inbound",
    }


def test_every_fault_is_documented_with_its_values_and_what_it_befalls(phone: testing.DevPhone) -> None:
    there = {
        fault["name"]: (set(fault["on"]), [need["name"] for need in fault["needs"]])
        for fault in phone.send("GET", "/faults")["names"]
    }
    table = rows(part(CONTROL_API, "Faults"))
    assert {names(name)[0]: (ON[on], names(values)) for name, on, values, _ in table} == there
    assert len(table) == len(there)
    (row,) = [row for row in rows(part(README, "Behaviour by behaviour")) if "faults on demand" in row[0]]
    assert row[1] == str(len(there))


def test_every_behaviour_and_setting_of_a_phone_is_documented() -> None:
    assert [names(row[0])[0] for row in rows(part(CONTROL_API, "Behaviours"))] == list(get_args(Behaviour))
    settings = rows(part(CONTROL_API, "Settings"))
    documented = {name for row in settings for name in names(row[0])}
    assert documented == {field.name for field in fields(Phone)} - {"number", "behaviour"}
    (texts,) = [row[1] for row in settings if row[0] == "`texts`"]
    assert set(get_args(Texts)) <= set(names(texts))


def test_every_option_of_the_program_is_in_the_readme_and_no_other() -> None:
    command = [sys.executable, "-m", "devphone", "--help"]
    says = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
    there = set(re.findall(r"--[a-z-]+", says)) - {"--help"}
    assert {name for row in rows(part(README, "Run it")) for name in names(row[0])} == there


def test_every_setting_of_the_plugin_is_in_the_readme(pytestconfig: pytest.Config) -> None:
    table = rows(part(README, "Use it in tests"))
    settings = [
        name for row in table for name in names(row[0]) if re.fullmatch(r"devphone_(?!client|serve).*", name)
    ]
    assert len(settings) == 5
    for name in settings:
        assert pytestconfig.getini(name) is not None


def test_the_conversation_in_the_documentation_happens(phone: testing.DevPhone) -> None:
    block = code_block(BEHAVIOUR, 'ada = phone.device("+12125550123")')
    exec(compile(block, str(BEHAVIOUR), "exec"), {"phone": phone})
    phone.expect_debugger(11205)  # nobody listens at the address in the example


@pytest.mark.parametrize("page", [README, CONTROL_API, BEHAVIOUR], ids=lambda page: page.name)
def test_links_within_the_documentation_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]*)\)", page.read_text("utf-8")):
        file, _, anchor = target.partition("#")
        leads_to = page.parent / file if file else page
        anchors = {_anchor(heading) for heading in headings(leads_to)}
        assert not anchor or anchor in anchors, target


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")
