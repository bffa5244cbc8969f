"""The door for Twilio: what is genuine by the configured address, and documents that always parse."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import httpx2
import pytest

from handoff import config
from tests.world import MakeWorld, World
from tests.world.world import SETTINGS

STATUS = "/twilio/calls/ca_0000000000000000000000/status"
FIELDS = {"CallSid": "CA" + "0" * 32, "CallStatus": "ringing"}


def test_behind_a_tunnel_that_ends_tls_the_configured_address_decides(make_world: MakeWorld) -> None:
    """Rebuilt from what arrived it would be http and 127.0.0.1, and every call would be refused."""
    world = make_world(HANDOFF_PUBLIC_URL="https://pub.example.com")
    assert world.twilio(STATUS, FIELDS).status_code == 204
    assert world.twilio(STATUS, FIELDS, signed_as=world.url + STATUS).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Forwarded-Proto": "https"},
        {"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"},
        {"X-Forwarded-Host": "evil.example", "X-Forwarded-Port": "1"},
        {"Forwarded": "host=evil.example;proto=http"},
        {"X-Original-Url": "/elsewhere", "X-Rewrite-Url": "/elsewhere"},
    ],
)
def test_no_header_of_a_proxy_changes_what_is_checked(make_world: MakeWorld, headers: dict[str, str]) -> None:
    world = make_world(HANDOFF_PUBLIC_URL="https://pub.example.com")
    assert world.twilio(STATUS, FIELDS, headers=headers).status_code == 204
    forged = world.twilio(STATUS, FIELDS, signed_as="http://evil.example" + STATUS, headers=headers)
    assert forged.status_code == 403


def test_path_and_query_count_byte_for_byte(world: World) -> None:
    asked = STATUS + "?a=%2B1&b=%20&c=a%2fb&d=+"
    assert world.twilio(asked, FIELDS).status_code == 204
    same_meaning = STATUS + "?a=%2b1&b=%20&c=a%2Fb&d=%20"
    assert world.twilio(asked, FIELDS, signed_as=world.url + same_meaning).status_code == 403


def test_a_port_in_the_address_may_be_signed_or_left_out(make_world: MakeWorld) -> None:
    world = make_world(HANDOFF_PUBLIC_URL="https://pub.example.com:8443")
    for base in ("https://pub.example.com:8443", "https://pub.example.com"):
        assert world.twilio(STATUS, FIELDS, signed_as=base + STATUS).status_code == 204
    assert world.twilio(STATUS, FIELDS, signed_as="https://pub.example.com:9443" + STATUS).status_code == 403


def test_what_is_in_the_query_is_no_field_of_the_form(world: World) -> None:
    assert world.twilio(STATUS + "?attempt=7&CallStatus=completed", FIELDS).status_code == 204


@pytest.mark.parametrize("body", ['{"CallStatus": "completed"}', "[]", "null", "not json"])
def test_json_is_refused_whatever_its_signature(world: World, body: str) -> None:
    """A signature over empty parameters was once good for any JSON."""
    captured = world.twilio(STATUS, {}).request.headers["X-Twilio-Signature"]
    headers = {"Content-Type": "application/json", "X-Twilio-Signature": captured}
    for path in (STATUS, STATUS + "?bodySHA256=" + "0" * 64):
        answer = world.http.post(path, content=body, headers=headers)
        assert answer.status_code == 403
    [no_signature] = [world.http.post(STATUS, content=body, headers={"Content-Type": "application/json"})]
    assert no_signature.status_code == 403


def test_without_a_token_the_service_refuses_to_start_and_says_why() -> None:
    """It fails closed, and it says so at the start, not call by call."""
    with pytest.raises(config.BadSettings) as refused:
        config.from_environment(
            SETTINGS | {"TWILIO_AUTH_TOKEN": "", "HANDOFF_PUBLIC_URL": "http://127.0.0.1:1"}
        )
    assert [line for line in refused.value.problems if line.startswith("TWILIO_AUTH_TOKEN:")]


@dataclass
class Document:
    """A TwiML answer, read by a strict reader."""

    answer: httpx2.Response

    def __post_init__(self) -> None:
        assert self.answer.status_code == 200
        assert self.answer.headers["Content-Type"] == "text/xml; charset=utf-8"
        assert self.answer.content.startswith(b"<?xml") and self.answer.content.count(b"<?xml") == 1
        assert len(self.answer.content) < 65_536
        self.root = ET.fromstring(self.answer.content)
        assert all(0 < len(say.text or "") < 3_000 for say in self.root.iter("Say"))

    @property
    def said(self) -> str:
        """Everything that it says."""
        return " ".join(say.text or "" for say in self.root.iter("Say"))


def voice(world: World, reason: str) -> Document:
    """What is said when somebody picks up a call with this reason."""
    handoff = world.open(reason=reason)
    attempt = next(one for one in world.record(handoff).attempts if one.call)
    document = Document(world.twilio(f"/twilio/calls/{attempt.call}/voice", FIELDS))
    assert world.show(handoff)["reason"] == reason, "what is kept is not cut or cleaned"
    assert world.operator.cancel(handoff["id"]).status_code == 200
    return document


@pytest.fixture
def quiet(world: World) -> World:
    """A world in which nobody is rung: no worker."""
    world.dismiss()
    world.expected.unsettled = True
    return world


@pytest.mark.parametrize(
    "reason",
    [
        """Tom & Jerry <b> "x" 'y' ]]>""",
        "caf\u00e9 t\u00fc \u00a0 &nbsp; &eacute;",
        "It\u2019s blocked here \U0001f6a7",
        "</Say><Hangup/><Say>",
        "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
        "\u0645\u0631\u062d\u0628\u0627 \u4f60\u597d",
    ],
)
def test_a_reason_is_spoken_as_it_is_written_and_never_becomes_markup(quiet: World, reason: str) -> None:
    document = voice(quiet, reason)
    spoken, written = " ".join(document.said.split()), " ".join(reason.replace("\U0001f6a7", "").split())
    if "file:///" not in reason:  # a link is never read out
        assert written in spoken
    assert [verb.tag for verb in document.root] == ["Gather", "Redirect"]


def test_characters_that_xml_forbids_are_left_out(quiet: World) -> None:
    document = voice(quiet, "a\x0bb\ufffec\u0007 checkbox")
    assert "checkbox" in document.said


def test_the_address_for_the_key_survives_its_two_query_fields(quiet: World) -> None:
    document = voice(quiet, "A wall")
    [gather] = document.root.iter("Gather")
    path, _, query = gather.attrib["action"].partition("?")
    assert path.endswith("/key") and query == "turn=1&silent=1"
    assert b"turn=1&amp;silent=1" in document.answer.content
    assert (gather.attrib["numDigits"], gather.attrib["finishOnKey"]) == ("1", "")
    assert [verb.tag for verb in gather] == ["Say"] * len(gather), "all that is said is inside the Gather"


def test_a_very_long_reason_is_read_in_part_says_so_and_is_kept_whole(quiet: World) -> None:
    document = voice(quiet, "wall " * 400)
    assert "shows the rest." in document.said
    refused = quiet.post_opening(reason="x" * 100_000)
    assert refused.status_code == 422 and "reason" in refused.text


def test_every_answer_of_a_whole_call_is_a_document_that_parses(world: World) -> None:
    """The dev phone reads each of them strictly, and complains in its debugger, which has to be empty."""
    world.open(reason="Tom & Jerry's <wall>")
    call = world.reached(world.ada, "Tom & Jerry's <wall>")
    for key, words in (("*", "Tom & Jerry"), ("5", "That key does nothing"), ("3", "You have it")):
        call.press(key).hears(words)
    world.listens(call, "shopper is waiting")
    call.press("2").hears("gets the word")
    world.settle()
    documents = call.record()["documents"]
    assert len(documents) >= 6 and all(one["status"] == 200 and not one["problem"] for one in documents)
