"""What an operator can do to a handoff from its page, and that nothing else can do it in their name."""

from __future__ import annotations

import pytest

from handoff import effects
from handoff.models import Actor, ActorKind, Channel, Decision, Proof
from handoff.moments import SECOND
from handoff.states import CloseReason, Disposition
from handoff.web.console import RATE
from tests.store.records import at_once

from .browser import Page
from .operators_browser import Browser, signed_in
from .site import Site

VERBS = ("acknowledgement", "resolution", "refusal", "cancellation", "ring")


def by_key(site: Site, who: str = "ada") -> Decision:
    by = Actor(kind=ActorKind.CONTACT, id=who, name=who.title())
    return Decision(by=by, channel=Channel.CALL, proof=Proof.KEYPRESS, at=site.now)


def quiet(site: Site, handoff: str) -> None:
    """Nobody's phone rings any more: every call ended with nobody picking up."""
    for _ in range(4):
        for attempt in site.record(handoff).attempts:
            if attempt.call and attempt.ended_at is None:
                site.services.claims.claim(attempt.call, effects.place_call(attempt.call, site.now), "run")
                site.services.calls.end(attempt.call, Disposition.NO_ANSWER)


def verbs(page: Page) -> set[str]:
    return {form.rpartition("/")[2] for form in page.forms} - {"sign-out", ""}


@pytest.mark.parametrize(
    ("verb", "state", "reason"),
    [
        ("resolution", "resolved", "person"),
        ("refusal", "declined", "person"),
        ("cancellation", "cancelled", "operator"),
    ],
)
def test_an_operator_ends_it_and_is_on_record_with_their_key(
    site: Site, verb: str, state: str, reason: str
) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    answer = browser.press(f"/handoffs/{handoff}", verb, comment="because")
    assert (answer.status, answer.response.headers["Location"]) == (303, f"/handoffs/{handoff}")
    record = site.record(handoff)
    assert (record.state, record.close_reason) == (state, reason)
    assert record.closed_by is not None
    assert (record.closed_by.kind, record.closed_by.name) == ("operator", "ops")
    if record.settlement is not None:
        assert (record.settlement.channel, record.settlement.proof) == ("console", "console")
        assert record.settlement.comment == "because"
    page = browser.get(f"/handoffs/{handoff}")
    assert not verbs(page) and "Nothing is left to do" in page.words and "ops" in page.words


