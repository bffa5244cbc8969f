"""What words on the line sound like. Real screeners' own, what people say on the phone, and mailboxes."""

from __future__ import annotations

import pytest

from voice.overheard import HINTS, Sounds, sounds_like

ASKING = (
    # Apple, iOS 26
    "Hi, if you record your name and reason for calling, I'll see if this person is available.",
    "hi if you record your name and reason for calling i’ll see if this person is available",
    # Google, 2018 and 2025
    "Hi, the person you're calling is using a screening service from Google, and will get a copy of this "
    "conversation. Go ahead and say your name and why you're calling.",
    "Go ahead and say your name and why you're calling",
    "Hi, I'm Call Assist by Google recording this call for the person you're trying to reach. Before I try "
    "to connect you, can I ask what you're calling about?",
    # Telephones and carriers
    "Hello. Calls to this number are being screened. Please say your name after the tone, then press pound.",
    "Please state your name and the purpose of your call",
    # The dev phone
    "Hello, this phone asks before it rings. Please say your name and why you are calling, and I will see "
    "whether you can be put through.",
)
WAITING = (
    "Thanks. Please stay on the line.",
    "One moment, please.",
    "please hold",
    "Okay, hold on a second",
    "Please wait while I'm trying to connect you",
)
OTHER = (
    "Hello?",
    "Hello, who is this?",
    "Yes, this is Ada.",
    "Ada speaking, what is it about?",
    "why are you calling me at three in the morning",
    "yes I approve",
    "one",
    "I was holding the baby",
    "",
    "…",
)
MAILBOX = (
    "You have reached Ada. Please leave your name and number after the beep.",
    "Your call has been forwarded to voicemail. At the tone, please record your message.",
    "Hi this is Ada, I can't come to the phone. Leave a message with your name and reason for calling.",
)


@pytest.mark.parametrize("words", ASKING)
def test_a_screener_asks(words: str) -> None:
    assert sounds_like(words) is Sounds.ASKING


@pytest.mark.parametrize("words", WAITING)
def test_a_screener_that_puts_us_through_asks_to_wait(words: str) -> None:
    assert sounds_like(words) is Sounds.WAITING


@pytest.mark.parametrize("words", OTHER)
def test_a_person_is_no_screener(words: str) -> None:
    assert sounds_like(words) is Sounds.OTHER


@pytest.mark.parametrize("words", MAILBOX)
def test_a_mailbox_is_no_screener_though_it_asks_for_a_name_too(words: str) -> None:
    assert sounds_like(words) is Sounds.MAILBOX


def test_nothing_that_is_said_takes_long_to_be_understood() -> None:
    for words in ("say your " * 100_000, "please " * 100_000, "\u2019" * 100_000, "\ud800"):
        assert sounds_like(words) is Sounds.OTHER


def test_the_hints_are_such_as_twilio_takes() -> None:
    hints = HINTS.split(",")
    assert len(hints) <= 500 and max(map(len, hints)) <= 100
