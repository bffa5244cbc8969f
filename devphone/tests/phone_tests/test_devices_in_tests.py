"""`devphone.testing` as a test uses it: it reads as phone calls, and failures say what was heard instead."""

from __future__ import annotations

import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Application

ASKS = '<Gather input="speech" action="/answer" speechTimeout="1"><Say>Is it urgent?</Say></Gather>'


def test_a_call_with_a_screener_before_the_person_reads_as_one_call(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", "<Say>A delivery for you.</Say><Pause length='30'/><Say>Goodbye.</Say>")
    ada = phone.device(ADA).behaves("screening", after_s=1, greeting="Who is it?", listens_s=4)
    client.calls.create(to=ADA, from_=OURS, url=f"{application.url}/voice")
    phone.settle()
    phone.advance(3)
    with pytest.raises(AssertionError, match=r"…0123: no call.*in-progress at the screener: 'A delivery"):
        ada.expect_call(timeout_s=0.1)
    phone.advance(3)
    with pytest.raises(AssertionError, match="no call that was screened 'parcel'.*A delivery for you"):
        ada.screened_call(hearing="parcel", timeout_s=0.1)
    call = ada.expect_call(saying="a delivery")
    assert call.record()["at"] == "person"
    with pytest.raises(AssertionError, match="not over but in-progress; the voice said: 'A delivery for you"):
        call.ended(timeout_s=0.1)
    phone.advance(30)
    with pytest.raises(AssertionError, match="ended as completed, not busy"):
        call.hears("goodbye").ended("busy")


def test_a_person_calls_speaks_texts_and_gets_a_reply(phone: DevPhone, application: Application) -> None:
    application.says("/in", ASKS)
    application.says("/answer", "<Say>We are on our way.</Say>")
    application.says("/text", "<Message>Thank you for the picture.</Message>")
    line = phone.line(OURS).sends_calls_to(f"{application.url}/in")
    line.sends_texts_to(f"{application.url}/text")
    ada = phone.device(ADA)
    call = ada.calls(OURS).hears("urgent").says("Yes, very.", confidence=0.4)
    phone.advance(5)
    call.hears("on our way")
    phone.advance(5)
    call.ended("completed")
    [heard] = application.at("/answer")
    assert (heard.fields["SpeechResult"], heard.fields["Confidence"]) == ("Yes, very.", "0.4")
    picture = f"{application.url}/door.jpg"
    assert ada.texts(OURS, "This door", media=[picture]).media == [picture]
    ada.expect_text("thank you")


def test_what_a_person_did_by_hand_is_not_taken_for_what_the_application_did(phone: DevPhone) -> None:
    phone.send("POST", f"/phones/{ADA}/text", {"to": OURS, "body": "Is anybody there?"})
    with pytest.raises(AssertionError, match="…0123: no text.*Is anybody there"):
        phone.device(ADA).expect_text("anybody", timeout_s=0.1)
    phone.send("POST", f"/phones/{BEN}/call", {"to": OURS})
    phone.settle()
    with pytest.raises(AssertionError, match="…0124: no call that ended as no-answer"):
        phone.device(BEN).missed_call("no-answer", timeout_s=0.1)
    with pytest.raises(
        AssertionError,
        match=r"call from …0124, no-answer[\s\S]*text from …0123, received: 'Is anybody there\?'",
    ):
        phone.nothing_else_happened()
    phone.reset()


def test_a_fault_that_did_not_happen_fails_the_test_and_one_by_chance_does_not(phone: DevPhone) -> None:
    phone.faults({"lose_201": 2, "delay_201_s": {"seconds": 1, "chance": 0.001}})
    with pytest.raises(AssertionError, match="fault lose_201 on calls did not happen, 2 left"):
        phone.nothing_else_happened()
    phone.faults({"lose_201": 0})
    phone.nothing_else_happened()


def test_what_the_account_may_do_is_set_and_told(phone: DevPhone) -> None:
    limits = phone.account(trial=True, verified=[BEN])
    assert (limits["trial"], limits["verified"], limits["concurrent_requests"]) == (True, [BEN], 0)
    with pytest.raises(AssertionError, match="an account has no colour"):
        phone.account(colour="red")
