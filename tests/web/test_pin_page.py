"""The page of a handoff that nobody was rung for: it tells nothing until somebody has shown who they are."""

from __future__ import annotations

import re
from typing import Any

import pytest
from werkzeug.test import TestResponse

from handoff import sessions
from handoff.moments import HOUR, MINUTE

from .browser import Page
from .conftest import MakeSite
from .site import OPERATOR_KEY, REASON, SECRET, Site

PIN = "482913"
NOBODY = "ho_" + "0" * 22


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """Ada has a PIN, Ben has none."""
    return make_site(HANDOFF_PINS=f"ada={PIN}")


class Phone:
    """A browser that keeps its cookies, somewhere."""

    def __init__(self, site: Site, address: str = "192.0.2.1") -> None:
        self.client = site.app.test_client()
        self.options: dict[str, Any] = {
            "base_url": "https://handoff.example.com",
            "environ_base": {"REMOTE_ADDR": address},
        }

    def get(self, path: str) -> Page:
        return Page(self.client.get(path, **self.options))

    def send(self, path: str, nonce: str | None = None, **fields: str) -> TestResponse:
        nonce = (
            self.get(path.rpartition("/")[0] if path.count("/") > 2 else path).nonce
            if nonce is None
            else nonce
        )
        return self.client.post(path, data={"nonce": nonce} | fields, **self.options)

    def proves(self, handoff: str, name: str = "Ada", pin: str = PIN) -> TestResponse:
        return self.send(f"/p/{handoff}", name=name, pin=pin)


def opened(site: Site, **body: Any) -> str:
    return str(site.agent.open(notify="none", **body)["id"])


def test_the_agents_answer_has_the_pages_address_and_nobody_is_rung(site: Site) -> None:
    handoff = site.agent.open(notify="none")
    assert handoff["page_url"] == f"https://handoff.example.com/p/{handoff['id']}"
    assert (
        not site.effects("place_call")
        and not site.effects("send_text")
        and not site.record(handoff["id"]).attempts
    )


def test_until_it_is_shown_who_one_is_the_page_tells_nothing_not_even_that_it_exists(site: Site) -> None:
    asked, rung = opened(site, label="Order 1009"), site.agent.opened()
    ended = opened(site)
    site.agent.post(f"/v1/handoffs/{ended}/cancellation")
    before = site.dump()
    pages = set()
    for handoff in (asked, rung, ended, NOBODY, "nonsense", "ho_x"):
        page = Phone(site).get(f"/p/{handoff}")
        assert page.status == 200
        for word in (REASON, "checkbox", "Order 1009", "shopper"):
            assert word not in page.html
        pages.add(page.html.replace(page.nonce, "").replace(handoff, ""))
    assert len(pages) == 1 and site.dump() == before


def test_with_name_and_pin_it_is_the_persons_page_and_the_word_counts_as_link_and_pin(site: Site) -> None:
    handoff, phone = opened(site, kind="ask", reason="Which address?"), Phone(site)
    answer = phone.proves(handoff)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/p/{handoff}")
    page = phone.get(f"/p/{handoff}")
    assert "Which address?" in page.words
    verbs = ("resolution", "acknowledgement", "extension", "refusal")
    assert page.forms == [f"/p/{handoff}/{verb}" for verb in verbs]
    sent = phone.send(f"/p/{handoff}/resolution", page.nonce, answer="1 Ada Street")
    assert (sent.status_code, sent.headers["Location"]) == (303, f"/p/{handoff}")
    settled = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
    assert settled["settlement"]["by"] == {"kind": "contact", "id": "ada", "name": "Ada"}
    assert (settled["settlement"]["channel"], settled["settlement"]["proof"]) == ("link", "link+pin")
    assert settled["result"]["answer"] == "1 Ada Street"
    assert "You answered" in phone.get(f"/p/{handoff}").words


