"""Phones that act by themselves: mailboxes, call screeners, Do Not Disturb, bad lines."""

from __future__ import annotations

import httpx2
import pytest
from twilio.rest import Client

from devphone.testing import DevPhone

from .conftest import ADA, BEN, OURS
from .stub_application import Application

REASON = "A shopper needs help with a checkbox."
NEWS = f'<Gather numDigits="1" action="/key"><Say loop="4">{REASON}</Say></Gather><Say>Bye.</Say>'
ALL_EVENTS = ["initiated", "ringing", "answered", "completed"]


def ring(client: Client, application: Application, to: str = ADA, **more: object) -> str:
    """Place a call with every status event; its sid."""
    placed = client.calls.create(
        to=to,
        from_=OURS,
        url=f"{application.url}/voice",
        status_callback=f"{application.url}/status",
        status_callback_event=ALL_EVENTS,
        **more,
    )
    return str(placed.sid)


def seen(phone: DevPhone, sid: str) -> dict[str, object]:
    """The call, without waiting for anything but what is in flight."""
    phone.settle()
    return phone.send("GET", f"/calls/{sid}")


def device_said(record: dict[str, object]) -> list[str]:
    """What the person's device said and sounded."""
    transcript = record["transcript"]
    assert isinstance(transcript, list)
    return [line["text"] for line in transcript if line["who"] == "device"]