def test_an_answer_reaches_the_agent_as_it_was_written(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    answer = "1 Ada Street\n“Flat” <3> & 验证 🔒"
    browser = signed_in(site)
    sent = answer.replace("\n", "\r\n")  # as browsers send it
    assert browser.press(f"/handoffs/{handoff}", "resolution", answer=sent).status == 303
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json()["result"]["answer"] == answer
    assert "“Flat” <3> & 验证 🔒" in browser.get(f"/handoffs/{handoff}").words


def test_an_empty_answer_is_refused_and_what_was_typed_is_still_there(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    browser = signed_in(site)
    page = browser.press(f"/handoffs/{handoff}", "resolution", answer=" ", comment="kept")
    assert page.status == 422 and "write an answer" in page.words and "kept" in page.words
    assert site.record(handoff).state == "escalating"


def test_im_on_it_pauses_the_ladder_and_the_page_says_who_has_it(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    assert browser.press(f"/handoffs/{handoff}", "acknowledgement").status == 303
    page = browser.get(f"/handoffs/{handoff}")
    assert "You have it" in page.words and "ops has it" in page.words
    assert "acknowledgement" not in verbs(page) and "ring" not in verbs(page)


def test_what_a_person_has_can_be_settled_but_not_taken(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get(f"/handoffs/{handoff}").nonce
    site.services.handoffs.acknowledge(handoff, by_key(site, "ben"), "c1")
    page = browser.post(f"/handoffs/{handoff}/acknowledgement", nonce)
    assert page.status == 409 and "Ben has it already" in page.words
    assert verbs(page) == {"resolution", "refusal", "cancellation"}
    assert browser.post(f"/handoffs/{handoff}/resolution", page.nonce).status == 303


def test_people_are_rung_again_when_nobody_is_and_not_while_a_phone_rings(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    page = browser.get(f"/handoffs/{handoff}")
    assert "ring" not in verbs(page) and "Calling Ada now" in page.words
    lost = browser.post(f"/handoffs/{handoff}/ring", page.nonce)
    assert lost.status == 409 and "being called already" in lost.words
    quiet(site, handoff)
    assert site.record(handoff).exhausted
    calls = len(site.effects("place_call"))
    page = browser.get(f"/handoffs/{handoff}")
    assert "ring" in verbs(page) and "Everybody was tried" in page.words
    for _ in range(2):  # sent twice, it is one command
        assert browser.post(f"/handoffs/{handoff}/ring", page.nonce).status == 303
    assert len(site.effects("place_call")) == calls + 1
    assert site.types(handoff).count("rung_again") == 1
    assert "ops (operator’s page): ring again." in browser.get(f"/handoffs/{handoff}").words


def test_withdrawing_asks_once_more_without_a_script(site: Site) -> None:
    page = signed_in(site).get(f"/handoffs/{site.agent.opened()}")
    tags = [tag for tag, has in page.tags if tag in ("details", "summary") or has.get("action")]
    assert tags.count("details") == tags.count("summary") == 2
    assert "Yes, withdraw it" in page.words and "can’t be undone" in page.words


@pytest.mark.parametrize("verb", VERBS)
def test_who_comes_late_is_told_who_settled_it_and_how_and_when(site: Site, verb: str) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get(f"/handoffs/{handoff}").nonce
    site.services.handoffs.resolve(handoff, by_key(site), "c1")
    page = browser.post(f"/handoffs/{handoff}/{verb}", nonce)
    assert page.status == 409
    assert "Too late: it was resolved at " in page.words and "UTC by Ada, key on the phone" in page.words
    assert "Nothing was changed" in page.words and not verbs(page)
    assert site.types(handoff).count("resolved") == 1


def test_after_the_deadline_the_page_says_that_it_expired(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get(f"/handoffs/{handoff}").nonce
    site.now += 600 * SECOND
    assert not verbs(browser.get(f"/handoffs/{handoff}")), "also before the clock has said so"
    page = browser.post(f"/handoffs/{handoff}/resolution", nonce)
    assert page.status == 410 and "it expired at" in page.words
    assert site.record(handoff).close_reason is CloseReason.NOBODY


def test_two_operators_who_withdraw_it_are_both_told_the_truth(site: Site) -> None:
    handoff = site.agent.opened()
    one, other = signed_in(site), signed_in(site)
    nonce = other.get(f"/handoffs/{handoff}").nonce
    assert one.press(f"/handoffs/{handoff}", "cancellation").status == 303
    page = other.post(f"/handoffs/{handoff}/cancellation", nonce)
    assert page.status == 409 and "it was cancelled at" in page.words and "by ops" in page.words


@pytest.mark.parametrize("verb", VERBS)
def test_without_the_nonce_of_this_very_session_nothing_happens(site: Site, verb: str) -> None:
    handoff = site.agent.opened()
    browser, other = signed_in(site), Browser(site)
    site.now += 1  # or both sessions end in the same millisecond, and are one
    other.sign_in()
    bad = {
        "another session's": other.get("/").nonce,
        "nobody's": Browser(site).get("/sign-in").nonce,
        "empty": "",
        "none": None,
        "made up": "0" * 24 + "." + "0" * 32,
        "cut": browser.get("/").nonce[:-1],
        "huge": "x" * 100_000,
    }
    before = site.dump()
    for why, nonce in bad.items():
        page = browser.post(f"/handoffs/{handoff}/{verb}", nonce)
        assert page.status == 403 and "try again" in page.words, why
    assert site.dump() == before


@pytest.mark.parametrize("fetch_site", ["cross-site", "same-site", "nonsense", ""])
def test_a_form_that_another_site_sent_does_nothing(site: Site, fetch_site: str) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    data = {"nonce": browser.get("/").nonce}
    before = site.dump()
    for verb in VERBS:
        headers = {"Sec-Fetch-Site": fetch_site, "Origin": "https://evil.example"}
        page = browser("POST", f"/handoffs/{handoff}/{verb}", data=data, headers=headers)
        assert page.status == 403
    assert site.dump() == before


@pytest.mark.parametrize("verb", VERBS)
def test_who_is_signed_out_changes_nothing_and_is_led_back_afterwards(site: Site, verb: str) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get("/").nonce
    before = site.dump()
    page = Browser(site).post(f"/handoffs/{handoff}/{verb}", nonce)
    assert page.status == 401 and "Nothing was changed" in page.words
    [onward] = [has["value"] for _, has in page.tags if has.get("name") == "next"]
    assert onward == f"/handoffs/{handoff}"
    assert site.dump() == before


def test_an_agents_key_is_no_way_in_whatever_it_is_sent_with(site: Site) -> None:
    handoff = site.agent.opened()
    before = site.dump()
    for verb in VERBS:
        answer = site.app.test_client().post(f"/handoffs/{handoff}/{verb}", headers=site.agent.headers)
        assert answer.status_code == 401
    assert site.dump() == before


def test_a_double_click_of_ten_fingers_is_one_command(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get("/").nonce
    path = f"/handoffs/{handoff}/refusal"
    assert at_once(10, lambda _: browser.post(path, nonce).status) == [303] * 10
    assert site.types(handoff).count("declined") == 1


def test_two_buttons_of_one_loaded_page_are_two_commands(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get(f"/handoffs/{handoff}").nonce
    for verb in ("acknowledgement", "resolution"):
        assert browser.post(f"/handoffs/{handoff}/{verb}", nonce).status == 303
    assert site.record(handoff).state == "resolved"


def test_an_operator_who_acts_like_a_script_is_slowed_down(site: Site) -> None:
    handoff = site.agent.opened()
    browser = signed_in(site)
    nonce = browser.get("/").nonce
    path = f"/handoffs/{handoff}/acknowledgement"
    assert {browser.post(path, nonce).status for _ in range(RATE)} == {303}
    page = browser.post(path, nonce)
    assert page.status == 429 and "wait a minute" in page.words


def test_a_form_that_is_too_long_or_of_no_handoff_is_answered_in_words(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    browser = signed_in(site)
    page = browser.press(f"/handoffs/{handoff}", "resolution", answer="x" * 1_100_000)
    assert page.status == 413 and "too long" in page.words
    assert browser.post(f"/handoffs/ho_{'0' * 22}/resolution", browser.get("/").nonce).status == 404
    assert site.record(handoff).state == "escalating"