@pytest.mark.parametrize("name", ["ada", " ADA ", "Ada", "\uff21da"])
def test_a_name_is_taken_however_a_phone_writes_it(site: Site, name: str) -> None:
    assert Phone(site).proves(opened(site), name=name).status_code == 303


WRONG = {
    "wrong PIN": ("Ada", "482914"),
    "no PIN": ("Ada", ""),
    "half a PIN": ("Ada", PIN[:3]),
    "odd PIN": ("Ada", "４８２９１３\x00é"),
    "who has no PIN": ("Ben", PIN),
    "who has none, with none": ("Ben", ""),
    "who has none, with a word": ("Ben", "None"),
    "nobody": ("Cy", PIN),
    "no name": ("", PIN),
}


def test_whatever_does_not_fit_gets_one_and_the_same_refusal(site: Site) -> None:
    asked, rung = opened(site), site.agent.opened()
    refusals = set()
    cases = [(asked, *wrong) for wrong in WRONG.values()]
    cases += [(rung, "Ada", PIN), (NOBODY, "Ada", PIN), ("nonsense", "Ada", PIN)]
    for number, (handoff, name, pin) in enumerate(cases):
        site.now += HOUR
        answer = Phone(site, f"192.0.2.{number}").proves(handoff, name, pin)
        page = Page(answer)
        assert answer.status_code == 403 and "Set-Cookie" not in answer.headers
        shown = page.html.replace(page.nonce, "").replace(handoff, "")
        refusals.add(re.sub(r'id="name" name="name" value="[^"]*"', "", shown))
        assert pin == "" or pin not in page.html, "a PIN never comes back"
    assert len(refusals) == 1


def test_the_cookie_is_for_this_page_alone_and_for_half_an_hour(site: Site) -> None:
    handoff, other = opened(site), opened(site)
    phone = Phone(site)
    cookie = phone.proves(handoff).headers["Set-Cookie"]
    for part in ("HttpOnly", "Secure", "SameSite=Strict", f"Path=/p/{handoff}", "Max-Age=1800"):
        assert part in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    there = Page(site.anybody.get(f"/p/{other}", headers={"Cookie": f"handoff_pin={value}"}))
    assert "Your PIN" in there.words and REASON not in there.words
    site.now += 30 * MINUTE
    assert "Your PIN" in phone.get(f"/p/{handoff}").words


def test_a_sign_in_sent_twice_and_a_page_loaded_again_still_work_there_and_nowhere_else(site: Site) -> None:
    """Case 43."""
    handoff, phone = opened(site), Phone(site)
    nonce = phone.get(f"/p/{handoff}").nonce
    for _ in range(2):
        answer = phone.send(f"/p/{handoff}", nonce, name="Ada", pin=PIN)
        assert answer.status_code == 303
    for _ in range(3):
        assert REASON in phone.get(f"/p/{handoff}").words
    assert REASON not in Phone(site).get(f"/p/{handoff}").words


@pytest.mark.parametrize("purpose", ["operator", "pin"])
def test_a_cookie_that_was_not_made_for_this_is_none(site: Site, purpose: str) -> None:
    handoff = opened(site)
    subjects = (
        [f"{handoff}|ada"] if purpose == "operator" else [f"{handoff}|ben", f"{handoff}|", handoff, "|ada"]
    )
    for subject in subjects:
        sealed = sessions.seal(SECRET, purpose, subject, site.now + HOUR)
        page = Page(site.anybody.get(f"/p/{handoff}", headers={"Cookie": f"handoff_pin={sealed}"}))
        assert REASON not in page.words
    for forged in ("", "x", f"{handoff}|ada", "é", "." * 50):
        page = Page(site.anybody.get(f"/p/{handoff}", headers={"Cookie": f"handoff_pin={forged}"}))
        assert REASON not in page.words


