"""Who calls our number and what they show: whose code it is, how often one may try, and what comes twice.

The stories are tests/scenarios/test_calling_in.py's; here is what a stranger could try at the same door.
"""

from __future__ import annotations

import re
from html import unescape

import pytest

from handoff import code_book, inbound, pins
from handoff.models import Actor, ActorKind
from handoff.states import CloseReason, Disposition
from voice import inbound_calls

from .conftest import MakeSite
from .site import SECRET, Site

ADA, BEN, PIN = "+12125550123", "+12125550124", "719204"
WRONG = "That was not right"


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """Ada, who has a PIN, and Ben."""
    return make_site(HANDOFF_PINS=f"ada={PIN}")


def code_for(site: Site, contact: str, handoff: str) -> str:
    """A code that this contact got for this handoff, good for a minute."""
    return code_book.give(site.services.handoffs, [SECRET], handoff, contact, "at_1", site.now + 60_000)


def shows(site: Site, digits: str, number: str = ADA, call: str = "CA1") -> str:
    """Somebody calls from this number and types this: what they are answered."""
    return site.twilio("/twilio/calls/inbound/proof?turn=1", CallSid=call, From=number, Digits=digits).text


def follow(site: Site, document: str) -> str:
    """What Twilio is answered where a document sends the call."""
    [url] = re.findall(r"<Redirect[^>]*>([^<]+)</Redirect>", document)[-1:]
    return site.twilio(unescape(url).removeprefix("https://handoff.example.com"), CallSid="CA1").text


def test_a_code_is_good_for_its_own_contact_only_and_not_for_long(site: Site) -> None:
    handoff = site.agent.opened()
    bens = code_for(site, "ben", handoff)
    assert WRONG in shows(site, bens, ADA)
    assert "called_in" not in site.types(handoff)
    site.now += 60_000
    assert WRONG in shows(site, bens, BEN)
    site.now -= 60_000
    assert "Redirect" in shows(site, bens, BEN)
    assert WRONG in shows(site, bens, BEN, "CA2"), "it works once"


def test_a_code_lets_in_to_its_own_handoff_and_the_caller_hears_of_no_other(site: Site) -> None:
    handoff = site.agent.opened()
    site.agent.opened(reason="Something else")
    assert "Redirect" in shows(site, code_for(site, "ben", handoff), BEN)
    attempt = site.record(handoff).attempts[-1]
    gone_on = site.twilio(f"/twilio/calls/inbound/{attempt.call}/next?after={attempt.id}").text
    assert "Goodbye" in gone_on and "Redirect" not in gone_on


def test_going_on_that_comes_twice_leaves_nothing_out(site: Site) -> None:
    for reason in ("The third", "The second", "The first"):
        site.agent.opened(reason=reason)
        site.now += 1
    assert "The first" in follow(site, shows(site, PIN))
    newest = site.agent.get("/v1/handoffs?limit=1").json["handoffs"][0]["attempts"][-1]
    path = f"/twilio/calls/inbound/{newest['call']}/next?after={newest['id']}"
    answers = [follow(site, site.twilio(path).text) for _ in range(2)]
    assert answers[0] == answers[1] and "The second" in answers[0]


def test_after_too_many_tries_the_right_pin_and_the_right_code_open_nothing(site: Site) -> None:
    code = code_for(site, "ada", site.agent.opened())
    for again in range(pins.TRIES_PER_PERSON):
        assert WRONG in shows(site, "000000", call=f"CA{again}")
    assert WRONG in shows(site, PIN) and WRONG in shows(site, code)


def test_a_caller_id_makes_a_phone_ring_so_often_and_no_more(site: Site) -> None:
    """Twice for one handoff, and three times in an hour for all of them."""

    def calls_back(handoff: str, name: str) -> int:
        ringing = [one.call for one in site.record(handoff).attempts if one.call][-1]
        site.services.calls.end(str(ringing), Disposition.BUSY)
        assert "If something waits for you, we call you" in shows(site, "9", call=f"CA{handoff}{name}")
        return site.types(handoff).count("calls_back")

    assert (inbound.MOST_BACKS, inbound_calls.BACK_AN_HOUR) == (2, 3)
    first = site.agent.opened(contact="ada")
    assert [calls_back(first, name) for name in "ab"] == [1, 2]
    by = Actor(kind=ActorKind.AGENT, id="ak", name="shopper")
    site.services.handoffs.cancel(first, by, CloseReason.AGENT, "withdrawn")
    second = site.agent.opened(contact="ada")
    assert [calls_back(second, name) for name in "cd"] == [1, 1]


def test_a_caller_id_brings_no_third_call_back_for_one_handoff(site: Site) -> None:
    handoff = site.agent.opened(contact="ada")
    for again in range(inbound.MOST_BACKS + 1):
        ringing = [one.call for one in site.record(handoff).attempts if one.call][-1]
        site.services.calls.end(str(ringing), Disposition.BUSY)
        shows(site, "9", call=f"CA{again}")
    assert site.types(handoff).count("calls_back") == inbound.MOST_BACKS
