"""Settling over HTTP: who wins, what every loser is told, and that nothing is ever settled twice."""

from __future__ import annotations

from collections import Counter

import pytest

from handoff.changes import Decided
from handoff.lifecycle import acknowledge, decline
from handoff.models import Actor, ActorKind, Channel, Decision, Handoff, Proof
from handoff.states import Disposition
from tests.store.records import at_once
from tests.unit.lives import word

from .conftest import MakeSite
from .site import Site, check_problem, fields

URLS = {"resume_url": "https://a.example/r", "outcome_url": "https://a.example/o"}
VERBS = {"resolution": "resolved", "refusal": "declined", "cancellation": "cancelled"}


@pytest.mark.parametrize("verb", VERBS)
def test_an_operator_settles_it_and_the_agent_is_told_once(site: Site, verb: str) -> None:
    handoff = site.agent.opened(**URLS)
    answer = site.operator.post(f"/v1/handoffs/{handoff}/{verb}")
    assert (answer.status_code, answer.get_json()["state"]) == (200, VERBS[verb])
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json() == answer.get_json()
    assert site.effects("resume") == [f"resume-{handoff}"]
    assert len(site.effects("hang_up")) == 1


@pytest.mark.parametrize("second", VERBS)
@pytest.mark.parametrize("first", VERBS)
def test_whatever_was_decided_first_stands_and_the_second_is_told_who_and_when(
    site: Site, first: str, second: str
) -> None:
    handoff = site.agent.opened(**URLS)
    site.operator.post(f"/v1/handoffs/{handoff}/{first}")
    stands = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
    site.now += 60_000
    answer = site.operator.post(f"/v1/handoffs/{handoff}/{second}")
    if first == second == "cancellation":
        assert answer.status_code == 200, "withdrawing twice is withdrawing once"
    else:
        problem = check_problem(answer)
        assert (answer.status_code, problem["code"]) == (409, "already_settled")
        assert problem["state"] == stands["state"]
        told = problem.get("settlement") or {"by": None, "at": None}
        recorded = stands["settlement"] or {"by": None, "at": None}
        assert (told["by"], told["at"]) == (recorded["by"], recorded["at"])
        assert stands["closed_at"] in problem["detail"]
        if first != "cancellation":
            assert "ops" in problem["detail"]
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json() == stands


def test_after_the_deadline_everything_is_410_with_the_recorded_state(site: Site) -> None:
    for ticked in (True, False):
        for verb in ("resolution", "refusal", "acknowledgement", "cancellation"):
            handoff = site.agent.opened(timeout_s=2)
            site.now += 3_000
            if ticked:
                site.services.handoffs.expire(handoff)
            answer = site.operator.post(f"/v1/handoffs/{handoff}/{verb}")
            problem = check_problem(answer)
            assert (answer.status_code, problem["code"], problem["state"]) == (410, "expired", "expired")
            shown = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
            assert (shown["state"], shown["close_reason"], shown["settlement"]) == ("expired", "nobody", None)
            if ticked and verb != "cancellation":
                assert site.types(handoff)[-1] == "late_answer_refused"


def test_an_answer_that_was_checked_before_the_deadline_and_kept_after_it_is_told_that_it_lost(
    site: Site,
) -> None:
    """The handler is held between its check and its commit; meanwhile the deadline passes."""
    handoff = site.agent.opened()
    held = True

    def rule(standing: Handoff, now: int) -> Decided:
        nonlocal held
        decided = decline(standing, word("ada", now), site.services.handoffs.rules(), now)
        if held:
            held = False
            site.expire(handoff)
        return decided

    outcome = site.services.handoffs.decide(handoff, "press-1", rule)
    assert not outcome.won and outcome.state == "expired"
    assert site.record(handoff).state == "expired" and site.record(handoff).settlement is None
    assert site.types(handoff)[-2:] == ["expired", "late_answer_refused"]


