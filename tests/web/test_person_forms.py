"""What a person can do on the page, and what nobody else can: nonces, one command per form, late answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.store.records import at_once

from .browser import Page, load, press
from .site import Site

VERBS = ("acknowledgement", "extension", "resolution", "refusal")


def test_done_means_done_and_is_on_record_as_ada_by_link(site: Site) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    done = press(site, link, "resolution")
    assert (done.status, done.response.headers["Location"]) == (303, f"/h/{link}")
    settled = site.agent.get(f"/v1/handoffs/{handoff}").get_json()["settlement"]
    assert settled["by"] == {"kind": "contact", "id": "ada", "name": "Ada"}
    assert (settled["channel"], settled["proof"]) == ("link", "link")
    assert "You did it" in load(site, link).words


def test_an_answer_reaches_the_agent_as_it_was_written(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    answer = "1 Ada Street\n“Flat” <3> & 验证 🔒"
    sent = f"  {answer} ".replace("\n", "\r\n")  # as browsers send it
    assert press(site, site.link(handoff), "resolution", answer=sent).status == 303
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json()["result"]["answer"] == answer


def test_a_no_reaches_the_agent_with_its_reason(site: Site) -> None:
    handoff = site.agent.opened()
    assert press(site, site.link(handoff), "refusal", comment=" no access ").status == 303
    shown = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
    assert (shown["state"], shown["settlement"]["comment"]) == ("declined", "no access")


def test_im_on_it_pauses_and_the_page_says_so(site: Site) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    assert press(site, link, "acknowledgement").status == 303
    assert "You are on it" in load(site, link).words
    assert site.record(handoff).state == "acknowledged"


def test_who_takes_on_what_somebody_has_is_told_who_and_may_still_finish_it(site: Site) -> None:
    handoff = site.agent.opened()
    ada, ben = site.link(handoff, "ada"), site.link(handoff, "ben")
    press(site, ada, "acknowledgement")
    page = press(site, ben, "acknowledgement")
    assert page.status == 409 and "Ada is on it" in page.words and page.forms
    assert press(site, ben, "resolution", page.nonce).status == 303
    assert "Ben did it" in load(site, ada).words


def test_a_name_in_the_form_is_ignored_and_the_link_says_who_it_was(site: Site) -> None:
    handoff = site.agent.opened()
    press(
        site, site.link(handoff, "ben"), "resolution", decided_by="cfo@example.org", by="ada", channel="call"
    )
    assert site.record(handoff).settlement.by.id == "ben"  # type: ignore[union-attr]  # it is settled


@pytest.mark.parametrize("verb", VERBS)
def test_without_the_nonce_of_this_very_page_nothing_happens(site: Site, verb: str) -> None:
    handoff, other = site.agent.opened(), site.agent.opened()
    link = site.link(handoff)
    bad = {
        "another contact's": load(site, site.link(handoff, "ben")).nonce,
        "another handoff's": load(site, site.link(other)).nonce,
        "empty": "",
        "made up": "0" * 24 + "." + "0" * 32,
        "cut": load(site, link).nonce[:-1],
        "huge": "x" * 100_000,
        "odd": "\x00.\ud7ff",
    }
    before = site.dump()
    for how, nonce in bad.items():
        page = press(site, link, verb, nonce)
        assert page.status == 403 and page.nonce, how
        assert "try again" in page.words
    missing = site.anybody("POST", f"/h/{link}/{verb}", data={})
    assert missing.status_code == 403
    as_json = site.anybody("POST", f"/h/{link}/{verb}", json={"nonce": load(site, link).nonce})
    assert as_json.status_code == 403
    assert site.dump() == before


@pytest.mark.parametrize("fetch_site", ["cross-site", "same-site", "nonsense", ""])
def test_a_form_that_another_site_sent_does_nothing(site: Site, fetch_site: str) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    data = {"nonce": load(site, link).nonce}
    before = site.dump()
    headers = {"Sec-Fetch-Site": fetch_site, "Origin": "https://evil.example"}
    assert site.anybody("POST", f"/h/{link}/resolution", data=data, headers=headers).status_code == 403
    assert site.dump() == before
    own = site.anybody("POST", f"/h/{link}/resolution", data=data, headers={"Sec-Fetch-Site": "same-origin"})
    assert own.status_code == 303


def test_a_form_sent_twice_is_one_command_with_one_outcome(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    link = site.link(handoff)
    nonce = load(site, link).nonce
    for _ in range(3):
        assert press(site, link, "resolution", nonce, answer="1 Ada Street").status == 303
    assert site.types(handoff).count("resolved") == 1
    assert "late_answer_refused" not in site.types(handoff)


def test_a_double_tap_of_ten_fingers_is_one_command(site: Site) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    nonce = load(site, link).nonce
    assert at_once(10, lambda _: press(site, link, "refusal", nonce).status) == [303] * 10
    assert site.types(handoff).count("declined") == 1


def test_two_buttons_of_one_loaded_page_are_two_commands(site: Site) -> None:
    """Back in the browser, the old page is shown again with its old nonce: "done" must still mean done."""
    handoff = site.agent.opened()
    link = site.link(handoff)
    nonce = load(site, link).nonce
    assert press(site, link, "acknowledgement", nonce).status == 303
    assert press(site, link, "resolution", nonce).status == 303
    assert site.record(handoff).state == "resolved"


def test_a_yes_and_a_no_from_one_page_are_never_both_confirmed(site: Site) -> None:
    handoff = site.agent.opened()
    link = site.link(handoff)
    nonce = load(site, link).nonce
    assert press(site, link, "refusal", nonce).status == 303
    page = press(site, link, "resolution", nonce)
    assert page.status == 409 and "can’t be done" in page.words
    assert site.record(handoff).state == "declined"


@pytest.mark.parametrize("answer", ["", "   ", "\r\n", "x" * 10_001])
def test_an_answer_that_can_not_be_taken_comes_back_with_a_word_why(site: Site, answer: str) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    before = site.record(handoff)
    page = press(site, site.link(handoff), "resolution", answer=answer)
    assert page.status == 422
    assert ("Please write an answer first" in page.words) == (not answer.strip())
    assert ("10,000" in page.words) == (len(answer) > 10_000)
    assert f">{answer.strip()}" in page.html.replace("\r\n", "")
    assert site.record(handoff) == before
    assert press(site, site.link(handoff), "resolution", page.nonce, answer="now").status == 303


def test_the_longest_answer_that_the_page_lets_one_type_is_taken(site: Site) -> None:
    """A browser counts a line end as one character and sends it as two."""
    handoff = site.agent.opened(kind="ask", reason="Which?")
    answer = "a\r\n" * 4_000
    assert len(answer.replace("\r\n", "\n")) <= 10_000 < len(answer)
    assert press(site, site.link(handoff), "resolution", answer=answer).status == 303


def test_a_comment_that_is_too_long_is_cut_and_the_no_still_counts(site: Site) -> None:
    handoff = site.agent.opened()
    assert press(site, site.link(handoff), "refusal", comment="x" * 5_000).status == 303
    shown = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
    assert len(shown["settlement"]["comment"]) == 1_000


def test_an_answer_on_a_wall_is_no_answer_and_the_wall_is_gone(site: Site) -> None:
    handoff = site.agent.opened()
    press(site, site.link(handoff), "resolution", answer="yes")
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json()["result"] == {
        "kind": "clear",
        "cleared": True,
    }


def test_a_page_loaded_before_the_deadline_and_sent_after_it_says_that_it_was_too_late(site: Site) -> None:
    for ticked in (True, False):
        handoff = site.agent.opened(timeout_s=2)
        link = site.link(handoff)
        loaded = load(site, link)
        site.now += 3_000
        if ticked:
            site.services.handoffs.expire(handoff)
        page = press(site, link, "resolution", loaded.nonce)
        assert page.status == 410
        assert "too late" in page.words and "nothing was done" in page.words and not page.forms
        assert [has["datetime"] for tag, has in page.tags if tag == "time"], "it says when"
        record = site.record(handoff)
        assert (record.state, record.close_reason, record.settlement) == ("expired", "nobody", None)
        if ticked:
            assert site.types(handoff)[-1] == "late_answer_refused"


def test_a_page_loaded_after_the_deadline_offers_nothing_although_no_clock_has_ticked(site: Site) -> None:
    handoff = site.agent.opened(timeout_s=2)
    link = site.link(handoff)
    site.now += 2_000
    before = site.dump()
    page = load(site, link)
    assert "Time ran out" in page.words and not page.forms
    assert site.dump() == before, "nothing expires because someone looked"


def test_a_script_behind_a_link_is_slowed_down_and_a_person_is_not(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which?")
    link = site.link(handoff)
    nonce = load(site, link).nonce
    answers = [press(site, link, "resolution", nonce, answer="").status for _ in range(40)]
    assert answers[:20] == [422] * 20 and answers[-1] == 429
    slowed = press(site, link, "resolution", nonce, answer="now")
    assert slowed.status == 429 and "wait a minute" in slowed.words
    other = site.link(handoff, "ben")
    assert press(site, other, "resolution", answer="from Ben").status == 303, "others are not held up"


def test_a_forged_form_does_not_use_up_what_the_person_may_do(site: Site) -> None:
    link = site.link(site.agent.opened())
    for _ in range(60):
        press(site, link, "resolution", "forged")
    assert press(site, link, "resolution").status == 303


ENDINGS = {
    "by oneself": ("resolved", "You did it"),
    "by another": ("resolved", "Ben did it"),
    "by an operator": ("resolved", "ops did it"),
    "seen to be gone": ("resolved", "saw that it is gone"),
    "no by oneself": ("declined", "You said that it can't be done"),
    "no by another": ("declined", "Ben said that it can't be done"),
    "withdrawn by the agent": ("cancelled", "shopper withdrew it"),
    "withdrawn by an operator": ("cancelled", "An operator withdrew it"),
    "expired": ("expired", "Nobody was in time, and nothing was done"),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_after_the_end_the_page_says_what_happened_and_when_and_offers_nothing(site: Site, how: str) -> None:
    handoff = site.agent.opened()
    ada, ben = site.link(handoff, "ada"), site.link(handoff, "ben")
    old = load(site, ada).nonce
    site.now += 5_000
    end: dict[str, Callable[[], object]] = {
        "by oneself": lambda: press(site, ada, "resolution"),
        "by another": lambda: press(site, ben, "resolution"),
        "by an operator": lambda: site.operator.post(f"/v1/handoffs/{handoff}/resolution"),
        "seen to be gone": lambda: site.agent.post(f"/v1/handoffs/{handoff}/observation"),
        "no by oneself": lambda: press(site, ada, "refusal"),
        "no by another": lambda: press(site, ben, "refusal"),
        "withdrawn by the agent": lambda: site.agent.post(f"/v1/handoffs/{handoff}/cancellation"),
        "withdrawn by an operator": lambda: site.operator.post(f"/v1/handoffs/{handoff}/cancellation"),
        "expired": lambda: site.expire(handoff),
    }
    end[how]()
    state, words = ENDINGS[how]
    assert site.record(handoff).state == state
    site.now += 86_400_000
    page = load(site, ada)
    assert page.status == 200 and words in page.words.replace("’", "'") and not page.forms
    assert [has["datetime"] for tag, has in page.tags if tag == "time"]
    stands = site.record(handoff)
    for verb in VERBS:
        late = press(site, ada, verb, old)
        assert late.status == (410 if how == "expired" else 409) and words in late.words.replace("’", "'")
        assert "too late" in late.words and not late.forms
    kept = {"rev": stands.rev, "seq": stands.seq, "late_answers": stands.late_answers}
    assert site.record(handoff).model_copy(update=kept) == stands


def test_an_answered_question_is_not_shown_to_the_next_reader(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    press(site, site.link(handoff), "resolution", answer="1 Ada Street")
    for contact in ("ada", "ben"):
        assert "Ada Street" not in Page(site.anybody.get(f"/h/{site.link(handoff, contact)}")).html
