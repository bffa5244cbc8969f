"""Twilio's words turned into ours, and checked against Twilio's own lists of them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from twilio.rest.api.v2010.account.call import CallInstance
from twilio.rest.api.v2010.account.message import MessageInstance

from handoff.states import CallState, Disposition
from tests.shared_data import shared
from voice.dispositions import call_state, ended_as, is_machine, text_disposition, text_rank


def words_of(enum: type) -> set[str]:
    """The values that Twilio's library lists in one of its enumerations."""
    return {value for name, value in vars(enum).items() if name.isupper()}


def final(status: str, **known: Any) -> Disposition:
    """The disposition of a call of which only this is known."""
    return ended_as(status, **{"was_answered": False, "heard_all": False, **known})


def test_every_call_status_that_twilio_has_is_understood() -> None:
    states = {word: call_state(word) for word in words_of(CallInstance.Status)}
    assert None not in states.values()
    ends = {word for word, state in states.items() if state is CallState.ENDED}
    assert ends == {"completed", "busy", "no-answer", "failed", "canceled"}
    for word in ends - {"completed"}:
        assert final(word) is not Disposition.UNKNOWN, word


def test_a_word_that_twilio_never_said_is_not_guessed_at() -> None:
    for word in ("", "COMPLETED", "no_answer", "exploded"):
        assert call_state(word) is None
        assert final(word) is Disposition.UNKNOWN
        assert text_rank(word) == 0
        assert text_disposition(word) is None


def test_a_picked_up_call_without_a_key_never_counts_as_a_person() -> None:
    # Telephony cases 23 to 25: completed, however long, is billed the same for a voicemail.
    assert final("completed", was_answered=True, heard_all=True) is Disposition.NO_INPUT
    assert final("completed", was_answered=True) is Disposition.HUNG_UP
    assert final("completed", was_answered=True, answered_by="human") is Disposition.HUNG_UP
    assert (
        final("completed", was_answered=True, heard_all=True, answered_by="unknown") is Disposition.NO_INPUT
    )


def test_a_call_known_only_as_completed_stays_unknown() -> None:
    assert final("completed") is Disposition.UNKNOWN


@pytest.mark.parametrize(
    "verdict", ["machine_start", "machine_end_beep", "machine_end_silence", "machine_end_other", "fax"]
)
def test_a_machine_is_a_voicemail_whatever_it_listened_to(verdict: str) -> None:
    # Telephony case 26.
    for heard_all in (True, False):
        known = {"was_answered": True, "heard_all": heard_all, "answered_by": verdict}
        assert final("completed", **known) is Disposition.VOICEMAIL


def test_a_verdict_gives_up_a_call_under_way_only_when_a_greeting_is_over() -> None:
    given_up = {
        one for one in shared("twilio/strict-overlay.json")["call"]["answered_by"] if is_machine(one or "")
    }
    assert given_up == {"machine_end_beep", "machine_end_silence", "machine_end_other", "fax"}
    assert not is_machine("MACHINE_END_BEEP") and not is_machine("a word nobody knows")


def test_a_call_in_which_only_a_screener_spoke_was_screened_however_long_it_was() -> None:
    for heard_all in (True, False):
        said = final("completed", was_answered=True, heard_all=heard_all, screened=True)
        assert said is Disposition.SCREENED
    assert final("busy", screened=True) is Disposition.BUSY


def test_every_verdict_of_machine_detection_has_been_decided_about() -> None:
    verdicts = set(shared("twilio/strict-overlay.json")["call"]["answered_by"]) - {None}
    machines = {word for word in verdicts if final("completed", answered_by=word) is Disposition.VOICEMAIL}
    assert verdicts - machines == {"human", "unknown"}


@pytest.mark.parametrize(
    ("status", "sip_code", "expected"),
    [
        ("busy", 486, Disposition.BUSY),
        ("no-answer", 487, Disposition.NO_ANSWER),
        ("no-answer", None, Disposition.NO_ANSWER),
        ("failed", 480, Disposition.NO_ANSWER),
        ("failed", 404, Disposition.UNREACHABLE),
        ("failed", 503, Disposition.UNREACHABLE),
        ("failed", None, Disposition.UNREACHABLE),
        ("canceled", None, Disposition.WITHDRAWN),
    ],
)
def test_a_call_that_nobody_picked_up_says_why(
    status: str, sip_code: int | None, expected: Disposition
) -> None:
    assert final(status, sip_code=sip_code) is expected


def test_a_line_that_breaks_during_the_call_is_not_the_numbers_fault() -> None:
    assert final("failed", was_answered=True, sip_code=404) is Disposition.PROVIDER_ERROR


def test_every_message_status_that_twilio_has_is_ranked_except_those_of_texts_to_us() -> None:
    unranked = {word for word in words_of(MessageInstance.Status) if text_rank(word) == 0}
    assert unranked == {"receiving", "received"}


def applied_in(order: tuple[str, ...]) -> str:
    """The status that stands after these callbacks in this order, each applied only if it ranks higher."""
    standing = ""
    for status in order:
        if text_rank(status) > text_rank(standing):
            standing = status
    return standing


def test_a_late_sent_never_overwrites_the_receipt() -> None:
    # Telephony cases 15 and 16: the callbacks race, so every order must end the same.
    for order in permutations(["queued", "sending", "sent", "delivered"]):
        assert applied_in(order) == "delivered"


def test_sent_then_failed_ends_as_failed() -> None:
    # Telephony case 18.
    assert applied_in(("sent", "failed")) == "failed"
    assert applied_in(("failed", "sent")) == "failed"
    assert text_disposition("failed", 30007) is Disposition.BLOCKED


def test_a_receipt_outranks_a_failure_in_either_order() -> None:
    for failure in ("failed", "undelivered"):
        assert applied_in(("delivered", failure)) == applied_in((failure, "delivered")) == "delivered"


def test_only_an_end_or_the_carriers_word_says_anything_about_a_text() -> None:
    for status in ("accepted", "scheduled", "queued", "sending"):
        assert text_disposition(status) is None
    assert text_disposition("sent") is Disposition.SENT
    assert text_disposition("delivered") is Disposition.DELIVERED
    assert text_disposition("canceled") is Disposition.WITHDRAWN


def test_every_published_reason_for_a_failed_text_has_been_decided_about() -> None:
    decided = {
        "config": {Disposition.BLOCKED},
        "content": {Disposition.BLOCKED},
        "permanent": {Disposition.INVALID_NUMBER, Disposition.UNREACHABLE, Disposition.BLOCKED},
        "permanent-for-pair": {Disposition.OPTED_OUT},
        "transient": {Disposition.PROVIDER_ERROR, Disposition.UNREACHABLE},
    }
    codes = [row for row in shared("twilio/error-codes.json")["codes"] if row["where"] == "message-status"]
    assert len(codes) > 15
    for row in codes:
        assert text_disposition("undelivered", row["code"]) in decided[row["class"]], row
    assert text_disposition("undelivered", 39_999) is Disposition.PROVIDER_ERROR
    assert text_disposition("failed") is Disposition.PROVIDER_ERROR
