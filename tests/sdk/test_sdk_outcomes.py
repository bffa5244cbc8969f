"""What a closed handoff becomes in the hands of the agent developer: a value, or one of the errors."""

from __future__ import annotations

import dataclasses
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

import human

from .peer import Peer, answered, cleared, closed, replies

KEY = "run-42-step-3"
ATTEMPTS = [
    {"id": "at_1", "contact": "ada", "channel": "call", "disposition": "voicemail"},
    {"id": "at_2", "contact": "ben", "channel": "call", "disposition": "busy"},
    {"id": "at_3", "contact": "cy", "channel": "text", "disposition": None},
]


def test_a_cleared_wall_says_who_did_it_and_how_that_is_known(client: human.Client, peer: Peer) -> None:
    peer.outcome = cleared()
    clearance = client.clear_wall("A checkbox blocks checkout")
    assert clearance
    assert (str(clearance.by), clearance.by.kind, clearance.by.id) == ("Ada", "contact", "ada")
    assert (clearance.channel, clearance.proof, clearance.close_reason) == ("call", "keypress", "person")
    assert clearance.at == datetime(2026, 11, 30, 3, 1, 2, 500_000, UTC)
    assert clearance.handoff_id == "ho_0000000000000000000001"
    with pytest.raises(dataclasses.FrozenInstanceError):
        clearance.proof = "sms"  # type: ignore[misc]  # the assignment is what must fail


def test_a_wall_seen_to_be_gone_does_not_look_like_a_persons_word(client: human.Client, peer: Peer) -> None:
    by = {"kind": "agent", "id": "shopper", "name": None}
    seen = {
        "by": by,
        "channel": "api",
        "proof": "observed",
        "at": "2026-11-30T03:01:00.000Z",
        "comment": None,
    }
    peer.outcome = cleared(close_reason="observed", settlement=seen)
    clearance = client.clear_wall("A checkbox")
    assert (clearance.by.kind, clearance.proof, clearance.close_reason) == ("agent", "observed", "observed")


@pytest.mark.parametrize("words", ["12 Main Street", "012345", "", "false", "häuser 日本 😀"])
def test_an_answer_is_returned_bare_and_unchanged(client: human.Client, peer: Peer, words: str) -> None:
    peer.outcome = answered(words)
    assert client.ask("Which address?") == words


def test_a_question_answered_before_the_agent_came_back_is_returned_at_once(
    client: human.Client, peer: Peer
) -> None:
    peer.outcome = answered("12 Main Street")
    client.ask("Which address?", key=KEY)
    polls = len(peer.polls)
    assert client.ask("Which address?", key=KEY) == "12 Main Street"
    assert len(peer.polls) == polls
    assert len(peer.handoffs) == 1


def test_silence_no_and_withdrawn_are_four_different_errors(client: human.Client, peer: Peer) -> None:
    caught: list[type[human.HumanError]] = []
    for outcome in (
        closed("declined", "person"),
        closed("expired", "nobody"),
        closed("expired", "unreachable"),
        closed("cancelled", "agent"),
    ):
        peer.handoffs.clear()
        peer.outcome = outcome
        with pytest.raises(human.HumanError) as error:
            client.clear_wall("A checkbox")
        caught.append(type(error.value))
    assert caught == [human.Declined, human.NobodyAnswered, human.Unreachable, human.Cancelled]


def test_nobody_answered_carries_what_each_attempt_told(client: human.Client, peer: Peer) -> None:
    peer.outcome = closed("expired", "nobody", settlement=None, attempts=ATTEMPTS)
    with pytest.raises(
        human.NobodyAnswered, match="within 600 s.*ada by call: voicemail.*cy by text"
    ) as error:
        client.ask("Which address?", key=KEY)
    assert error.value.dispositions == ("voicemail", "busy")
    assert [attempt.contact for attempt in error.value.attempts] == ["ada", "ben", "cy"]
    assert (error.value.handoff_id, error.value.key) == ("ho_0000000000000000000001", KEY)
    assert not isinstance(error.value, human.Unreachable)


def test_a_refusal_names_the_person_and_their_comment(client: human.Client, peer: Peer) -> None:
    outcome = closed("declined", "person", attempts=ATTEMPTS)
    outcome["settlement"]["comment"] = "too expensive"
    peer.outcome = outcome
    with pytest.raises(human.Declined, match="Ada declined .*: too expensive") as error:
        client.clear_wall("A checkbox")
    assert (str(error.value.by), error.value.comment) == ("Ada", "too expensive")
    assert error.value.at == datetime(2026, 11, 30, 3, 1, 2, 500_000, UTC)
    assert error.value.dispositions == ("voicemail", "busy")


def test_a_no_by_policy_is_not_blamed_on_a_person(client: human.Client, peer: Peer) -> None:
    outcome = closed("declined", "policy")
    outcome["settlement"]["by"] = {"kind": "clock", "id": "clock", "name": None}
    peer.outcome = outcome
    with pytest.raises(human.Declined, match="Nobody answered .* policy") as error:
        client.clear_wall("A checkbox")
    assert error.value.by == human.Actor("clock", "clock")