def test_without_proof_no_button_no_news_and_no_frame(site: Site) -> None:
    handoff = opened(site, live_view_url="https://view.example/1")
    before = site.dump()
    for verb in ("acknowledgement", "extension", "resolution", "refusal"):
        answer = site.anybody(
            "POST", f"/p/{handoff}/{verb}", data={"nonce": Phone(site).get(f"/p/{handoff}").nonce}
        )
        assert answer.status_code == 403 and "Nothing was sent" in Page(answer).words
        assert REASON not in site.anybody.get(f"/p/{handoff}/{verb}").text
    for path in ("news?seen=-1", "view"):
        answer = site.anybody.get(f"/p/{handoff}/{path}")
        assert answer.status_code == 403 and REASON not in answer.text and "view.example" not in answer.text
    assert site.dump() == before


def test_a_form_of_the_question_or_of_somebody_elses_visit_is_no_form_of_the_page(site: Site) -> None:
    handoff = opened(site)
    ada, again = Phone(site), Phone(site)
    question = ada.get(f"/p/{handoff}").nonce
    ada.proves(handoff)
    site.now += 1_000
    again.proves(handoff)
    for nonce in (question, again.get(f"/p/{handoff}").nonce, "", "x.y"):
        assert ada.send(f"/p/{handoff}/resolution", nonce).status_code == 403
    assert site.record(handoff).state == "pending"
    assert ada.send(f"/p/{handoff}", "forged", name="Ada", pin=PIN).status_code == 403


def test_news_and_live_view_are_there_for_who_has_shown_who_they_are(site: Site) -> None:
    handoff, phone = opened(site, live_view_url="https://view.example/1"), Phone(site)
    phone.proves(handoff)
    assert phone.send(f"/p/{handoff}/acknowledgement").status_code == 303
    news = phone.client.get(f"/p/{handoff}/news?seen=-1", **phone.options).get_json()
    assert f'src="/p/{handoff}/view"' in news["html"]
    frame = phone.get(f"/p/{handoff}/view")
    assert [has["src"] for tag, has in frame.tags if tag == "iframe"] == ["https://view.example/1"]


def test_guessing_is_slowed_down_per_handoff(site: Site) -> None:
    handoff = opened(site)
    answers = [Phone(site, f"192.0.2.{n}").proves(handoff, pin=f"{n:06}").status_code for n in range(12)]
    assert answers == [403] * 10 + [429] * 2
    slowed = Phone(site, "192.0.2.99").proves(handoff)
    assert slowed.status_code == 429 and "wait" in Page(slowed).words and "Set-Cookie" not in slowed.headers


def test_guessing_is_slowed_down_per_address_whatever_handoff_is_tried(site: Site) -> None:
    answers = [Phone(site).proves(opened(site), pin=f"{n:06}").status_code for n in range(12)]
    assert answers == [403] * 10 + [429] * 2
    assert Phone(site, "192.0.2.2").proves(opened(site)).status_code == 303


def test_a_requester_that_opens_many_handoffs_does_not_get_more_tries_for_one_person(site: Site) -> None:
    answers = [Phone(site, f"192.0.2.{n}").proves(opened(site), pin=f"{n:06}").status_code for n in range(32)]
    assert answers == [403] * 30 + [429] * 2


def test_nobody_is_locked_out_by_tries_at_handoffs_that_do_not_exist(site: Site) -> None:
    for n in range(31):
        Phone(site, f"192.0.2.{n}").proves(NOBODY, pin=f"{n:06}")
    assert Phone(site, "192.0.2.99").proves(opened(site)).status_code == 303


def test_a_made_up_name_is_slowed_down_like_a_real_one(site: Site) -> None:
    for n in range(31):
        Phone(site, f"192.0.2.{n}").proves(opened(site), name="Nobody", pin=f"{n:06}")
    assert Phone(site, "192.0.2.99").proves(opened(site), name="Somebody").status_code == 403


