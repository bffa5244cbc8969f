"""How faults are asked for: by chance, with a limit, for one kind only; and what is none."""

from __future__ import annotations

import pytest
from twilio.base.exceptions import TwilioRestException
from twilio.rest import Client

from devphone.testing import DevPhone

from .calling import ring_hello
from .conftest import ADA, OURS
from .stub_application import Application


def test_chances_are_drawn_from_the_seed(phone: DevPhone, client: Client) -> None:
    half = {"geography_refused": {"chance": 0.5, "on": "messages"}}

    def refused(wanted: dict[str, object]) -> list[bool]:
        phone.faults(wanted)
        outcomes = []
        for _ in range(12):
            try:
                client.messages.create(to=ADA, from_=OURS, body="Hello")
                outcomes.append(False)
            except TwilioRestException:
                outcomes.append(True)
        return outcomes

    once = refused({**half, "seed": 7})
    assert set(once) == {True, False}
    assert refused({"seed": 7}) == once
    assert refused({"delay_201_s": {"seconds": 0.01, "chance": 0.5, "on": "messages"}, "seed": 7}) == once
    assert refused({**half, "seed": 8}) != once
    phone.faults({"geography_refused": {"times": 0, "on": "messages"}})
    for _ in range(3 * 12 - 3 * sum(once)):
        phone.device(ADA).expect_text("Hello")
    for text in phone.state()["messages"]:
        phone.expect(text["sid"])


def test_a_chance_can_be_limited_and_taken_back(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"throttled": {"chance": 1, "times": 2}})
    for _ in range(2):
        with pytest.raises(TwilioRestException):
            ring_hello(client, application)
    assert phone.send("GET", "/faults")["faults"] == []
    phone.faults({"throttled": {"chance": 1}})
    assert phone.send("GET", "/faults")["faults"][0]["times"] is None
    phone.faults({"throttled": 0})
    ring_hello(client, application)
    phone.device(ADA).let_ring()


def test_the_catalogue_names_every_fault_and_what_it_needs(phone: DevPhone) -> None:
    names = phone.send("GET", "/faults")["names"]
    assert len(names) > 20
    for fault in names:
        assert fault["says"].endswith(".")
        values = {need["name"]: need["default"] or need["most"] or "a text" for need in fault["needs"]}
        for on in fault["on"]:
            phone.faults({fault["name"]: {"on": on, **values}})
    armed = phone.send("GET", "/faults")["faults"]
    assert len(armed) == sum(len(fault["on"]) for fault in names)
    for fault in names:
        for on in fault["on"]:
            phone.faults({fault["name"]: {"on": on, "times": 0}})
    assert phone.send("GET", "/faults")["faults"] == []


def test_faults_for_messages_leave_calls_alone(
    phone: DevPhone, client: Client, application: Application
) -> None:
    phone.faults({"500_after_accept": {"times": 1, "on": "messages"}})
    ring_hello(client, application)
    phone.device(ADA).let_ring()
    with pytest.raises(TwilioRestException):
        client.messages.create(to=ADA, from_=OURS, body="Hello")
    phone.device(ADA).expect_text("Hello")


def test_a_fault_that_does_not_exist_is_refused(phone: DevPhone) -> None:
    phone.faults({"lose_201": 2})
    for wrong, why in (
        ({"lose_everything": 1}, "no fault is called 'lose_everything'"),
        ({"fetch_lag_s": 3}, "needs seconds"),
        ({"fetch_lag_s": {"seconds": "3"}}, "needs seconds"),
        ({"fetch_lag_s": {"seconds": 3, "on": "messages"}}, "on is one of calls"),
        ({"early_callback": {"on": "inbound_calls"}}, "on is one of calls, messages"),
        ({"late_callbacks": {"seconds": 10**9}}, "from 0.01 to 86400"),
        ({"lose_201": -1}, "times must be"),
        ({"lose_201": True}, "times must be"),
        ({"lose_201": {"time": 1}}, "has no time"),
        ({"lose_201": {"chance": 1.5}}, "chance must be"),
        ({"lose_201": 5, "seed": "7"}, "seed must be"),
        ({"rest_error": {"code": 20429, "status": 9}}, "needs status"),
        ({"sha256_signature": {"secret": ""}}, "needs secret"),
    ):
        with pytest.raises(AssertionError, match=why):
            phone.faults(wrong)
    assert phone.send("GET", "/faults")["faults"] == [
        {"name": "lose_201", "on": "calls", "times": 2, "chance": None}
    ]
    phone.faults({"lose_201": 0})
