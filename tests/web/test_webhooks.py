"""Twilio's door: nothing without a good signature gets in, and nothing that comes is ever a 500."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest
from twilio.request_validator import RequestValidator
from werkzeug.test import TestResponse

from handoff.models import Call, Handoff

from .conftest import MakeSite
from .site import SETTINGS, TOKEN, Site

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def handoff(site: Site) -> Handoff:
    return site.record(site.agent.opened())


@pytest.fixture
def call(site: Site, handoff: Handoff) -> Call:
    found = site.services.store.read_call(handoff.attempts[0].call or "")
    assert found is not None
    return found


def urls(handoff: Handoff, call: Call) -> dict[str, str]:
    attempt = handoff.attempts[0].id
    return {
        "voice": f"/twilio/calls/{call.id}/voice",
        "again": f"/twilio/calls/{call.id}/attempts/{attempt}/again?turn=2&silent=2",
        "key": f"/twilio/calls/{call.id}/attempts/{attempt}/key?turn=1&silent=1",
        "settled": f"/twilio/calls/{call.id}/settled",
        "call status": f"/twilio/calls/{call.id}/status",
        "text status": f"/twilio/texts/{handoff.id}/{handoff.attempts[1].id}/status",
    }


FIELDS = {"CallSid": "CA1", "CallStatus": "in-progress", "Digits": "1", "SequenceNumber": "2"}


def sign(path: str, fields: dict[str, str] | None, *, token: str = TOKEN, base: str = "") -> str:
    base = base or SETTINGS["HANDOFF_PUBLIC_URL"]
    return str(RequestValidator(token).compute_signature(base + path, fields or {}))


def twilio(
    site: Site, path: str, fields: dict[str, str], signature: str | None, **headers: str
) -> TestResponse:
    """A form as Twilio sends it, with this signature."""
    signed = {} if signature is None else {"X-Twilio-Signature": signature}
    body = urlencode(fields).encode()
    return site.anybody("POST", path, data=body, content_type=FORM, headers=signed | headers)


@pytest.mark.parametrize(
    "how",
    [
        "absent",
        "empty",
        "nonsense",
        "not base64",
        "odd bytes",
        "another token",
        "another path",
        "another host",
        "another scheme",
        "other fields",
        "without the query",
        "a thousand",
    ],
)
def test_a_wrong_or_missing_signature_is_403_everywhere_and_changes_nothing(
    site: Site, handoff: Handoff, call: Call, how: str
) -> None:
    before = site.dump()
    for path in urls(handoff, call).values():
        good = sign(path, FIELDS)
        signature = {
            "absent": None,
            "empty": "",
            "nonsense": "nonsense",
            "not base64": "=" * 28,
            "odd bytes": "\xff\x00é"[:1],
            "another token": sign(path, FIELDS, token="another token"),
            "another path": sign(path + "x", FIELDS),
            "another host": sign(path, FIELDS, base="https://evil.example"),
            "another scheme": sign(path, FIELDS, base="http://handoff.example.com"),
            "other fields": sign(path, FIELDS | {"Digits": "2"}),
            "without the query": sign(path.partition("?")[0] + "#", FIELDS),
            "a thousand": good * 1_000,
        }[how]
        headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
        answer = twilio(site, path, FIELDS, signature, **headers)
        assert answer.status_code == 403, path
    assert site.dump() == before


def test_a_good_signature_gets_in_whatever_the_host_header_says(
    site: Site, handoff: Handoff, call: Call
) -> None:
    path = urls(handoff, call)["voice"]
    answer = twilio(site, path, FIELDS, sign(path, FIELDS), Host="10.0.0.7:8000")
    assert answer.status_code == 200 and answer.mimetype == "text/xml"
    assert "checkbox" in answer.text and site.record(handoff.id).state == "escalating"


def test_picking_up_and_listening_to_the_end_decide_nothing(site: Site, handoff: Handoff, call: Call) -> None:
    for name in ("voice", "again", "settled"):
        path = urls(handoff, call)[name]
        for by in ("human", "machine_start", "fax"):
            fields = FIELDS | {"AnsweredBy": by}
            fields.pop("Digits")
            assert twilio(site, path, fields, sign(path, fields)).status_code == 200
    assert site.record(handoff.id).state == "escalating" and site.record(handoff.id).settlement is None


def test_a_key_settles_it_and_the_same_key_again_gets_the_same_words(
    site: Site, handoff: Handoff, call: Call
) -> None:
    path = urls(handoff, call)["key"]
    first = twilio(site, path, FIELDS, sign(path, FIELDS))
    settled = site.record(handoff.id)
    assert settled.state == "resolved"
    again = [twilio(site, path, FIELDS, sign(path, FIELDS)) for _ in range(3)]
    assert {answer.get_data() for answer in again} == {first.get_data()}
    assert site.types(handoff.id).count("resolved") == 1
    assert site.record(handoff.id).settlement == settled.settlement


def test_a_replayed_status_callback_changes_nothing_more(site: Site, handoff: Handoff, call: Call) -> None:
    path = urls(handoff, call)["call status"]
    for status in ("ringing", "in-progress", "completed"):
        fields = {"CallSid": "CA1", "CallStatus": status, "SequenceNumber": "1"}
        assert twilio(site, path, fields, sign(path, fields)).status_code == 204
        before = site.dump()
        for _ in range(3):
            assert twilio(site, path, fields, sign(path, fields)).status_code == 204
        assert site.dump() == before
    late = {"CallSid": "CA1", "CallStatus": "ringing", "SequenceNumber": "0"}
    assert twilio(site, path, late, sign(path, late)).status_code == 204
    assert site.dump() == before


def json_request(site: Site, path: str, body: bytes, named: str | None) -> TestResponse:
    asked = path if named is None else f"{path}{'&' if '?' in path else '?'}bodySHA256={named}"
    headers = {"X-Twilio-Signature": sign(asked, None)}
    return site.anybody("POST", asked, data=body, content_type="application/json", headers=headers)


def test_a_json_body_gets_in_only_when_the_signed_address_names_its_hash(
    site: Site, handoff: Handoff, call: Call
) -> None:
    body = json.dumps({"CallStatus": "completed"}).encode()
    before = site.dump()
    for path in urls(handoff, call).values():
        for named in (None, "", "0" * 64, sha256(body + b" ").hexdigest()):
            assert json_request(site, path, body, named).status_code == 403
    assert site.dump() == before
    path = urls(handoff, call)["call status"]
    assert json_request(site, path, body, sha256(body).hexdigest()).status_code == 204
    assert site.record(handoff.id).attempts[0].ended_at is None, "a status that is no form says nothing"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"CallStatus": ""},
        {"CallStatus": "exploded", "SequenceNumber": "x"},
        {"CallStatus": "completed", "SipResponseCode": "nonsense", "SequenceNumber": "-5"},
        {"CallStatus": "ringing", "SequenceNumber": "9" * 40},
        {"MessageStatus": "teleported", "ErrorCode": "x"},
        {"MessageStatus": "failed", "ErrorCode": "9" * 40},
        {"Digits": "99999"},
        {"Digits": ""},
        {"Digits": "\x00ü#*"},
        {"CallSid": "x" * 5_000, "CallStatus": "in-progress"},
    ],
)
def test_signed_nonsense_is_never_a_500(
    site: Site, handoff: Handoff, call: Call, fields: dict[str, str]
) -> None:
    for name, path in urls(handoff, call).items():
        answer = twilio(site, path, fields, sign(path, fields))
        assert answer.status_code == (204 if name.endswith("status") else 200), name
    assert site.record(handoff.id).state in ("escalating", "acknowledged")


def test_signed_requests_about_nothing_are_answered_and_change_nothing(site: Site) -> None:
    before = site.dump()
    call, attempt, handoff = "ca_" + "0" * 22, "at_" + "0" * 22, "ho_" + "0" * 22
    for path in (
        f"/twilio/calls/{call}/voice",
        f"/twilio/calls/{call}/attempts/{attempt}/again",
        f"/twilio/calls/{call}/attempts/{attempt}/key",
        f"/twilio/calls/{call}/settled",
        f"/twilio/calls/{call}/status",
        f"/twilio/texts/{handoff}/{attempt}/status",
    ):
        answer = twilio(site, path, FIELDS, sign(path, FIELDS))
        assert answer.status_code in (200, 204), path
    assert site.dump() == before


def test_an_attempt_of_another_call_answers_nothing(site: Site, handoff: Handoff, call: Call) -> None:
    other = site.record(site.agent.opened())
    path = f"/twilio/calls/{call.id}/attempts/{other.attempts[0].id}/key?turn=1&silent=1"
    assert twilio(site, path, FIELDS, sign(path, FIELDS)).status_code == 200
    assert site.record(other.id).state == site.record(handoff.id).state == "escalating"


def test_both_tokens_of_a_rotation_are_good(make_site: MakeSite) -> None:
    site = make_site(TWILIO_AUTH_TOKEN_PREVIOUS="the token before this one")
    handoff = site.record(site.agent.opened())
    path = f"/twilio/texts/{handoff.id}/{handoff.attempts[1].id}/status"
    fields: dict[str, Any] = {"MessageStatus": "sent"}
    for token in (TOKEN, "the token before this one"):
        assert twilio(site, path, fields, sign(path, fields, token=token)).status_code == 204
    assert twilio(site, path, fields, sign(path, fields, token="a third")).status_code == 403


@pytest.mark.parametrize("cut", [True, False])
def test_under_a_path_prefix_the_signature_is_over_the_public_address(make_site: MakeSite, cut: bool) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://example.com/tools/handoff")
    handoff = site.record(site.agent.opened())
    path = f"/twilio/texts/{handoff.id}/{handoff.attempts[1].id}/status"
    fields = {"MessageStatus": "delivered"}
    good = sign(path, fields, base="https://example.com/tools/handoff")
    asked = path if cut else "/tools/handoff" + path
    assert twilio(site, asked, fields, good).status_code == 204
    assert site.record(handoff.id).attempts[1].disposition == "delivered"
    assert twilio(site, asked, fields, sign(path, fields, base="https://example.com")).status_code == 403


def test_a_body_of_over_a_megabyte_is_413(site: Site, handoff: Handoff, call: Call) -> None:
    path = urls(handoff, call)["call status"]
    answer = twilio(site, path, {"a": "x" * 1_048_577}, "x")
    assert answer.status_code == 413