def test_fifty_people_who_decide_at_once_get_one_winner_and_forty_nine_names_of_it(site: Site) -> None:
    handoff = site.agent.opened(**URLS)
    verbs = ("resolution", "refusal")
    answers = at_once(50, lambda number: site.operator.post(f"/v1/handoffs/{handoff}/{verbs[number % 2]}"))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 49}
    [winner] = [answer.get_json() for answer in answers if answer.status_code == 200]
    for answer in answers:
        if answer.status_code == 409:
            assert answer.get_json()["state"] == winner["state"]
            assert answer.get_json()["settlement"]["at"] == winner["settlement"]["at"]
    assert [one for one in site.types(handoff) if one in ("resolved", "declined")] == [winner["state"]]
    assert site.effects("resume") == [f"resume-{handoff}"]


def test_an_operator_and_a_persons_page_racing_never_both_win(site: Site) -> None:
    for _ in range(5):
        handoff = site.agent.opened()
        page = f"/h/{site.link(handoff)}"
        nonce = site.anybody.get(page).text.split('name="nonce" value="')[1].split('"')[0]

        def settle(number: int, handoff: str = handoff, page: str = page, nonce: str = nonce) -> int:
            if number:
                return site.operator.post(f"/v1/handoffs/{handoff}/refusal").status_code
            return site.anybody("POST", f"{page}/resolution", data={"nonce": nonce}).status_code

        page_answer, operator_answer = at_once(2, settle)
        state = site.record(handoff).state
        assert (page_answer == 303) == (state == "resolved")
        assert (operator_answer == 200) == (state == "declined")


