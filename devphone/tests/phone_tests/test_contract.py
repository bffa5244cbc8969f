"""Every REST answer of this run is compared with Twilio's OpenAPI file; these test the comparison."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone import testing
from devphone.contract import ERROR_KEYS, FACTS, Contract, NoContract
from devphone.testing import DevPhone

from . import shared_files
from .conftest import ACCOUNT, ADA, OURS, TOKEN, client_for

CALL = "api.v2010.account.call"
MESSAGE = "api.v2010.account.message"
CALLS = "/2010-04-01/Accounts/{AccountSid}/Calls.json"
ONE_CALL = "/2010-04-01/Accounts/{AccountSid}/Calls/{Sid}.json"
ENDS = (".json", "/{Sid}.json", "/Local.json")
USED = ("Calls", "Messages", "IncomingPhoneNumbers")


@pytest.fixture(scope="module")
def description() -> Any:
    """Twilio's file."""
    return shared_files.read("twilio_api_v2010.json")


@pytest.fixture(scope="module")
def contract(description: Any) -> Contract:
    """The comparison with it."""
    return Contract(description)


def a_call(description: Any) -> Any:
    """The call that the file shows as the answer to a create."""
    response = description["paths"][CALLS]["post"]["responses"]["201"]
    return copy.deepcopy(response["content"]["application/json"]["examples"]["create"]["value"])


def problems(contract: Contract, body: Any, path: str = ONE_CALL, status: int = 200) -> list[str]:
    """What is wrong with an answer to a GET."""
    return contract.problems(path, "GET", status, "application/json", json.dumps(body).encode())


def test_the_answers_of_this_run_are_compared_with_twilios_file(
    phone: DevPhone, client: Client, description: Any
) -> None:
    assert description["info"]["title"] == "Twilio - Api"
    placed = client.calls.create(to=ADA, from_=OURS, twiml="<Response/>")
    phone.device(ADA).let_ring().decline()
    assert [call.sid for call in client.calls.list()] == [placed.sid]
    with pytest.raises(TwilioRestException):
        client.calls("CA" + "0" * 32).fetch()
    client.calls(placed.sid).delete()
    found = phone.send("GET", "/contract")
    assert (found["on"], found["checked"], found["violations"]) == (True, 4, [])


def test_an_answer_that_twilio_would_not_give_fails_the_test(description: Any, tmp_path: Path) -> None:
    # A file in which a call has one key more, as when Twilio adds one.
    changed = {
        **description,
        "components": {
            "schemas": {
                **description["components"]["schemas"],
                CALL: {
                    **description["components"]["schemas"][CALL],
                    "properties": description["components"]["schemas"][CALL]["properties"]
                    | {"mood": {"type": "string"}},
                },
            }
        },
    }
    path = tmp_path / "api.json"
    path.write_text(json.dumps(changed), "utf-8")
    with testing.start(ACCOUNT, TOKEN, numbers=[OURS], contract=path) as phone:
        phone.expect(client_for(phone).calls.create(to=ADA, from_=OURS, twiml="<Response/>").sid)
        with pytest.raises(AssertionError, match=r"POST .*/Calls.json 201 .*lacks mood"):
            phone.nothing_else_happened()
        phone.reset()
        phone.nothing_else_happened()


def test_a_file_that_can_not_be_used_ends_the_start_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "api.json"
    with pytest.raises(RuntimeError, match=r"api\.json"), testing.start(ACCOUNT, TOKEN, contract=path):
        pass
    for content in ("no JSON", "{}", "[]"):
        path.write_text(content, "utf-8")
        with pytest.raises(NoContract, match=r"api\.json is no OpenAPI file"):
            Contract.load(path)


def test_the_facts_are_those_of_the_strict_overlay(description: Any) -> None:
    overlay = shared_files.read("strict-overlay.json")
    for kind, schema in (("call", CALL), ("message", MESSAGE)):
        rules = overlay[kind]
        assert rules["schema"] == schema
        assert set(rules["required"]) == set(description["components"]["schemas"][schema]["properties"])
        assert set(rules["not_null"]) == set(FACTS[schema].not_null)
        assert set(rules["strings_that_look_like_numbers"]) == set(FACTS[schema].numbers)
    assert set(overlay["call"]["answered_by"]) == {*FACTS[CALL].values["answered_by"], None}
    assert set(overlay["error"]["required"]) == set(ERROR_KEYS)
    for name in overlay["message"]["integers"]:
        assert description["components"]["schemas"][MESSAGE]["properties"][name]["type"] == "integer"
    envelope = description["paths"][CALLS]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert {*overlay["list_page"]["keys"][:-1], "calls"} == set(envelope["properties"])


