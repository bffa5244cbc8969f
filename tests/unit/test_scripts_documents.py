"""What holds for every document the voice can send: Twilio reads it, keys count, markup stays out.

The words themselves are in test_scripts_greeting.py, _replies.py and _endings.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from urllib.parse import quote

import pytest

from handoff import outcomes
from handoff.models import ActorKind
from handoff.states import CLOSE_REASONS, CloseReason, Kind, State, Trigger
from tests.shared_data import shared
from voice import scripts
from voice.documents import Voice
from voice.keypad import keys_for

from .spoken import (
    AGAIN_URL,
    KEY_URL,
    NOW,
    closed,
    decision,
    gather_in,
    greet,
    handoff,
    heard,
    held,
    reply,
    verbs,
)


def every_document() -> list[str]:
    """One of each document that this module can make."""
    documents = [scripts.nobody_home(), scripts.apology(), scripts.goodbye_no_input(text_sent=True)]
    documents += [scripts.one_moment(AGAIN_URL, turn) for turn in (1, 2, 3, 4)]
    for kind in Kind:
        about = handoff(kind)
        keys = keys_for(about, has_next=True)
        urls = {"key_url": KEY_URL, "again_url": AGAIN_URL}
        documents += [greet(about, turn, sent) for turn in range(5) for sent in (True, False)]
        documents += [scripts.unknown_key(about, keys, turn=2, text_sent=True, **urls)]
        documents += [scripts.holding(about, keys, **urls)]
        standing = [about, held("Ada", kind), held("Ben", kind)]
        standing += [
            closed(state, reason, by, kind)
            for state, reasons in CLOSE_REASONS.items()
            for reason in reasons
            for by in (decision("Ben"), decision("Ada"), decision(None, kind=ActorKind.OPERATOR), None)
        ]
        for one in standing:
            documents.append(scripts.settled(one, now=NOW, contact="ada"))
            documents.append(scripts.taken(one, now=NOW, contact="ada"))
            for asked in Trigger:
                documents.append(reply(outcomes.won(asked, one, next_name="Ben"), one))
                documents.append(reply(outcomes.lost(asked, one), one, text_sent=False))
    return documents


def test_every_document_is_what_twilio_can_read() -> None:
    # Telephony cases 40 and 43: text, one declaration, at byte 0.
    facts = shared("twilio/twiml-verbs.json")
    for document in every_document():
        assert isinstance(document, str)
        assert document.startswith("<?xml ")
        assert document.count("<?xml") == 1
        assert len(document.encode()) < 65_536
        for element in ET.fromstring(document.encode()).iter():
            if element.tag != "Response":
                assert set(element.attrib) <= set(facts["verbs"][element.tag]["attributes"]), document


def test_no_call_ever_ends_because_nothing_follows() -> None:
    # Telephony case 30: each document ends with another request or with a hang-up that was meant.
    for document in every_document():
        assert verbs(document)[-1].tag in ("Redirect", "Hangup"), document
        assert [verb.tag for verb in verbs(document)[:-1]].count("Gather") <= 1


def test_a_key_counts_from_the_first_word_on() -> None:
    # Telephony case 29: whatever is spoken with a menu is spoken inside the Gather.
    for document in every_document():
        if any(
            "Press" in (say.text or "") or "press" in (say.text or "")
            for say in ET.fromstring(document).iter("Say")
        ):
            assert verbs(document)[0].tag == "Gather", document
            assert not [verb for verb in verbs(document) if verb.tag == "Say"]


def test_star_and_pound_are_keys_like_any_other() -> None:
    gather = gather_in(greet(handoff()))
    assert (gather.get("numDigits"), gather.get("finishOnKey"), gather.get("input")) == ("1", "", "dtmf")


def test_an_address_with_two_parameters_arrives_unchanged() -> None:
    # Telephony case 28.
    document = greet(handoff())
    assert gather_in(document).get("action") == KEY_URL
    assert verbs(document)[-1].text == AGAIN_URL


@pytest.mark.parametrize(
    "reason",
    ["Tom & Jerry <b> \"x\" 'y' ]]>.", "caf\u00e9 t\u00fc.", "Ada\u2019s cart \U0001f6d2."],
)
def test_the_reason_is_spoken_as_it_was_written(reason: str) -> None:
    # Telephony cases 36, 37 and 38.
    said = reason.replace(" \U0001f6d2", "")  # a picture says nothing to an ear
    assert heard(greet(handoff(reason=reason))).startswith(f"Handoff for shopper. {said} ")


def test_an_agent_can_not_write_markup() -> None:
    document = greet(handoff(reason='</Say><Hangup/><Say voice="x">&#65;&amp;', agent="<Pause/>"))
    assert {element.tag for element in ET.fromstring(document).iter()} == {
        "Response",
        "Gather",
        "Say",
        "Redirect",
    }


@pytest.mark.parametrize(
    "reason", ["checkout " * 11_000, "\U0001f6d2" * 100_000, "&" * 100_000, "\x00\ud800\uffff" * 9]
)
def test_a_reason_of_any_size_and_content_makes_a_document_that_can_be_spoken(reason: str) -> None:
    # Telephony case 41; the record itself is not shortened by reading it out.
    about = handoff(reason=reason, agent=reason[:5_000] or "x")
    document = greet(about)
    assert about.reason == reason
    assert len(document.encode()) < 65_536
    for say in ET.fromstring(document.encode()).iter("Say"):
        assert say.text
        assert len(say.text) < 3_000
        assert len(quote(say.text)) < 4_500


def test_a_menu_without_keys_is_a_mistake_that_can_not_be_sent() -> None:
    makers: list[Callable[[], str]] = [
        lambda: greet(closed(State.EXPIRED, CloseReason.NOBODY)),
        lambda: scripts.holding(handoff(), (), key_url=KEY_URL, again_url=AGAIN_URL),
    ]
    for make in makers:
        with pytest.raises(AssertionError, match="a menu without keys"):
            make()


def test_the_voice_can_be_chosen() -> None:
    about = handoff()
    keys = keys_for(about, has_next=True)
    voice = Voice("de-DE", "Polly.Vicki-Neural")
    document = scripts.greeting(
        about, keys, key_url=KEY_URL, again_url=AGAIN_URL, turn=1, text_sent=True, voice=voice
    )
    for say in ET.fromstring(document).iter("Say"):
        assert (say.get("language"), say.get("voice")) == ("de-DE", "Polly.Vicki-Neural")
