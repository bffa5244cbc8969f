"""The page for a code: one answer for every wrong one, few tries, and the person's page for a right one."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from handoff import code_book, links
from handoff.moments import MINUTE
from handoff.web import code_page

from .browser import Page
from .site import SECRET, Site


class Browser:
    """A browser somewhere."""

    def __init__(self, site: Site, address: str = "192.0.2.1") -> None:
        self.client = site.app.test_client()
        self.options: dict[str, Any] = {
            "base_url": "https://handoff.example.com",
            "environ_base": {"REMOTE_ADDR": address},
        }
        self.nonce = Page(self.client.get("/c", **self.options)).nonce

    def enters(self, code: str) -> TestResponse:
        return self.client.post("/c", data={"nonce": self.nonce, "code": code}, **self.options)


def given(site: Site, handoff: str, minutes: int = 15) -> str:
    """A code for Ada."""
    until = site.now + minutes * MINUTE
    return code_book.give(site.services.handoffs, [SECRET], handoff, "ada", "at_1", until)


def test_a_code_leads_to_the_persons_own_link_once_and_the_same_form_again(site: Site) -> None:
    handoff = site.agent.opened()
    code, browser = given(site, handoff), Browser(site)
    where = f"/h/{links.make(SECRET, handoff, 'ada')}"
    for _ in range(2):
        answer = browser.enters(f"{code[:3]} {code[3:]}")
        assert (answer.status_code, answer.headers["Location"]) == (303, where)
    assert Page(browser.client.get(where, **browser.options)).status == 200
    assert Browser(site, "192.0.2.2").enters(code).status_code == 403
    assert given(site, handoff) != code


def test_every_wrong_code_gets_the_same_answer_and_reading_changes_nothing(site: Site) -> None:
    handoff = site.agent.opened()
    used, late = (
        given(site, handoff),
        code_book.give(site.services.handoffs, [SECRET], handoff, "ben", "at_2", site.now + MINUTE),
    )
    Browser(site).enters(used)
    site.now += 2 * MINUTE
    before = site.dump()
    browser = Browser(site, "192.0.2.3")
    assert site.dump() == before
    pages = set()
    for number, wrong in enumerate((used, late, "000000", "", "x" * 5_000, "\u0664" * 6)):
        browser = Browser(site, f"192.0.2.{10 + number}")
        answer = browser.enters(wrong)
        page = Page(answer)
        assert (answer.status_code, code_page.REFUSED in page.html) == (403, True)
        pages.add(page.html.replace(page.nonce, ""))
    assert len(pages) == 1


def test_after_a_few_tries_a_right_code_is_refused_too(site: Site) -> None:
    code = given(site, site.agent.opened())
    browser = Browser(site)
    statuses = [browser.enters("000000").status_code for _ in range(code_page.TRIES_FROM_HERE)]
    assert set(statuses) == {403} and browser.enters(code).status_code == 429
    elsewhere = (Browser(site, f"198.51.100.{n}") for n in range(code_page.TRIES_AN_HOUR))
    assert 429 in {one.enters("000000").status_code for one in elsewhere}
    assert Browser(site, "203.0.113.9").enters(code).status_code == 429, "nobody guesses from many places"


def test_one_address_can_not_use_up_the_tries_of_all(site: Site) -> None:
    code, browser = given(site, site.agent.opened()), Browser(site)
    for _ in range(code_page.TRIES_AN_HOUR + 1):
        browser.enters("000000")
    assert Browser(site, "203.0.113.9").enters(code).status_code == 303


def test_a_code_of_somebody_who_sees_no_page_or_is_gone_opens_none(site: Site) -> None:
    handoff = site.agent.opened()
    until = site.now + 15 * MINUTE
    code = code_book.give(site.services.handoffs, [SECRET], handoff, "somebody", "at_9", until)
    assert Browser(site).enters(code).status_code == 403


def test_a_form_that_was_not_loaded_from_here_is_not_taken(site: Site) -> None:
    code, browser = given(site, site.agent.opened()), Browser(site)
    browser.nonce = "made.up"
    assert browser.enters(code).status_code == 403
    assert Browser(site).enters(code).status_code == 303
