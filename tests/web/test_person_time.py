"""The deadline on the page: until when, how much more can be had, and what asking for more does."""

from __future__ import annotations

from handoff.moments import MINUTE, SECOND

from .browser import load, press
from .site import Site


def test_ten_more_minutes_are_given_and_the_page_says_until_when(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=600, max_timeout_s=3_600)
    link = site.link(handoff)
    before = site.record(handoff).deadline
    assert "I need 10 more minutes" in load(site, link).words
    assert press(site, link, "extension").status == 303
    record = site.record(handoff)
    assert record.deadline == before + 10 * MINUTE
    page = load(site, link)
    assert [1 for _, has in page.tags if has.get("data-until") == str(record.deadline)]
    assert "You are on it" in page.words, "whoever asks for time has it"
    extended = [event for event in site.events(handoff) if event.type == "extended"]
    assert [(one.by.id, one.proof) for one in extended] == [("ada", "link")]


def test_a_double_tap_asks_once_and_asking_again_later_asks_again(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=600, max_timeout_s=7_200)
    link = site.link(handoff)
    nonce = load(site, link).nonce
    before = site.record(handoff).deadline
    for _ in range(2):
        assert press(site, link, "extension", nonce).status == 303
    assert site.record(handoff).deadline == before + 10 * MINUTE
    press(site, link, "extension")
    assert site.record(handoff).deadline == before + 20 * MINUTE


def test_when_no_more_can_be_had_the_page_says_so_and_offers_none(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=600, max_timeout_s=1_200)
    link = site.link(handoff)
    old = load(site, link).nonce
    press(site, link, "extension", old)
    page = load(site, link)
    assert "No more time can be had" in page.words and not [1 for form in page.forms if "extension" in form]
    deadline = site.record(handoff).deadline
    other = press(site, site.link(handoff, "ben"), "extension")
    assert other.status == 409 and "No more time can be had" in other.words
    assert press(site, link, "extension", old).status == 303, "the command that got it"
    assert site.record(handoff).deadline == deadline


def test_less_than_ten_minutes_are_offered_as_what_they_are(site: Site) -> None:
    link = site.link(site.agent.opened(timeout_s=600, max_timeout_s=840))
    assert "I need 4 more minutes" in load(site, link).words


def test_where_the_agent_allows_no_more_none_is_offered(site: Site) -> None:
    link = site.link(site.agent.opened(timeout_s=600, max_timeout_s=600))
    page = load(site, link)
    assert "more minute" not in page.words and not [1 for form in page.forms if "extension" in form]


def test_more_time_while_somebody_else_has_it_leaves_it_theirs(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=600)
    press(site, site.link(handoff, "ben"), "acknowledgement")
    press(site, site.link(handoff, "ada"), "extension")
    record = site.record(handoff)
    assert record.acknowledged is not None and record.acknowledged.by.id == "ben"
    assert "Ben is on it" in load(site, site.link(handoff, "ada")).words


def test_what_was_given_counts_and_the_first_deadline_does_not(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=600)
    link = site.link(handoff)
    press(site, link, "extension")
    site.now += 900 * SECOND
    assert press(site, link, "resolution").status == 303
    assert site.record(handoff).state == "resolved"


def test_more_time_after_the_end_is_refused(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=60)
    link = site.link(handoff)
    nonce = load(site, link).nonce
    site.now += 61 * SECOND
    page = press(site, link, "extension", nonce)
    assert page.status == 410 and "too late" in page.words and not page.forms