def test_a_mailbox_greets_beeps_and_keeps_what_it_hears_after_the_beep(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", f"<Say>{REASON}</Say><Pause length='10'/><Say>Goodbye, and thank you.</Say>")
    phone.device(ADA).behaves("voicemail", after_s=15, greeting="Ada here. Leave word.")  # 1.5 seconds
    sid = ring(client, application)
    assert seen(phone, sid)["rings_person"] is True
    phone.advance(15)
    call = phone.device(ADA).expect_call(saying="A shopper")
    assert (call.record()["at"], call.record()["rings_person"]) == ("voicemail", False)
    phone.advance(60)
    call.ended("completed")
    assert device_said(call.record()) == ["Ada here. Leave word.", "[beep]"]
    assert call.recorded == ["…with a checkbox.", "Goodbye, and thank you."]
    assert call.record()["keys"] == ""


def test_a_mailbox_that_has_heard_enough_hangs_up_in_the_middle_of_a_word(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("voicemail", greeting="", records_s=4)
    sid = ring(client, application)
    phone.settle()
    phone.advance(4)
    call = phone.device(ADA).missed_call("completed")
    assert call.sid == sid
    assert call.recorded == [REASON, "A shopper needs…"]
    assert call.record()["duration_s"] == 4
    assert application.statuses() == ["initiated", "ringing", "in-progress", "completed"]


def test_a_message_that_is_said_again_and_again_is_recorded_from_the_beep_on(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("voicemail", greeting="x" * 28)  # 2 seconds
    ring(client, application)
    call = phone.device(ADA).expect_call()
    phone.advance(30)
    assert call.ended("completed").recorded == ["…checkbox.", REASON, REASON, REASON, "Bye."]


def test_nobody_can_press_keys_in_a_mailbox(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("voicemail")
    ring(client, application)
    call = phone.device(ADA).expect_call(saying="checkbox")
    with pytest.raises(AssertionError, match="the mailbox has the call"):
        call.press("1")
    call.hang_up()


def test_a_ringing_call_is_sent_to_the_mailbox(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    ring(client, application)
    call = phone.device(ADA).let_ring().to_voicemail()
    phone.settle()
    assert (call.record()["status"], call.record()["at"]) == ("in-progress", "voicemail")
    with pytest.raises(AssertionError, match="call is in-progress, not ringing"):
        call.to_voicemail()
    call.hang_up()


def test_a_screener_asks_listens_and_rings_the_person_who_presses_one(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    application.says("/key", "<Say>Thank you.</Say><Pause length='60'/>")
    phone.device(ADA).behaves("screening", after_s=2, greeting="Who is it, and why?", listens_s=5)
    sid = ring(client, application)
    assert seen(phone, sid)["rings_person"] is False
    phone.advance(2)
    screened = seen(phone, sid)
    assert (screened["status"], screened["at"]) == ("in-progress", "screener")
    assert application.statuses() == ["initiated", "ringing", "in-progress"]
    phone.advance(6)
    assert seen(phone, sid)["rings_person"] is False
    phone.advance(1)
    call = phone.device(ADA).screened_call(hearing="A shopper")
    assert call.record()["screened"] == f"…with a checkbox. {REASON} A shopper needs…"
    with pytest.raises(AssertionError, match="screener holds the call"):
        call.press("1")
    call.answer().press("1").hears("Thank you")
    assert device_said(call.record()) == ["Who is it, and why?", "One moment, please."]
    assert application.at("/key")[0].fields["Digits"] == "1"
    phone.advance(30)
    assert call.record()["at"] == "person"
    call.hang_up()
    happened = [
        event["type"] for event in phone.send("GET", "/events", params={"after": 0})["events"]
        if event["sid"] == sid
    ]  # fmt: skip
    assert [name for name in happened if name in ("call.answered", "call.screened", "call.taken")] == [
        *("call.answered", "call.screened", "call.taken")
    ]


def test_a_screener_sends_a_caller_away_whom_the_person_does_not_want(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("screening", after_s=0, greeting="Who?", listens_s=1)
    ring(client, application)
    phone.settle()
    phone.advance(1.5)
    call = phone.device(ADA).screened_call().decline()
    assert call.record()["status"] == "in-progress"
    with pytest.raises(AssertionError, match="does not ring now"):
        call.answer()
    phone.advance(4)
    call.ended("completed")
    assert device_said(call.record())[-1] == "Sorry, nobody can take your call. Goodbye."
    assert application.at("/key") == []


@pytest.mark.parametrize("how", ["nobody takes it", "to the mailbox"])
def test_a_screened_call_that_is_not_taken_ends_in_the_mailbox(
    phone: DevPhone, client: Client, application: Application, how: str
) -> None:
    application.says("/voice", "<Pause length='600'/>")
    phone.device(ADA).behaves("screening", after_s=0, greeting="Who?", listens_s=1, records_s=7)
    ring(client, application)
    phone.settle()
    phone.advance(1.5)
    call = phone.device(ADA).screened_call()
    if how == "to the mailbox":
        call.to_voicemail()
    else:
        phone.advance(19)
        assert call.record()["at"] == "screener"
        phone.advance(1)
    assert call.record()["at"] == "voicemail"
    phone.advance(15)
    call.ended("completed")
    *_, greeting, beep = device_said(call.record())
    assert "leave a message" in greeting
    assert (beep, call.recorded) == ("[beep]", [])


def test_a_screener_can_be_answered_only_while_the_phone_rings(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("screening", after_s=0)
    sid = ring(client, application)
    phone.settle()
    for deed, words in [("answer", "does not ring"), ("busy", "does not ring"), ("decline", "does not ring")]:
        with pytest.raises(AssertionError, match=words):
            phone.send("POST", f"/calls/{sid}/{deed}")
    client.calls(sid).update(status="completed")
    phone.expect(sid)


def test_callers_who_are_known_are_not_screened(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("screening", lets_through=[OURS])
    ring(client, application)
    call = phone.device(ADA).let_ring()
    phone.advance(30)
    assert (call.record()["status"], call.record()["rings_person"]) == ("ringing", True)
    call.answer().hears("checkbox").hang_up()


def test_do_not_disturb_is_silent_and_the_mailbox_takes_it(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("do_not_disturb")
    ring(client, application)
    call = phone.device(ADA).let_ring()
    assert call.record()["rings_person"] is False
    phone.settle()
    assert application.statuses() == ["initiated", "ringing"]
    phone.advance(19)
    assert call.record()["status"] == "ringing"
    phone.advance(1)
    assert (call.record()["status"], call.record()["at"]) == ("in-progress", "voicemail")
    call.hang_up()


def test_do_not_disturb_lets_a_second_call_within_three_minutes_ring(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.device(ADA).behaves("do_not_disturb", after_s=30)
    rings = []
    for pause_s in (0, 179, 181):
        phone.advance(pause_s)
        ring(client, application, timeout=5)
        call = phone.device(ADA).let_ring()
        rings.append(call.record()["rings_person"])
        client.calls(call.sid).update(status="canceled")
        phone.settle()
    assert rings == [False, True, False]


def test_do_not_disturb_does_not_hold_back_who_is_let_through_nor_who_looks(
    phone: DevPhone, client: Client, application: Application
) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("do_not_disturb", lets_through=[OURS])
    phone.device(BEN).behaves("do_not_disturb")
    ring(client, application)
    ada = phone.device(ADA).let_ring()
    assert ada.record()["rings_person"] is True
    phone.advance(30)
    ada.answer().hears("checkbox").hang_up()
    ring(client, application, to=BEN)
    phone.device(BEN).let_ring().answer().hears("checkbox").hang_up()


def test_a_bad_line_drops_in_the_middle(phone: DevPhone, client: Client, application: Application) -> None:
    application.says("/voice", NEWS)
    phone.device(ADA).behaves("bad_line", drops_after_s=6)
    sid = ring(client, application)
    phone.device(ADA).expect_call(saying="checkbox")
    phone.advance(5)
    assert seen(phone, sid)["status"] == "in-progress"
    phone.advance(1)
    assert seen(phone, sid)["status"] == "completed"
    assert application.at("/status")[-1].fields["CallDuration"] == "6"
    assert client.calls(sid).fetch().status == "completed"


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ({"behaviour": "explodes"}, "behaviour is one of rings, answers, "),
        ({"answered_by": "a parrot"}, "answered_by is one of human, "),
        ({"greeting": 5}, "greeting must be a text"),
        ({"greeting": "x" * 1001}, "at most 1000"),
        ({"lets_through": "+12125550100"}, "lets_through must be a list"),
        ({"lets_through": ["5550100"]}, "lets_through must be a list"),
        ({"listens_s": -1}, "listens_s must be a number"),
        ({"drops_after_s": None}, "drops_after_s must be a number"),
        ({"error_code": 30003.5}, "error_code must be a whole number"),
        ({"number": BEN}, "a phone has no number"),
    ],
)
def test_a_phone_that_makes_no_sense_is_refused_and_stays_as_it_was(
    phone: DevPhone, described: dict[str, object], says: str
) -> None:
    phone.device(ADA).behaves("voicemail", greeting="Hello.", answered_by="human", lets_through=[OURS])
    before = phone.state(ADA)["phones"]
    refused = httpx2.put(f"{phone.url}/_devphone/phones/{ADA}", json={"records_s": 1, **described})
    assert refused.status_code == 400
    assert says in refused.json()["error"]
    assert phone.state(ADA)["phones"] == before
    back = phone.send("PUT", f"/phones/{ADA}", {"greeting": None, "answered_by": None, "after_s": None})
    assert (back["greeting"], back["behaviour"]) == (None, "voicemail")
