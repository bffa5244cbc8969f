"""What is said to mailboxes and call screeners: who calls and for whom, and nothing else."""

from __future__ import annotations

from voice import unattended
from voice.scripts import Voice

from .spoken import AGAIN_URL, KEY_URL, gather_in, heard, verbs


def test_a_mailbox_is_left_no_reason_no_link_and_no_key() -> None:
    left = unattended.message("Ada", text_sent=True)
    assert heard(left) == (
        "This is Handoff, for Ada. An agent needs you. Please look at your texts, or call this number back. "
        "Goodbye."
    )
    assert [one.tag for one in verbs(left)] == ["Say", "Hangup"]


def test_without_a_text_none_is_mentioned() -> None:
    assert "Please call this number back." in heard(unattended.message("Ada", text_sent=False))


def test_a_screener_hears_who_calls_and_what_for_and_then_the_person_is_waited_for() -> None:
    said = unattended.purpose("Ada", heard_url=KEY_URL, again_url=AGAIN_URL, voice=Voice(language="en-GB"))
    assert heard(said) == "Handoff, calling for Ada: an agent needs a decision."
    gather = gather_in(said)
    assert (gather.get("input"), gather.get("timeout"), gather.get("action")) == (
        "dtmf speech",
        "25",
        KEY_URL,
    )
    assert (gather.get("language"), gather.get("speechTimeout"), gather.get("speechModel")) == (
        "en-GB",
        "auto",
        None,
    )
    assert [one.tag for one in verbs(said)] == ["Gather", "Redirect"], "something follows every Gather"


def test_who_asks_to_wait_is_told_nothing() -> None:
    assert heard(unattended.purpose("Ada", heard_url=KEY_URL, again_url=AGAIN_URL, says_it=False)) == ""


def test_a_name_is_read_as_text_and_not_for_ever() -> None:
    left = unattended.message("<Say>" + "A" * 100 + " & \x00", text_sent=False)
    assert len(heard(left)) < 150 and len(verbs(left)) == 2
    assert "for you. An agent" in heard(unattended.message("\u200b", text_sent=False))