def test_the_examples_of_the_file_itself_pass(description: Any, contract: Contract) -> None:
    wrong, number = [], 0
    for path, operations in description["paths"].items():
        if path.partition("{AccountSid}/")[2] not in {f"{one}{end}" for one in USED for end in ENDS}:
            continue
        for method in {"get", "post"} & set(operations):
            for status, response in operations[method]["responses"].items():
                for example in response["content"]["application/json"].get("examples", {}).values():
                    body = json.dumps(example["value"]).encode()
                    number += 1
                    if found := contract.problems(
                        path, method.upper(), int(status), "application/json", body
                    ):
                        wrong.append((path, method, found))
    assert wrong == []
    assert number >= 20


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda call: call.update(mood="good"), "has mood, which Twilio has not"),
        (lambda call: call.pop("caller_name"), "lacks caller_name"),
        (lambda call: call.update(status="initiated"), "status: 'initiated'"),
        (lambda call: call.update(sid="CA1"), "sid: 'CA1'"),
        (lambda call: call.update(phone_number_sid="AC" + "0" * 32), "phone_number_sid"),
        (lambda call: call.update(duration=15), "duration"),
        (lambda call: call.update(queue_time="soon"), "queue_time is 'soon'"),
        (lambda call: call.update(uri=None), "uri is null"),
        (lambda call: call.update(answered_by="robot"), "answered_by is 'robot'"),
        (lambda call: call.update(direction="outbound"), "direction is 'outbound'"),
        (lambda call: call.update(date_created="2010-08-31T20:36:28Z"), "date_created"),
        (lambda call: call.update(start_time="Tue, 31 Aug 2010 20:36:28 GMT"), "start_time"),
        (lambda call: call.update(end_time="Mon, 31 Aug 2010 20:36:28 +0000"), "end_time"),
    ],
)
def test_every_strictness_can_fail(
    description: Any, contract: Contract, change: Callable[[Any], Any], says: str
) -> None:
    call = a_call(description)
    assert problems(contract, call) == []
    change(call)
    assert any(says in problem for problem in problems(contract, call)), problems(contract, call)
    page = {
        "calls": [call],
        "end": 0,
        "first_page_uri": f"{CALLS}?Page=0",
        "next_page_uri": None,
        "page": 0,
        "page_size": 50,
        "previous_page_uri": None,
        "start": 0,
        "uri": f"{CALLS}?Page=0",
    }
    assert any(says.split(":")[0] in problem for problem in problems(contract, page, CALLS))
    page["calls"] = []
    assert problems(contract, page, CALLS) == []
    page["page_size"] = 5000
    assert "page_size" in problems(contract, page, CALLS)[0]


def test_errors_paths_and_statuses_are_compared_too(contract: Contract) -> None:
    error = {
        "code": 20404,
        "message": "Not found",
        "more_info": "https://www.twilio.com/docs/errors/20404",
        "status": 404,
    }
    assert problems(contract, error, status=404) == []
    for change in ({"code": "20404"}, {"status": 400}, {"more_info": "x"}, {"message": ""}, {"extra": 1}):
        assert len(problems(contract, error | change, status=404)) == 1
    assert "does not answer" in problems(contract, {}, "/2010-04-01/Accounts/{}/Whales.json")[0]
    assert "with 202" in problems(contract, {}, status=202)[0]
    assert contract.problems(ONE_CALL, "DELETE", 204, "text/html", b"") == []
    assert contract.problems(ONE_CALL, "DELETE", 204, "application/json", b"{}") == ["204 has no body"]
    assert "no JSON" in contract.problems(ONE_CALL, "GET", 200, "application/json", b"<html>")[0]
    assert "content type" in contract.problems(ONE_CALL, "GET", 500, "text/html", b"<html>")[0]


def test_a_proxys_page_is_no_answer_of_twilios(phone: DevPhone, description: Any) -> None:
    assert description
    phone.faults({"html_429": 1})
    url = f"{phone.url}/2010-04-01/Accounts/{ACCOUNT}/Calls.json"
    form = {"To": ADA, "From": OURS, "Twiml": "<Response/>"}
    refused = httpx2.post(url, auth=(ACCOUNT, TOKEN), data=form, trust_env=False)
    assert (refused.status_code, refused.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert phone.send("GET", "/contract")["violations"] == []
