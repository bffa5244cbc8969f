"""What Twilio asks during a call, one request at a time: those that no story of a well-behaved phone brings.

The stories are in tests/scenarios (test_proof, test_screening, test_machines); a door for everybody is
test_webhooks.py's business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from handoff.models import Handoff
from handoff.states import State
from voice import urls

from .conftest import MakeSite
from .site import REASON, Site

PIN = "719204"
ASKS = "Hi, say your name and why you are calling"


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """Ada, who has a PIN, and Ben."""
    return make_site(HANDOFF_PINS=f"ada={PIN}")


@contextmanager
def refusing_writes(site: Site) -> Iterator[None]:
    """Redis answers, and keeps nothing."""
    site.raw.config_set("min-replicas-to-write", "1")
    try:
        yield
    finally:
        site.raw.config_set("min-replicas-to-write", "0")


def opened(site: Site, **body: str) -> tuple[Handoff, str, str]:
    """A new handoff, its call to Ada and the attempt."""
    handoff = site.record(site.agent.opened(**body))
    first = handoff.attempts[0]
    assert first.call is not None
    site.services.calls.answered(first.call, "CA1")
    return handoff, first.call, first.id


def test_a_key_that_is_pressed_while_a_screener_is_told_who_calls_decides_nothing(site: Site) -> None:
    handoff, call, attempt = opened(site)
    heard = site.twilio(urls.heard(call, attempt, turn=2, asked=1), Digits="1").text
    assert site.record(handoff.id).state is State.ESCALATING
    assert REASON in heard, "whoever pressed it hears what it is about"


def test_two_machines_do_not_talk_for_ever(site: Site) -> None:
    _, call, attempt = opened(site)
    said = [
        site.twilio(urls.heard(call, attempt, turn=2, asked=asked), SpeechResult=ASKS).text
        for asked in (3, 4)
    ]
    assert "an agent needs a decision" in said[0] and REASON not in said[0]
    assert REASON in said[1] and "/heard" not in said[1]


def test_who_is_asked_for_a_code_when_another_settles_it_hears_who_did(site: Site) -> None:
    handoff, call, attempt = opened(site, proof="code")
    path = urls.confirm(call, attempt, "1", turn=2, tries=1)
    assert "To confirm, press" in site.twilio(path).text
    site.operator.post(f"/v1/handoffs/{handoff.id}/refusal", {})
    for digits in ("", "12"):
        told = site.twilio(path, Digits=digits).text
        assert "ops" in told and "To confirm" not in told


def test_another_pin_in_the_same_document_is_another_try(site: Site) -> None:
    handoff, call, attempt = opened(site, proof="pin")
    path = urls.confirm(call, attempt, "1", turn=2, tries=1)
    assert "That PIN is not right" in site.twilio(path, Digits="735164").text
    assert "Thank you" in site.twilio(path, Digits=PIN).text
    assert site.record(handoff.id).state is State.RESOLVED


@pytest.mark.parametrize("where", ["in our call", "in theirs"])
def test_a_pin_that_is_typed_while_nothing_can_be_kept_goes_into_no_address(site: Site, where: str) -> None:
    _, call, attempt = opened(site, proof="pin")
    path = (
        urls.confirm(call, attempt, "1", turn=2, tries=1) if where == "in our call" else urls.inbound_proof(1)
    )
    with refusing_writes(site):
        again = site.twilio(path, Digits=PIN, From="+12125550123", CallSid="CA2").text
    assert "One moment" in again and PIN not in again


def test_a_mailbox_is_left_nothing_of_what_is_over(site: Site) -> None:
    handoff, call, _ = opened(site)
    assert "An agent needs you" in site.twilio(urls.message(call)).text
    site.operator.post(f"/v1/handoffs/{handoff.id}/refusal", {})
    assert "An agent needs you" not in site.twilio(urls.message(call)).text