@pytest.mark.parametrize(
    ("reason", "words"),
    [("operator", "withdrawn by Ada"), ("agent_gone", "no agent was waiting"), ("tidy", "withdrawn by Ada")],
)
def test_a_withdrawn_handoff_says_by_whom(client: human.Client, peer: Peer, reason: str, words: str) -> None:
    peer.outcome = closed("cancelled", reason)
    with pytest.raises(human.Cancelled, match=words) as error:
        client.clear_wall("A checkbox")
    assert (str(error.value.by), error.value.close_reason) == ("Ada", reason)


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param({"state": "approved_ish"}, id="a state from the future"),
        pytest.param({"state": "escalating"}, id="an open state with a closing time"),
        pytest.param({"close_reason": "robot"}, id="resolved for an unknown reason"),
        pytest.param({"close_reason": None}, id="resolved for no reason"),
        pytest.param({"result": None}, id="no result"),
        pytest.param({"result": {"kind": "clear", "cleared": False}}, id="not cleared"),
        pytest.param({"result": {"kind": "clear", "cleared": "true"}}, id="the text true"),
        pytest.param({"result": {"kind": "clear", "cleared": 1}}, id="the number one"),
        pytest.param({"result": {"kind": "ask", "answer": "yes"}}, id="the result of a question"),
        pytest.param({"settlement": None}, id="nobody named"),
        pytest.param({"settlement": {"by": "Ada"}}, id="a name instead of an actor"),
        pytest.param(
            {"settlement": {"by": {"kind": "contact", "id": "ada"}, "proof": "keypress", "at": "yesterday"}},
            id="no time",
        ),
        pytest.param(
            {
                "settlement": {
                    "by": {"kind": "contact", "id": "ada"},
                    "proof": "keypress",
                    "at": "2026-11-30T03:01:00",
                }
            },
            id="a time in no time zone",
        ),
        pytest.param(
            {"settlement": {"by": {"kind": "contact", "id": "ada"}, "at": "2026-11-30T03:01:00.000Z"}},
            id="no proof",
        ),
    ],
)
def test_a_close_that_is_not_fully_understood_is_never_a_success(
    client: human.Client, peer: Peer, outcome: dict[str, Any]
) -> None:
    peer.outcome = cleared(**outcome)
    with pytest.raises(human.Uncertain, match="neither yes nor no") as error:
        client.clear_wall("A checkbox", key=KEY)
    assert error.value.handoff_id == "ho_0000000000000000000001"
    assert (error.value.key, error.value.state) == (KEY, peer.outcome["state"])


@pytest.mark.parametrize("answer", [None, 5, True, ["a"], {"secret": "sec_1"}])
def test_an_answer_that_is_no_text_is_uncertain(client: human.Client, peer: Peer, answer: object) -> None:
    peer.outcome = answered(answer)
    with pytest.raises(human.Uncertain, match="holds no text answer"):
        client.ask("Which address?")


def test_an_answer_to_something_else_is_uncertain(client: human.Client, peer: Peer) -> None:
    peer.outcome = cleared(result={"kind": "approve", "answer": "yes"})
    with pytest.raises(human.Uncertain, match="holds no text answer"):
        client.ask("Which address?")


def test_a_closed_state_ends_the_wait_even_without_a_closing_time(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes", closed_at=None)
    assert client.ask("Go on?") == "yes"
    assert len(peer.polls) == 1


def test_unknown_fields_and_unknown_open_states_do_not_end_a_wait(client: human.Client, peer: Peer) -> None:
    peer.outcome, peer.open_polls = cleared(colour="blue", attempts=[{"id": 7}, "odd", *ATTEMPTS]), 2
    opened = {"id": "ho_0000000000000000000001", "state": "pondering", "closed_at": None, "mood": ["calm"]}

    def opens(exchange: Any) -> None:
        exchange.commit()
        exchange.reply(201, opened)

    peer.then(opens, replies(200, opened))
    assert client.clear_wall("A checkbox")
    assert len(peer.polls) == 3


@pytest.mark.parametrize("kind", [human.Declined, human.Cancelled, human.Uncertain, human.InvalidRequest])
def test_every_error_survives_the_way_to_another_process(kind: type[human.HumanError]) -> None:
    attempt = human.Attempt("at_1", "ada", "call", "busy")
    error = kind("words", handoff_id="ho_1", key=KEY, attempts=[attempt])
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (kind, "words", vars(error))
    assert copy.dispositions == ("busy",)


def test_the_tree_is_the_one_that_is_drawn() -> None:
    assert issubclass(human.Unreachable, human.NobodyAnswered)
    below = {kind.__name__ for kind in human.HumanError.__subclasses__()}
    assert below == {
        "NobodyAnswered", "Declined", "Cancelled", "Uncertain", "ConnectionFailed", "InvalidRequest",
    }  # fmt: skip
