"""What an answer must be, who is told of the end, and how far a text has come."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handoff import attempts, lifecycle
from handoff.changes import Change
from handoff.effects import EffectKind
from handoff.errors import Invalid
from handoff.lifecycle import MAX_ANSWER
from handoff.models import ActorKind, AskResult, Channel, ClearResult, Decision, EventType, Handoff, Proof
from handoff.states import CloseReason, Disposition, Kind, State

from .lives import (
    ADA,
    AGENT,
    ENDS,
    NOW,
    RULES,
    after,
    attempt,
    check,
    handoff_in,
    opened,
    opening,
    resolve,
    settled_by,
    text_of,
    word,
)


def test_an_observation_closes_a_wall_and_never_looks_like_a_persons_word() -> None:
    seen = Decision(by=AGENT, channel=Channel.API, proof=Proof.OBSERVED, at=NOW)
    handoff = after(lifecycle.resolve(opened(), seen, RULES, NOW))
    assert (handoff.state, handoff.close_reason) == (State.RESOLVED, CloseReason.OBSERVED)
    assert handoff.settlement is not None and handoff.settlement.by.kind is ActorKind.AGENT


def test_an_observation_is_no_answer_to_a_question() -> None:
    seen = Decision(by=AGENT, channel=Channel.API, proof=Proof.OBSERVED, at=NOW)
    with pytest.raises(Invalid):
        lifecycle.resolve(opened(Kind.ASK), seen, RULES, NOW)


@pytest.mark.parametrize(
    "result",
    [
        None,
        ClearResult(),
        AskResult(answer=""),
        AskResult(answer=" \n\t "),
        AskResult(answer=7),
        AskResult(answer=["x"]),
    ],
)
def test_a_question_needs_an_answer_in_words(result: Any) -> None:
    with pytest.raises(Invalid) as refused:
        lifecycle.resolve(opened(Kind.ASK), word(), RULES, NOW, result=result)
    assert [error.field for error in refused.value.errors] == ["answer"]


def test_an_answer_is_kept_without_the_space_around_it_and_has_a_longest_length() -> None:
    handoff = opened(Kind.ASK)
    longest = "ü" * MAX_ANSWER
    kept = after(lifecycle.resolve(handoff, word(), RULES, NOW, result=AskResult(answer=f" {longest}\n")))
    assert kept.result == AskResult(answer=longest)
    with pytest.raises(Invalid, match="10,000"):
        lifecycle.resolve(handoff, word(), RULES, NOW, result=AskResult(answer=longest + "x"))


def test_a_wall_that_is_gone_has_no_answer_whatever_was_sent_along() -> None:
    decided = lifecycle.resolve(opened(), word(), RULES, NOW, result=AskResult(answer="x"))
    assert after(decided).result == ClearResult()


def test_a_comment_reaches_the_timeline_and_the_settlement() -> None:
    decided = lifecycle.decline(opened(), word(comment="wrong password"), RULES, NOW)
    assert settled_by(after(decided)).comment == "wrong password"
    assert decided.change is not None and decided.change.events[-1].data["comment"] == "wrong password"


URLS: dict[str, Any] = {
    "resume_url": "https://agent.example/resume",
    "outcome_url": "https://agent.example/outcome",
}


@pytest.mark.parametrize("end", ENDS)
def test_the_resume_url_hears_only_of_resolved_and_the_outcome_url_of_every_other_close(end: State) -> None:
    handoff = opened(**URLS, resume_token="tok")
    decided = ENDS[end](handoff)
    assert decided.change is not None
    (told,) = [effect for effect in decided.change.effects if effect.kind is EffectKind.RESUME]
    assert told.url == URLS["resume_url" if end is State.RESOLVED else "outcome_url"]
    body = json.loads(told.body or "")
    assert body["type"] == f"handoff.{end}"
    assert body["data"]["handoff"]["state"] == end and body["data"]["handoff"]["id"] == handoff.id
    assert "tok" not in json.dumps(body["data"]), "the token goes into the header, never into the body"
    assert "resume_token" not in (told.body or "")


@pytest.mark.parametrize("end", ENDS)
def test_an_agent_without_urls_is_called_by_nobody(end: State) -> None:
    change = ENDS[end](opened()).change
    assert change is not None
    assert EffectKind.RESUME not in {effect.kind for effect in change.effects}


def test_a_texts_progress_never_goes_back() -> None:
    handoff = opened()
    text = text_of(handoff).id

    def moved(now_is: Handoff, rank: int, what: Disposition | None) -> Change | None:
        return attempts.text_moved(now_is, text, NOW + rank, rank=rank, disposition=what)

    delivered = moved(handoff, 5, Disposition.DELIVERED)
    assert delivered is not None
    check(handoff, delivered)
    kept = delivered.handoff.attempt(text)
    assert kept is not None and (kept.disposition, kept.text_rank) == (Disposition.DELIVERED, 5)
    for late in range(6):
        assert moved(delivered.handoff, late, Disposition.SENT) is None
    assert delivered.events[-1].type is EventType.TEXT_MOVED


def test_a_sent_text_is_not_over_and_a_failed_one_is() -> None:
    handoff = opened()
    text = text_of(handoff).id
    sent = attempts.text_moved(handoff, text, NOW, rank=3, disposition=Disposition.SENT)
    assert sent is not None and attempt(sent.handoff, text).ended_at is None
    failed = attempts.text_moved(sent.handoff, text, NOW, rank=5, disposition=Disposition.OPTED_OUT)
    assert failed is not None and attempt(failed.handoff, text).ended_at == NOW


def test_a_failed_text_does_not_hurry_the_ladder() -> None:
    handoff = opened()
    change = attempts.end_attempt(handoff, text_of(handoff).id, Disposition.BLOCKED, RULES, NOW)
    assert change is not None and not change.calls and change.handoff.state is State.ESCALATING


def test_the_provider_is_asked_for_a_text_once_unless_it_provably_did_not_process_it() -> None:
    handoff = opened()
    text = text_of(handoff).id
    asked = attempts.text_asked(handoff, text, "run", NOW, number=ADA.number)
    assert asked is not None
    assert attempts.text_asked(asked.handoff, text, "other", NOW + 1, number=ADA.number) is None
    back = attempts.text_not_processed(asked.handoff, text, NOW + 2)
    assert back is not None
    assert attempts.text_asked(back.handoff, text, "other", NOW + 3, number=ADA.number) is not None


def test_a_text_is_bound_to_the_providers_first_id() -> None:
    handoff = opened()
    text = text_of(handoff).id
    accepted = attempts.text_accepted(handoff, text, "SM1", NOW)
    assert accepted is not None and accepted.events[-1].type is EventType.TEXT_SENT
    assert attempts.text_accepted(accepted.handoff, text, "SM2", NOW) is None


def test_a_note_is_a_line_on_the_timeline_and_nothing_else() -> None:
    handoff = handoff_in(State.CANCELLED)
    change = attempts.note(handoff, EventType.RESUME_DELIVERED, NOW + 9, tries=1, detail=None)
    check(handoff, change)
    assert change.events[0].data == {"tries": 1}
    assert change.handoff.model_copy(update={"rev": handoff.rev, "seq": handoff.seq}) == handoff


def test_nothing_of_a_number_is_in_what_the_timeline_or_the_agent_sees() -> None:
    change = opening(**URLS)
    closed = resolve(change.handoff, NOW + 1).change
    assert closed is not None
    told = [event.model_dump_json() for event in (*change.events, *closed.events)]
    told += [effect.body or "" for effect in closed.effects]
    assert not any("2125550123" in one for one in told)