def test_two_people_of_one_name_each_have_their_own_pin(make_site: MakeSite) -> None:
    site = make_site(
        HANDOFF_TO_NUMBER="Ada=+12125550123,ada=+12125550124", HANDOFF_PINS="ada=482913,ada-2=719204"
    )
    for pin, contact in (("482913", "ada"), ("719204", "ada-2")):
        handoff, phone = opened(site), Phone(site)
        assert phone.proves(handoff, pin=pin).status_code == 303
        phone.send(f"/p/{handoff}/acknowledgement")
        held = site.record(handoff).acknowledged
        assert held is not None and held.by.id == contact


def test_what_was_typed_is_shown_when_the_half_hour_is_over(site: Site) -> None:
    handoff, phone = opened(site, kind="ask"), Phone(site)
    phone.proves(handoff)
    nonce = phone.get(f"/p/{handoff}").nonce
    site.now += 31 * MINUTE
    page = Page(phone.send(f"/p/{handoff}/resolution", nonce, answer="a long answer <b>"))
    assert (page.status, "a long answer <b>" in page.words) == (403, True)
    assert not site.record(handoff).closed


def test_a_pin_that_was_taken_away_ends_the_visit(site: Site, make_site: MakeSite) -> None:
    handoff, phone = opened(site), Phone(site)
    cookie = phone.proves(handoff).headers["Set-Cookie"].partition(";")[0]
    changed = make_site(HANDOFF_PREFIX=site.services.settings.prefix)
    assert REASON not in Page(changed.anybody.get(f"/p/{handoff}", headers={"Cookie": cookie})).words


def test_an_operator_is_led_to_the_handoff_in_the_list(site: Site) -> None:
    handoff, phone = opened(site), Phone(site)
    question = phone.get(f"/p/{handoff}")
    [sign_in] = [str(has["href"]) for tag, has in question.tags if tag == "a"]
    assert sign_in == f"/sign-in?next=/p/{handoff}"
    nonce = phone.get(sign_in).nonce
    phone.client.post("/sign-in", data={"nonce": nonce, "key": OPERATOR_KEY}, **phone.options)
    led = phone.client.get(f"/p/{handoff}", **phone.options)
    assert (led.status_code, led.headers["Location"]) == (303, f"/handoffs/{handoff}")


def test_the_page_is_not_kept_indexed_or_framed_and_has_no_script_before_the_proof(site: Site) -> None:
    page = Phone(site).get(f"/p/{opened(site)}")
    headers = page.response.headers
    assert headers["Cache-Control"] == "no-store" and "noindex" in headers["X-Robots-Tag"]
    assert headers["X-Frame-Options"] == "DENY" and headers["Referrer-Policy"] == "same-origin"
    assert not [1 for tag, _ in page.tags if tag == "script"]


@pytest.mark.parametrize("odd", ["%00", "%22%3E%3Cscript%3E", "..", "é", "a" * 5_000, "ho_%ff"])
def test_an_odd_address_is_the_same_question_and_its_text_stays_text(site: Site, odd: str) -> None:
    page = Phone(site).get(f"/p/{odd}")
    assert page.status in (200, 404) and "<script" not in page.html
    if page.status == 200:
        assert "Your PIN" in page.words


def test_under_a_path_prefix_cookie_and_forms_have_it(make_site: MakeSite) -> None:
    site = make_site(HANDOFF_PUBLIC_URL="https://example.com/tools/handoff", HANDOFF_PINS=f"ada={PIN}")
    handoff = opened(site)
    page = Page(site.anybody.get(f"/p/{handoff}"))
    assert page.forms == [f"/tools/handoff/p/{handoff}"]
    answer = site.anybody("POST", page.forms[0], data={"nonce": page.nonce, "name": "Ada", "pin": PIN})
    assert answer.headers["Location"] == f"/tools/handoff/p/{handoff}"
    assert f"Path=/tools/handoff/p/{handoff};" in answer.headers["Set-Cookie"] + ";"
