"""The page of a handoff that needs the contact's PIN: asked for beside the button, and only few times."""

from __future__ import annotations

import pytest
import redis

from handoff import pins
from voice import guarded

from .browser import load, press
from .conftest import MakeSite
from .site import Site

PIN = "482913"


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    return make_site(HANDOFF_PINS=f"ada={PIN}")


def test_the_page_asks_for_the_pin_and_the_record_says_so(site: Site) -> None:
    handoff = site.agent.opened(proof="pin")
    link = site.link(handoff)
    page = load(site, link)
    assert "Your PIN" in page.words
    assert press(site, link, "acknowledgement").status == 303, "taking it on decides nothing"
    for wrong in ("", "735164", PIN + "1"):
        refused = press(site, link, "resolution", pin=wrong)
        assert refused.status == 403 and "That PIN is not right. Nothing was sent." in refused.words
        assert wrong == "" or wrong not in refused.html
    nonce = load(site, link).nonce
    for _ in range(2):
        assert press(site, link, "resolution", nonce, pin=PIN).status == 303, "the second is the same form"
    settled = site.agent.get(f"/v1/handoffs/{handoff}").get_json()["settlement"]
    assert (settled["channel"], settled["proof"]) == ("link", "link+pin")
    assert not any(PIN in kept or "735164" in kept for kept in site.dump().values())


def test_a_wrong_pin_keeps_what_was_typed(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?", proof="pin")
    page = press(site, site.link(handoff), "resolution", answer="1 Ada Street", pin="735164")
    assert page.status == 403 and "1 Ada Street" in page.html
    page = press(site, site.link(handoff), "refusal", comment="no access", pin="735164")
    assert page.status == 403 and "no access" in page.html
    assert press(site, site.link(handoff), "refusal", comment="no access", pin=PIN).status == 303


def test_tries_are_few_and_shared_with_the_phone(site: Site) -> None:
    handoff = site.agent.opened(proof="pin")
    link = site.link(handoff)
    for _ in range(pins.TRIES_PER_PERSON):
        site.services.store.over_rate(pins.counter("ada"), pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S)
    page = press(site, link, "resolution", pin=PIN)
    assert page.status == 429 and "Too many tries with your PIN" in page.words
    assert site.record(handoff).state == "escalating"


def test_a_stranger_who_tries_with_a_name_or_a_caller_id_locks_nobody_out_of_their_own_link(
    site: Site,
) -> None:
    link, elsewhere = site.link(site.agent.opened(proof="pin")), pins.counter("ada", anybody=True)
    for _ in range(pins.TRIES_PER_PERSON + 1):
        site.services.store.over_rate(elsewhere, pins.TRIES_PER_PERSON, pins.TRIES_WINDOW_S)
    assert press(site, link, "resolution", pin=PIN).status == 303


def test_who_has_no_pin_is_told_so_and_has_no_button(site: Site) -> None:
    handoff = site.agent.opened(proof="pin")
    link = site.link(handoff, "ben")
    page = load(site, link)
    assert "you have none here" in page.words
    assert [form.rpartition("/")[2] for form in page.forms] == ["acknowledgement", "extension"]
    assert press(site, link, "resolution", pin="").status == 403


def test_a_page_with_less_to_prove_asks_for_no_pin(site: Site) -> None:
    for proof in ("any", "code", "link"):
        handoff = site.agent.opened(proof=proof)
        assert "PIN" not in load(site, site.link(handoff)).words
        assert press(site, site.link(handoff), "resolution").status == 303
        assert site.agent.get(f"/v1/handoffs/{handoff}").get_json()["settlement"]["proof"] == "link"


def test_a_pin_that_nobody_has_can_not_be_asked_for(make_site: MakeSite) -> None:
    answer = make_site().agent.post("/v1/handoffs", {"kind": "clear", "reason": "A wall", "proof": "pin"})
    assert answer.status_code == 422
    assert answer.get_json()["errors"][0]["field"] == "proof"


def test_what_was_typed_in_secret_never_comes_to_an_address(site: Site) -> None:
    """When our memory is away the key rides along to the next try; a PIN is asked for again instead."""
    where = "/twilio/calls/ca_1/attempts/at_1/confirm/1?turn=2&tries=1"
    with site.app.test_request_context(where, method="POST", data={"Digits": PIN}):
        document = guarded.broken_in_secret(redis.ConnectionError()).get_data(as_text=True)
        assert PIN not in document and "key=" not in document and "tries=1" in document
        assert PIN in guarded.broken(redis.ConnectionError()).get_data(as_text=True)
