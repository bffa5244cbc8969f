"""The phones on the page: stories with a browser, and whether everybody can use every state of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone import testing

from .browsing import PHONE_SIZE, WIDE, Looker, launched
from .conftest import ADA, BEN, CY, OURS
from .stub_application import Application

MENU = (
    '<Gather numDigits="1" action="/chosen" input="dtmf speech" timeout="60">'
    "<Say>Hello, this is the clinic. Press 1 or say yes to confirm your appointment.</Say></Gather>"
)
STILL = 0.001
"""A score of https://web.dev/articles/cls; one row of buttons more moves what is below by 0.01."""


class Look(Protocol):
    """Opens a window on the page."""

    def __call__(self, query: str = "", dark: bool = False, small: bool = False) -> Looker: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as running:
        yield running


@pytest.fixture
def look(browser: Browser, phone: testing.DevPhone) -> Iterator[Look]:
    """Windows, whose problems fail the test."""
    lookers: list[Looker] = []

    def open_one(query: str = "", dark: bool = False, small: bool = False) -> Looker:
        lookers.append(Looker(browser, f"{phone.url}/{query}", dark, PHONE_SIZE if small else WIDE))
        return lookers[-1]

    yield open_one
    for looker in lookers:
        looker.leave()
    assert [problem for looker in lookers for problem in looker.problems] == []


@pytest.fixture
def voice(application: Application) -> str:
    """Where the application says its menu."""
    application.says("/chosen", "<Say>Thank you.</Say><Hangup/>")
    return application.says("/voice", MENU)


def test_it_rings_is_answered_and_a_key_is_pressed_without_a_mouse(
    look: Look, phone: testing.DevPhone, client: Client, application: Application, voice: str
) -> None:
    phone.device(ADA).behaves("rings")
    looker = look()
    page, ada = looker.page, _card(looker.page, ADA)
    expect(ada).to_contain_text("Idle")
    looker.moved_while()
    client.calls.create(to=ADA, from_=OURS, url=voice)
    expect(_button(ada, "Answer")).to_be_visible()
    assert looker.moved_while() < STILL, "the page jumped when a call came"
    expect(page).to_have_title("Ringing: dev phone (simulated)")
    expect(page.get_by_role("status")).to_contain_text(f"{ADA} rings: {OURS} is calling")
    assert looker.wrong() == []
    expect(ada).to_be_focused()
    page.keyboard.press("Enter")
    expect(ada.get_by_role("log", name="What is said")).to_contain_text("this is the clinic")
    expect(_button(ada, "1")).to_be_focused()
    assert looker.wrong() == []
    page.keyboard.press("1")
    expect(ada.get_by_role("log", name="What is said")).to_contain_text("pressed 1")
    expect(ada.get_by_role("log", name="What is said")).to_contain_text("Thank you.")
    assert application.waits_for("/chosen")[0].fields["Digits"] == "1"
    assert page.evaluate("tones.slice(-2)") == [697, 1209]
    assert page.evaluate("words")[-1] == "Thank you."
    phone.advance(5)
    expect(ada).to_contain_text("Idle")
    ada.get_by_role("tab", name="Log").click()
    expect(ada.get_by_role("tabpanel", name="Log")).to_contain_text("completed")
    phone.device(ADA).missed_call("completed")


def test_two_phones_ring_side_by_side_and_one_goes_to_voicemail(
    look: Look, phone: testing.DevPhone, client: Client, voice: str
) -> None:
    looker = look()
    for number in (ADA, BEN):
        client.calls.create(to=number, from_=OURS, url=voice)
    ada, ben = _card(looker.page, ADA), _card(looker.page, BEN)
    _button(ada, "Answer").wait_for()
    _button(ben, "Answer").wait_for()
    left, right = ada.bounding_box(), ben.bounding_box()
    assert left is not None and right is not None
    assert (left["y"], left["x"] + left["width"] <= right["x"]) == (right["y"], True)
    looker.picture("two-ring")
    expect(looker.page.get_by_text("Tap anywhere for sound")).to_be_visible()
    _button(ada, "To voicemail").click()
    expect(looker.page.get_by_text("Tap anywhere for sound")).to_be_hidden()
    assert looker.page.evaluate("tones.slice(0, 2)") == [440, 480]
    expect(ada).to_contain_text(f"The mailbox talks to {OURS}")
    _button(ben, "Busy").click()
    expect(ben).to_contain_text("Idle")
    phone.device(ADA).expect_call()
    phone.device(BEN).missed_call("busy")


def test_a_second_call_waits_while_one_talks(
    look: Look, phone: testing.DevPhone, client: Client, application: Application, voice: str
) -> None:
    looker = look()
    first = client.calls.create(to=ADA, from_=OURS, url=voice)
    ada = _card(looker.page, ADA)
    _button(ada, "Answer").click()
    expect(ada).to_contain_text(f"On the line with {OURS}")
    client.calls.create(to=ADA, from_=OURS, url=voice)
    expect(ada).to_contain_text("Another call waits")
    looker.page.keyboard.press("2")
    assert application.waits_for("/chosen")[0].fields["CallSid"] == first.sid
    _button(ada, "Hang up").click()
    expect(_button(ada, "Answer")).to_be_visible()
    _button(ada, "Decline").click()
    phone.device(ADA).missed_call("completed")
    phone.device(ADA).missed_call("no-answer")


