"""The control API and the client for tests: what people can do, what is refused, and how failures read."""

from __future__ import annotations

import ast
from pathlib import Path

import httpx2
import pytest
from twilio.rest import Client

import devphone
from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Application

MENU = '<Response><Gather finishOnKey=""><Say>Press one.</Say></Gather></Response>'


def test_a_phone_can_be_used_by_its_number(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml=MENU)
    call = phone.device(ADA).let_ring()
    assert phone.send("POST", f"/phones/{ADA}/answer")["status"] == "in-progress"
    assert phone.send("POST", f"/phones/{ADA}/press", {"digits": "12"})["keys"] == "12"
    assert phone.send("POST", f"/phones/{ADA}/hangup")["status"] == "completed"
    call.ended("completed")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", f"/phones/{BEN}/answer", None, 409),
        ("POST", "/calls/CA0/answer", None, 404),
        ("POST", "/calls/CA0/sing", None, 404),
        ("GET", "/calls/CA0", None, 404),
        ("PUT", f"/phones/{BEN}", {"behaviour": "explodes"}, 400),
        ("PUT", f"/phones/{BEN}", {"colour": "red"}, 400),
        ("PUT", f"/phones/{BEN}", {"after_s": "soon"}, 400),
        ("PUT", "/phones/5550123", {"behaviour": "busy"}, 400),
        ("PUT", "/pace", {"queue_s": -1}, 400),
        ("POST", "/clock/advance", {}, 400),
        ("POST", "/faults", ["lose_201"], 400),
        ("GET", "/events?after=soon", None, 400),
    ],
)
def test_what_can_not_be_done_is_refused_with_a_sentence(
    phone: DevPhone, method: str, path: str, body: object, status: int
) -> None:
    refused = httpx2.request(method, f"{phone.url}/_devphone{path}", json=body)
    assert refused.status_code == status
    assert refused.json()["error"]


def test_keys_need_somebody_on_the_line(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml=MENU)
    call = phone.device(ADA).let_ring()
    with pytest.raises(AssertionError, match="ringing, not answered"):
        call.press("1")
    call.answer()
    with pytest.raises(AssertionError, match="keys are"):
        call.press("one")
    call.hang_up()
    with pytest.raises(AssertionError, match="completed, not answered"):
        call.press("1")


def test_a_phone_that_answers_needs_nobody(phone: DevPhone, client: Client) -> None:
    phone.device(ADA).behaves("answers", after_s=3)
    client.calls.create(to=ADA, from_=OURS, twiml=MENU)
    phone.settle()
    phone.advance(3)
    phone.device(ADA).expect_call(saying="Press one").hang_up()


def test_an_expectation_that_fails_tells_what_was_said(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml=MENU)
    with pytest.raises(AssertionError, match=r"did not say 'press two'.*'Press one\.'"):
        phone.device(ADA).expect_call(saying="press two", timeout_s=0.3)


def test_an_expectation_for_the_wrong_phone_names_it(phone: DevPhone) -> None:
    with pytest.raises(AssertionError, match="…0124: no call; unexpected so far: none"):
        phone.device(BEN).expect_call(timeout_s=0.1)


def test_what_was_heard_before_does_not_count_again(phone: DevPhone, client: Client) -> None:
    twiml = '<Response><Say>Hello.</Say><Pause length="5"/><Say>Goodbye. Hello.</Say></Response>'
    client.calls.create(to=ADA, from_=OURS, twiml=twiml)
    call = phone.device(ADA).expect_call(saying="hello")
    with pytest.raises(AssertionError):
        call.hears("hello", timeout_s=0.2)
    phone.advance(6)
    call.hears("hello").hang_up()


def test_debugger_entries_that_nobody_expected_fail_a_test(phone: DevPhone, client: Client) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml="<Response><Sing/></Response>")
    phone.device(ADA).expect_call().ended()
    with pytest.raises(AssertionError, match="debugger 12200: Sing"):
        phone.nothing_else_happened()
    phone.expect_debugger(12200)


def test_a_parameter_the_phone_does_not_act_on_is_not_passed_over_in_silence(
    phone: DevPhone, client: Client
) -> None:
    client.calls.create(to=ADA, from_=OURS, twiml=MENU, record=True, machine_detection="Enable")
    phone.device(ADA).let_ring()
    assert "Record" in phone.expect_debugger(20001)["text"]
    assert len(phone.debugger()) == 1


def test_advance_waits_for_the_application_at_every_step(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", '<Gather timeout="5"/><Redirect>/again</Redirect>')
    application.says("/again", '<Gather timeout="5"/><Say>Goodbye.</Say>')
    client.calls.create(to=ADA, from_=OURS, url=f"{application.url}/voice")
    call = phone.device(ADA).expect_call()
    phone.settle()
    phone.advance(60)
    assert call.transcript == ["Goodbye."]
    assert call.record()["duration_s"] == 10
    assert len(application.at("/again")) == 1


def test_the_engine_does_no_io_and_reads_no_clock() -> None:
    allowed = {
        *("__future__", "collections", "copy", "dataclasses", "datetime", "hashlib", "heapq", "itertools"),
        *("re", "typing", "urllib", "xml", "devphone"),
    }
    found: set[str] = set()
    for module in (Path(devphone.__file__).parent / "engine").glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split(".")[0])
                if node.module.startswith("devphone."):
                    inner = {"dates", "digits", "geography", "numbers", "segments", "urls"}
                    assert node.module.removeprefix("devphone.") in inner
    assert found <= allowed