def test_the_same_command_repeated_because_its_reply_was_lost_gets_the_same_outcome(site: Site) -> None:
    handoff = site.agent.opened()
    headers = {"Idempotency-Key": "once"}
    first = site.operator.post(f"/v1/handoffs/{handoff}/resolution", headers=headers)
    again = site.operator.post(f"/v1/handoffs/{handoff}/resolution", headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.get_json() == again.get_json()
    other = site.operator.post(f"/v1/handoffs/{handoff}/resolution", headers={"Idempotency-Key": "another"})
    assert other.status_code == 409
    assert site.types(handoff).count("resolved") == 1


def test_a_command_that_lost_stays_lost_when_it_is_repeated(site: Site) -> None:
    handoff = site.agent.opened()
    site.operator.post(f"/v1/handoffs/{handoff}/refusal")
    headers = {"Idempotency-Key": "late"}
    for _ in range(2):
        answer = site.operator.post(f"/v1/handoffs/{handoff}/resolution", headers=headers)
        assert (answer.status_code, answer.get_json()["state"]) == (409, "declined")


def test_one_key_for_two_verbs_is_two_commands(site: Site) -> None:
    handoff = site.agent.opened()
    headers = {"Idempotency-Key": "k"}
    assert site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement", headers=headers).status_code == 200
    resolved = site.operator.post(f"/v1/handoffs/{handoff}/resolution", headers=headers)
    assert resolved.get_json()["state"] == "resolved"


def test_an_answer_is_bound_to_one_handoff_by_its_address_only(site: Site) -> None:
    first, second = site.agent.opened(label="run-7"), site.agent.opened(label="run-7")
    before = site.dump()
    for place in (
        "/handoffs/resolution",
        "/handoffs/run-7/resolution",
        "/resolution",
        "/handoffs//resolution",
    ):
        path = "/v1" + place
        answer = site.operator.post(path, {"answer": "yes", "run": "run-7"})
        assert answer.status_code in (404, 405, 308), path
    api_keys = site.services.store.keys.api_keys
    assert site.dump() | {api_keys: ""} == before | {api_keys: ""}
    site.operator.post(f"/v1/handoffs/{second}/resolution")
    assert site.record(first).state == "escalating"


def test_a_question_is_answered_in_words_and_a_wall_without(site: Site) -> None:
    asked = site.agent.opened(kind="ask", reason="Which address?")
    for wrong in ("", "  ", None, 5, ["x"], "x" * 10_001):
        answer = site.operator.post(f"/v1/handoffs/{asked}/resolution", {"answer": wrong})
        assert fields(answer) == {"answer"}
    assert fields(site.operator.post(f"/v1/handoffs/{asked}/resolution")) == {"answer"}
    answered = site.operator.post(f"/v1/handoffs/{asked}/resolution", {"answer": " 1 Ada Street "})
    assert answered.get_json()["result"] == {"kind": "ask", "answer": "1 Ada Street"}
    wall = site.agent.opened()
    assert fields(site.operator.post(f"/v1/handoffs/{wall}/resolution", {"answer": "x"})) == {"answer"}
    cleared = site.operator.post(f"/v1/handoffs/{wall}/resolution").get_json()
    assert cleared["result"] == {"kind": "clear", "cleared": True}


def test_comments_have_a_longest_length(site: Site) -> None:
    handoff = site.agent.opened()
    for verb in ("resolution", "refusal", "acknowledgement"):
        answer = site.operator.post(f"/v1/handoffs/{handoff}/{verb}", {"comment": "x" * 1_001})
        assert fields(answer) == {"comment"}


def test_an_agent_withdraws_its_own_and_it_is_on_record_as_the_agents(site: Site) -> None:
    handoff = site.agent.opened(**URLS)
    shown = site.agent.post(f"/v1/handoffs/{handoff}/cancellation").get_json()
    assert (shown["state"], shown["close_reason"]) == ("cancelled", "agent")
    assert site.events(handoff)[-1].by.kind == "agent"
    assert fields(site.agent.post(f"/v1/handoffs/{site.agent.opened()}/cancellation", {"why": "x"})) == {
        "why"
    }


def test_an_agent_that_saw_the_wall_gone_says_so_and_it_is_nobodys_word(site: Site) -> None:
    handoff = site.agent.opened(**URLS)
    shown = site.agent.post(f"/v1/handoffs/{handoff}/observation").get_json()
    assert (shown["state"], shown["close_reason"]) == ("resolved", "observed")
    assert shown["settlement"]["by"]["kind"] == "agent" and shown["settlement"]["proof"] == "observed"
    again = site.agent.post(f"/v1/handoffs/{handoff}/observation")
    assert again.status_code == 409


def test_a_question_can_not_be_observed_to_be_answered(site: Site) -> None:
    handoff = site.agent.opened(kind="ask", reason="Which address?")
    before = site.record(handoff)
    answer = site.agent.post(f"/v1/handoffs/{handoff}/observation")
    assert answer.status_code == 422 and "clear" in check_problem(answer)["detail"]
    assert site.record(handoff) == before


def test_who_wants_what_somebody_has_is_told_who_has_it(site: Site) -> None:
    handoff = site.agent.opened()
    ada = Decision(
        by=Actor(kind=ActorKind.CONTACT, id="ada", name="Ada"),
        channel=Channel.CALL,
        proof=Proof.KEYPRESS,
        at=site.now,
    )
    rules = site.services.handoffs.rules()
    site.services.handoffs.decide(handoff, "c", lambda one, now: acknowledge(one, ada, rules, now))
    answer = site.operator.post(f"/v1/handoffs/{handoff}/acknowledgement")
    problem = check_problem(answer)
    assert (answer.status_code, problem["state"]) == (409, "acknowledged")
    assert "Ada" in problem["detail"]
    assert site.agent.get(f"/v1/handoffs/{handoff}").get_json()["acknowledged"]["by"]["id"] == "ada"


def test_when_everybody_was_rung_in_vain_and_the_agent_wanted_to_fail_it_is_409_not_410(
    make_site: MakeSite,
) -> None:
    """The deadline has not passed: what closed it is the policy that ran out."""
    site = make_site(HANDOFF_TO_NUMBER="Ada=+12125550123")
    handoff = site.agent.opened(on_exhausted="fail")
    call = site.record(handoff).attempts[0].call
    assert call is not None
    site.services.calls.end(call, Disposition.NO_ANSWER)
    site.services.calls.placed(call, "CA1")
    answer = site.operator.post(f"/v1/handoffs/{handoff}/resolution")
    assert (answer.status_code, answer.get_json()["state"]) == (409, "expired")
    shown = site.agent.get(f"/v1/handoffs/{handoff}").get_json()
    assert [one["disposition"] for one in shown["attempts"]] == ["no_answer", None]