def test_a_text_is_read_and_answered_and_stop_is_obeyed(
    look: Look, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    phone.line(OURS).sends_texts_to(application.says("/sms", ""))
    client.messages.create(to=ADA, from_=OURS, body="Your appointment: https://clinic.example/a/4f2.")
    looker = look(f"?phone=%2B{ADA[1:]}")
    ada = _card(looker.page, ADA)
    link = ada.get_by_role("log", name="Texts").get_by_role("link").first
    expect(link).to_have_attribute("href", "https://clinic.example/a/4f2")
    ada.get_by_role("tab", name="Log").click()
    client.messages.create(to=ADA, from_=OURS, body="Are you coming?")
    ada.get_by_role("tab", name="Texts 1 new").click()
    expect(ada.get_by_role("tab", name="Texts", exact=True)).to_be_visible()
    for words in ("Is ten all right?", "STOP"):
        ada.get_by_label("Text to send").fill(words)
        _button(ada, "Send").click()
        expect(ada.locator("li.mine").first).to_contain_text(words)
        expect(ada.get_by_label("Text to send")).to_have_value("")
    expect(ada.get_by_role("listitem").first).to_contain_text("You will get no more texts")
    assert [hook.fields["Body"] for hook in application.waits_for("/sms", 2)] == ["Is ten all right?", "STOP"]
    with pytest.raises(TwilioRestException) as refusal:
        client.messages.create(to=ADA, from_=OURS, body="Once more")
    assert refusal.value.code == 21610
    assert looker.wrong() == []
    looker.picture("texts")
    for text in phone.state(ADA)["messages"]:
        phone.expect(text["sid"])


def test_a_fault_is_switched_on_and_back_and_one_is_used_up(
    look: Look, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    looker = look()
    page = looker.page
    page.locator("#faults summary").click()
    switch = page.get_by_role("switch", name="geography refused")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(page.locator("#faults summary")).to_contain_text("1 armed")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false")
    page.get_by_label("With the next").select_option("messages")
    page.get_by_label("How often").fill("2")
    page.get_by_label("seconds of late callbacks").fill("7")
    page.get_by_role("switch", name="late callbacks").click()
    expect(page.locator("#faults")).to_contain_text("2 to come on messages")
    (armed,) = phone.send("GET", "/faults")["faults"]
    assert (armed["name"], armed["times"], armed["seconds"]) == ("late_callbacks", 2, 7)
    client.messages.create(to=ADA, from_=OURS, body="one", status_callback=f"{application.url}/status")
    expect(page.locator("#faults")).to_contain_text("1 to come on messages")
    page.get_by_role("switch", name="late callbacks").click()
    expect(page.locator("#faults summary")).not_to_contain_text("armed")
    assert phone.send("GET", "/faults")["faults"] == []
    phone.device(ADA).expect_text("one")


def test_a_screener_asks_and_the_person_declines(
    look: Look, phone: testing.DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("screening", after_s=0, greeting="Who is it?", listens_s=4)
    looker = look()
    ada = _card(looker.page, ADA)
    url = application.says("/voice", '<Pause length="1"/><Say>The clinic here.</Say><Pause length="60"/>')
    client.calls.create(to=ADA, from_=OURS, url=url)
    expect(ada).to_contain_text(f"A screener talks to {OURS}")
    expect(_button(ada, "Answer")).to_be_hidden()
    phone.advance(20)
    expect(ada).to_contain_text("A screener answered: “The clinic here.”")
    _button(ada, "Decline").click()
    phone.advance(20)
    expect(ada).to_contain_text("Idle")
    phone.device(ADA).missed_call("completed")


def test_on_a_small_screen_the_phone_that_rings_is_shown_and_speech_is_heard(
    look: Look, phone: testing.DevPhone, client: Client, application: Application, voice: str
) -> None:
    phone.device(ADA).behaves("rings")
    phone.device(BEN).behaves("rings")
    looker = look(small=True)
    page, ada, ben = looker.page, _card(looker.page, ADA), _card(looker.page, BEN)
    expect(ben).to_be_visible()
    expect(ada).to_be_hidden()
    client.calls.create(to=ADA, from_=OURS, url=voice)
    expect(ada).to_be_visible()
    expect(ben).to_be_hidden()
    looker.picture("small-ringing")
    _button(ada, "Answer").tap()
    expect(ada).to_contain_text("Speak or press keys now")
    looker.picture("small-on-the-line")
    assert looker.wrong() == []
    ada.get_by_label("Words to say").fill("yes, please")
    _button(ada, "Say").tap()
    expect(ada.get_by_role("log", name="What is said")).to_contain_text("yes, please")
    phone.advance(70)
    assert application.waits_for("/chosen")[0].fields["SpeechResult"] == "yes, please"
    page.get_by_role("button", name=BEN).tap()
    expect(ben).to_be_visible()
    assert "phone=%2B12125550124" in page.url
    phone.device(ADA).missed_call("completed")


def test_a_phone_is_added_calls_in_and_hangs_up(
    look: Look, phone: testing.DevPhone, application: Application
) -> None:
    phone.line(OURS).sends_calls_to(application.says("/voice", "<Say>Good day.</Say><Pause length='60'/>"))
    looker = look()
    page = looker.page
    expect(page.get_by_role("main")).to_contain_text("No phone yet")
    assert looker.wrong() == []
    page.get_by_label("Add a phone").fill(CY)
    page.get_by_role("button", name="Add", exact=True).click()
    cy = _card(page, CY)
    _button(cy, f"Call {OURS}").click()
    expect(cy).to_contain_text(f"On the line with {OURS}")
    cy.get_by_role("tab", name="Call").click()
    expect(cy.get_by_role("log", name="What is said")).to_contain_text("Good day.")
    _button(cy, "Hang up").click()
    expect(_button(cy, f"Call {OURS}")).to_be_visible()
    assert application.at("/voice")[0].fields["From"] == CY
    phone.expect(phone.state(CY)["calls"][0]["sid"])


def test_how_a_phone_and_the_account_behave_is_set_and_nonsense_is_refused(
    look: Look, phone: testing.DevPhone
) -> None:
    phone.device(ADA).behaves("rings")
    looker = look(dark=True)
    page, ada = looker.page, _card(looker.page, ADA)
    ada.get_by_role("tab", name="Setup").click()
    expect(ada.get_by_label("After seconds", exact=True)).to_be_hidden()
    ada.get_by_label("When it is called").select_option("voicemail")
    ada.get_by_label("After seconds", exact=True).fill("12")
    ada.get_by_label("When it is texted").select_option("undelivered")
    ada.get_by_label("Opens links for a preview").check()
    page.locator("#account summary").click()
    page.get_by_label("Trial account").check()
    page.get_by_label("Calls per second").fill("0.5")
    page.get_by_label("Verified numbers").fill("+1212")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("verified must be a list of numbers")
    page.get_by_label("Verified numbers").fill(f"{ADA}, {BEN}")
    page.keyboard.press("Tab")
    page.locator("#numbers summary").click()
    page.get_by_label("Calls go to").fill("http://127.0.0.1:5000/voice")
    page.keyboard.press("Tab")
    assert looker.wrong() == []
    looker.picture("setup-dark", whole=True)
    (set_up,) = phone.state(ADA)["phones"]
    assert (set_up["behaviour"], set_up["after_s"], set_up["texts"]) == ("voicemail", 12, "undelivered")
    assert set_up["previews"] is True
    account = phone.account()
    assert (account["trial"], account["calls_per_second"], account["verified"]) == (True, 0.5, [ADA, BEN])
    assert phone.send("GET", "/numbers")["numbers"][0]["voice_url"] == "http://127.0.0.1:5000/voice"


@pytest.mark.parametrize("small", [False, True], ids=["wide", "small"])
def test_everybody_can_use_it_by_day_and_night_and_with_large_letters(
    look: Look, phone: testing.DevPhone, client: Client, voice: str, small: bool
) -> None:
    phone.device(BEN).behaves("answers")
    for number in (ADA, BEN):
        client.messages.create(to=number, from_=OURS, body="See https://clinic.example/a/4f2, or reply STOP.")
        client.calls.create(to=number, from_=OURS, url=voice)
    client.messages.create(to=CY, from_=OURS, body="Nothing to see.")
    looker = look(small=small)
    page = looker.page
    expect(_card(page, ADA)).to_be_visible()
    size = "small" if small else "wide"
    if not small:
        _card(page, BEN).get_by_role("tab", name="Call").click()
    for scheme in ("light", "dark"):
        looker.sees_it(scheme)
        page.evaluate("scrollTo(0, 0)")
        looker.picture(f"{size}-{scheme}")
        page.locator("#faults summary").click()
        expect(page.get_by_role("switch").first).to_be_visible()
        looker.picture(f"{size}-{scheme}-faults")
        assert looker.wrong() == []
        page.locator("#faults summary").click()
    page.locator("#faults summary").click()
    for letters_px in (16, 32):
        looker.narrow(letters_px)
        assert looker.too_wide() == []
        looker.picture(f"{size}-narrow-{letters_px}")
    for number in (ADA, BEN):
        phone.device(number).expect_call()
        phone.device(number).expect_text()
    phone.device(CY).expect_text()


def _card(page: Page, number: str) -> Locator:
    return page.locator(f".phone[data-number='{number}']")


def _button(card: Locator, name: str) -> Locator:
    return card.get_by_role("button", name=name, exact=True)
