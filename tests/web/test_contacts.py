"""Contacts in the API: who may, what is refused in which words, what is never shown. Calls: the scenarios."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from handoff.models import Actor, ActorKind, Channel, Decision, Proof
from handoff.states import Disposition

from .conftest import MakeSite
from .site import Site

DORA = {"id": "dora", "name": "Dora", "numbers": ["+1 (212) 555-0126"]}


def enrol(site: Site, **body: Any) -> TestResponse:
    return site.operator.post("/v1/contacts", DORA | body)


def says_yes(site: Site) -> tuple[str, str]:
    """Dora is enrolled and presses 1; no clock has seen it yet. The handoff that asked, and the attempt."""
    asking = site.record(enrol(site).get_json()["verification"])
    attempt = asking.attempts[0].id
    dora = Actor(kind=ActorKind.CONTACT, id="dora", name="Dora")
    yes = Decision(by=dora, channel=Channel.CALL, proof=Proof.KEYPRESS, at=site.now)
    site.services.handoffs.resolve(asking.id, yes, "key", attempt=attempt)
    return asking.id, attempt


def field(response: TestResponse) -> tuple[str, str]:
    assert response.status_code == 422, response.text
    [wrong] = response.get_json()["errors"]
    return wrong["field"], wrong["message"]


def test_only_an_operators_key_may(site: Site) -> None:
    assert enrol(site).status_code == 201
    for method, path in (
        ("POST", ""),
        ("GET", ""),
        ("GET", "/dora"),
        ("DELETE", "/dora"),
        ("POST", "/dora/verification"),
        ("POST", "/dora/card"),
    ):
        body = {"json": DORA} if method == "POST" else {}
        assert site.agent(method, f"/v1/contacts{path}", **body).status_code == 403
        assert site.anybody(method, f"/v1/contacts{path}", **body).status_code == 401


@pytest.mark.parametrize(
    "number, words",
    [
        (3161234567, "must be a text that starts with + and the country code"),
        ("3161234567", "must start with + and the country code"),
        ("079 000 00 00", "must start with + and the country code"),
        ("0046701234567", "must start with + and the country code"),
        ("1-800-FLOWERS", "must start with + and the country code"),
        ("tel:+27721234567", "must be the number alone, without tel:"),
        ("+12125550126 x45", "has an extension"),
        ("+44 (0)20 7946 0958", "has a zero after its country code"),
        ("+49 030 123456", "has a zero after its country code"),
        ("+1 02025550123", "has too many or too few digits"),
        ("+1212555", "has too many or too few digits"),
        ("+999123456789", "has a country code that does not exist"),
        ("+15550000006", "is in no range of numbers"),
        ("+19005550123", "is a premium-rate number"),
        ("+12125550100", "is the number that we call from"),
    ],
)
def test_a_number_is_never_guessed_and_the_field_is_named(site: Site, number: Any, words: str) -> None:
    where, what = field(enrol(site, numbers=[number]))
    assert where == "numbers.0" and what.startswith(words)
    assert site.operator.get("/v1/handoffs").get_json()["handoffs"] == []


@pytest.mark.parametrize(
    "body, where",
    [
        ({"id": "Dora!"}, "id"),
        ({"name": "Do\nra"}, "name"),
        ({"numbers": []}, "numbers"),
        ({"numbers": ["+12125550126", "+1 212 555 0126"]}, "numbers"),
        ({"time_zone": "Mars/Base"}, "time_zone"),
        ({"quiet_hours": ["22-7"]}, "quiet_hours.0"),
        ({"pin": "12345"}, "pin"),
        ({"pin": 123456}, "pin"),
        ({"consent": "Dora, by mail"}, "consent"),
        ({"language": "de-DE"}, "language"),
    ],
)
def test_the_rules_are_those_of_the_people_file(site: Site, body: dict[str, Any], where: str) -> None:
    assert field(enrol(site, **body))[0] == where


def test_the_same_again_finds_the_same_and_anything_else_is_refused(site: Site) -> None:
    first = enrol(site, pin="482913")
    assert first.status_code == 201 and first.headers["Location"].endswith("/v1/contacts/dora")
    again = enrol(site, pin="482913", numbers=["+12125550126"])
    assert (again.status_code, again.get_json()) == (200, first.get_json())
    assert len(site.operator.get("/v1/handoffs").get_json()["handoffs"]) == 1
    for body in ({"pin": "482914"}, {}, {"pin": "482913", "name": "Dorothea"}):
        refused = enrol(site, **body)
        assert (refused.status_code, refused.get_json()["code"]) == (409, "conflict")
    for body in ({"id": "ada"}, {"id": "d2", "numbers": ["+12125550123"]}, {"id": "d2"}):
        assert enrol(site, **body).status_code == 409


def test_everybody_is_listed_page_by_page_and_no_number_or_pin_is_shown(site: Site) -> None:
    enrol(site, pin="482913", quiet_hours=["22:00-07:00"])
    first = site.operator.get("/v1/contacts?limit=2").get_json()
    assert [(one["id"], one["state"]) for one in first["contacts"]] == [("ada", "given"), ("ben", "given")]
    rest = site.operator.get(f"/v1/contacts?cursor={first['next_cursor']}").get_json()
    [dora] = rest["contacts"]
    assert rest["next_cursor"] is None
    assert (dora["state"], dora["numbers"], dora["has_pin"]) == ("unverified", ["…0126"], True)
    assert dora["quiet_hours"] == ["22:00-07:00"] and dora["consent"] == []
    assert site.operator.get("/v1/contacts/dora").get_json() == dora
    assert "5550126" not in json.dumps(dora) and "scrypt" not in json.dumps(dora)
    assert not any("482913" in text for text in site.dump().values())
    for path in ("?limit=0", "?limit=x", "?cursor=A!", "?page=2"):
        assert site.operator.get(f"/v1/contacts{path}").status_code == 422


def test_who_is_not_there_or_the_operators_own_is_told_from_one_another(site: Site) -> None:
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/verification"), ("POST", "/card")):
        body = {"json": {}} if method == "POST" else {}
        for name in ("nobody", "No%20body", "x" * 41):
            assert site.operator(method, f"/v1/contacts/{name}{path}", **body).status_code == 404
    for method, path in (("DELETE", ""), ("POST", "/verification")):
        refused = site.operator(method, f"/v1/contacts/ada{path}", **({"json": {}} if path else {}))
        assert refused.status_code == 409 and "people file or the environment" in refused.text


def test_nobody_is_asked_or_texted_a_card_without_end(site: Site) -> None:
    enrol(site)
    assert site.operator.post("/v1/contacts/dora/card").status_code == 409, "she has agreed to nothing"
    answers = [site.operator.post("/v1/contacts/ada/card").status_code for _ in range(4)]
    assert answers == [202, 202, 202, 429]
    asked = []
    for _ in range(4):
        shown = site.operator.get("/v1/contacts/dora").get_json()
        site.expire(shown["verification"])
        asked.append(site.operator.post("/v1/contacts/dora/verification").status_code)
    assert asked == [200, 200, 200, 429]


def test_nobody_is_asked_what_they_have_just_said(site: Site) -> None:
    """The clock, which puts it on record, may be away."""
    says_yes(site)
    assert site.operator.get("/v1/contacts/dora").get_json()["state"] == "unverified"
    assert site.operator.post("/v1/contacts/dora/verification").status_code == 409
    assert site.operator.get("/v1/contacts/dora").get_json()["state"] == "verified"
    assert len(site.operator.get("/v1/handoffs").get_json()["handoffs"]) == 1


def test_a_process_catches_up_with_what_it_missed_and_with_everything_when_it_missed_too_much(
    make_site: MakeSite,
) -> None:
    site = make_site()
    other = make_site(HANDOFF_PREFIX=site.services.settings.prefix)
    other.services.handoffs.rules()
    for number in (126, 127, 128):
        enrol(site, id=f"d{number}", numbers=[f"+12125550{number}"])
    site.operator("DELETE", "/v1/contacts/d127")

    def known() -> list[str]:
        other.now += 1_000
        return sorted(other.services.handoffs.rules().people.enrolled)

    assert known() == ["d126", "d128"]
    site.operator("DELETE", "/v1/contacts/d126")
    assert known() == ["d128"]
    enrol(site, id="d129", numbers=["+12125550129"])
    site.raw.xtrim(site.services.store.keys.contact_news, maxlen=1)
    site.operator("DELETE", "/v1/contacts/d128")
    site.raw.xtrim(site.services.store.keys.contact_news, maxlen=1)
    assert known() == ["d129"]


def test_a_process_that_has_not_heard_of_somebody_rings_nobody_in_their_place(make_site: MakeSite) -> None:
    """No time passes for the other one, so that all it knows is from before the enrolment."""
    site = make_site()
    other = make_site(HANDOFF_PREFIX=site.services.settings.prefix)
    other.services.handoffs.rules()
    site.services.enrolments.settle(*says_yes(site))
    site.services.handoffs.rules(fresh=True)
    handoff = site.record(site.agent.opened(contact="dora"))
    call = handoff.attempts[0].call
    assert call is not None and other.services.handoffs.rules().people.contact("dora") is None
    other.services.calls.end(call, Disposition.BUSY)
    ended = site.record(handoff.id)
    assert {one.contact for one in ended.attempts} == {"dora"} and ended.exhausted


def test_the_card_is_for_everybody_and_names_the_number_that_calls(site: Site) -> None:
    page = site.anybody.get("/card")
    assert page.status_code == 200 and 'href="tel:+12125550100"' in page.text
    for words in ("+1 212 555 0100", 'href="/card.vcf"', "Emergency Bypass", "starred contacts"):
        assert words in page.text
    card = site.anybody.get("/card.vcf")
    assert card.content_type == "text/vcard; charset=utf-8"
    lines = card.text.split("\r\n")
    assert lines[:2] == ["BEGIN:VCARD", "VERSION:3.0"] and lines[-2:] == ["END:VCARD", ""]
    assert "TEL;TYPE=VOICE,MSG,PREF:+12125550100" in lines
