"""What a person hears after a key: who won, who lost to whom, and what comes next.

How a handoff that is over is told is in test_scripts_endings.py.
"""

from __future__ import annotations

import pytest

from handoff import outcomes
from handoff.states import CloseReason, Kind, State, Trigger
from voice import scripts

from .spoken import AGAIN_URL, NOW, closed, decision, gather_in, greet, handoff, heard, held, reply, verbs


def test_a_cleared_wall_is_thanked_for() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ada", 0))
    document = reply(outcomes.won(Trigger.RESOLVE, about), about)
    assert heard(document) == "Thank you. It is handed back to shopper. Goodbye."
    assert verbs(document)[-1].tag == "Hangup"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.CLEAR, "that it can't be done"),
        (Kind.ASK, "that you can't answer"),
        (Kind.APPROVE, "gets a no"),
    ],
)
def test_a_no_is_repeated_as_what_the_agent_gets(kind: Kind, words: str) -> None:
    about = closed(State.DECLINED, CloseReason.PERSON, decision("Ada", 0), kind)
    assert words in heard(reply(outcomes.won(Trigger.DECLINE, about), about))


def test_a_vote_that_does_not_settle_is_not_called_done() -> None:
    about = handoff(Kind.APPROVE)
    said = heard(reply(outcomes.won(Trigger.RESOLVE, about), about))
    assert said == "Thank you. Your word counts. shopper still needs other people. Goodbye."


def test_who_takes_it_hears_for_how_long_and_may_stay_on_the_line() -> None:
    about = held("Ada")
    document = reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about)
    assert heard(document) == (
        "You have it for five minutes. The text has the link. "
        "Stay on the line and press 1 when it is done, or hang up and use the link."
    )
    assert int(gather_in(document).get("timeout") or 0) > int(gather_in(greet(handoff())).get("timeout") or 0)
    assert verbs(document)[-1].text == AGAIN_URL


def test_who_takes_a_question_is_sent_to_the_link() -> None:
    about = held("Ada", Kind.ASK)
    said = heard(reply(outcomes.won(Trigger.ACKNOWLEDGE, about), about))
    assert said == "You have it for five minutes. Hang up and answer by the link in the text."


def test_passing_it_on_names_who_is_next() -> None:
    about = handoff()
    passed = outcomes.won(Trigger.PASS_ON, about, next_name="Ben and Cy")
    assert heard(reply(passed, about)) == "Ben and Cy are next. You can hang up. Goodbye."
    nobody = outcomes.won(Trigger.PASS_ON, about)
    assert heard(reply(nobody, about)).startswith("Nobody else is left to call.")


def test_the_loser_of_a_race_hears_who_won_and_when() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ben"))
    said = heard(reply(outcomes.lost(Trigger.RESOLVE, about), about))
    assert said == "Ben did it two minutes ago. Nothing is left to do. Goodbye."


def test_the_outcome_is_believed_over_an_older_record() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ben"))
    assert "Ben did it" in heard(reply(outcomes.lost(Trigger.RESOLVE, about), handoff()))


def test_who_already_did_it_is_told_so() -> None:
    about = closed(State.RESOLVED, CloseReason.PERSON, decision("Ada"))
    assert heard(reply(outcomes.lost(Trigger.RESOLVE, about), about)).startswith(
        "You did it two minutes ago."
    )


def test_a_second_person_hears_that_somebody_has_it() -> None:
    about = held("Ben")
    document = reply(outcomes.lost(Trigger.ACKNOWLEDGE, about), about)
    assert heard(document) == "Ben took it two minutes ago. You can hang up. Goodbye."
    assert verbs(document)[-1].tag == "Hangup"


def test_who_is_on_the_line_when_somebody_else_takes_it_hears_who() -> None:
    said = heard(scripts.taken(held("Ben"), now=NOW, contact="ada"))
    assert said == "Ben took it two minutes ago. You can hang up. Goodbye."
    said = heard(scripts.taken(handoff(), now=NOW, contact="ada"))
    assert said == "This call is not needed any more. Goodbye."


def test_a_key_that_led_to_nothing_is_asked_for_again() -> None:
    about = handoff()
    said = heard(reply(outcomes.lost(Trigger.RESOLVE, about), about))
    assert said.startswith("That did not work. Please try again. Press 1")


def test_a_key_after_the_end_of_what_it_won_hears_the_end() -> None:
    won = outcomes.won(Trigger.ACKNOWLEDGE, held("Ada"))
    about = closed(State.CANCELLED, CloseReason.AGENT)
    assert heard(reply(won, about)).startswith("shopper withdrew it two minutes ago.")
