"""What a person hears about a handoff that is over, and when something is wrong on our side.

What is answered to a key while it is open is in test_scripts_replies.py.
"""

from __future__ import annotations

import pytest

from handoff.models import ActorKind, Handoff
from handoff.states import CLOSE_REASONS, CloseReason, Kind, State
from voice import scripts

from .spoken import AGAIN_URL, NOW, closed, decision, heard, verbs

OPERATOR = decision(None, kind=ActorKind.OPERATOR)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        (closed(State.RESOLVED, CloseReason.PERSON, decision(), Kind.ASK), "Ben answered two minutes ago."),
        (
            closed(State.RESOLVED, CloseReason.PERSON, decision(), Kind.APPROVE),
            "Ben approved it two minutes ago.",
        ),
        (closed(State.RESOLVED, CloseReason.OBSERVED), "shopper saw two minutes ago that it is gone."),
        (
            closed(State.RESOLVED, CloseReason.DEFAULT),
            "Nobody answered in time. shopper took its default answer",
        ),
        (closed(State.DECLINED, CloseReason.PERSON, decision()), "Ben said no two minutes ago."),
        (closed(State.DECLINED, CloseReason.POLICY), "because nobody answered."),
        (closed(State.EXPIRED, CloseReason.NOBODY), "Time ran out two minutes ago."),
        (closed(State.EXPIRED, CloseReason.UNREACHABLE), "Nobody was reached."),
        (closed(State.CANCELLED, CloseReason.AGENT), "shopper withdrew it two minutes ago."),
        (closed(State.CANCELLED, CloseReason.OPERATOR, OPERATOR), "An operator withdrew it two minutes ago."),
        (closed(State.CANCELLED, CloseReason.AGENT_GONE), "shopper is gone, so it was withdrawn"),
    ],
)
def test_an_end_says_what_happened_and_that_nothing_is_left_to_do(about: Handoff, words: str) -> None:
    said = heard(scripts.settled(about, now=NOW))
    assert words in said
    assert said.endswith("Nothing is left to do. Goodbye.")


def test_policy_and_silence_never_sound_like_a_person() -> None:
    # Promise 3, even when a record wrongly names one.
    for state, reasons in CLOSE_REASONS.items():
        for reason in reasons - {CloseReason.PERSON, CloseReason.OPERATOR}:
            assert "Ben" not in heard(scripts.settled(closed(state, reason, decision("Ben")), now=NOW))


def test_a_failure_on_our_side_is_a_constant_that_can_be_spoken() -> None:
    document = scripts.apology()
    assert heard(document).startswith(
        "Sorry, something went wrong here. If you got a text, its link still works."
    )
    assert verbs(document)[-1].tag == "Hangup"


def test_a_slow_store_is_waited_for_three_times_and_then_apologised_for() -> None:
    for turn in (1, 2, 3):
        document = scripts.one_moment(AGAIN_URL, turn)
        assert [verb.tag for verb in verbs(document)] == ["Say", "Pause", "Redirect"]
        assert verbs(document)[-1].text == AGAIN_URL
    assert scripts.one_moment(AGAIN_URL, 4) == scripts.apology()


def test_an_unknown_call_hears_a_sentence_and_not_an_error() -> None:
    assert heard(scripts.nobody_home()) == "This call is about something that is over. Goodbye."
