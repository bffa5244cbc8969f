"""What goes over the wire, what is refused before that, and how a refusal reads."""

from __future__ import annotations

import math
from typing import Any

import pytest

import human

from .conftest import API_KEY, HandClock
from .peer import Peer, answered, cleared, problem, replies


def test_every_option_arrives_under_its_own_name(client: human.Client, peer: Peer) -> None:
    peer.outcome = cleared()
    client.clear_wall(
        reason="A checkbox blocks checkout",
        live_view_url="https://browser.example/live",
        resume_url="https://agent.example/resume",
        resume_token="rt_made_up",
        outcome_url="https://agent.example/outcome",
        timeout_s=90,
        max_timeout_s=600,
        notify="none",
        proof="code",
        label="checkout",
        metadata={"order": 1009, "naïve": ["ü", None]},
        key="run-42 step 3",
        if_agent_gone="cancel",
        on_exhausted="fail",
    )
    (opened,) = peer.opened
    assert opened.path == "/v1/handoffs"
    assert opened.headers["authorization"] == f"Bearer {API_KEY}"
    assert opened.headers["idempotency-key"] == "run-42 step 3"
    assert opened.headers["content-type"] == "application/json"
    assert opened.headers["user-agent"].startswith(f"human-sdk/{human.__version__} python/")
    assert opened.body == {
        "kind": "clear",
        "reason": "A checkbox blocks checkout",
        "live_view_url": "https://browser.example/live",
        "resume_url": "https://agent.example/resume",
        "resume_token": "rt_made_up",
        "outcome_url": "https://agent.example/outcome",
        "timeout_s": 90,
        "max_timeout_s": 600,
        "notify": "none",
        "proof": "code",
        "label": "checkout",
        "metadata": {"order": 1009, "naïve": ["ü", None]},
        "if_agent_gone": "cancel",
        "on_exhausted": "fail",
    }


def test_what_was_not_given_is_not_sent(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes")
    client.ask("Go on?", live_view_url=None)
    assert peer.opened[0].body == {
        "kind": "ask",
        "reason": "Go on?",
        "timeout_s": 600,
        "if_agent_gone": "keep",
        "on_exhausted": "wait",
    }


def test_a_question_travels_unchanged_whatever_is_in_it(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes")
    question = 'Quotes " and \\, 日本 😀,\u0000 \u202e\n</script>{{7*7}} \ud800'
    client.ask(question)
    assert peer.opened[0].body["reason"] == question


def test_two_calls_have_two_keys_of_their_own(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes")
    client.ask("Go on?")
    client.ask("Go on?")
    first, second = (seen.headers["idempotency-key"] for seen in peer.opened)
    assert first != second
    assert len(peer.handoffs) == 2


@pytest.mark.parametrize("key", ["k", "k" * 200, "~!@#/:;,\"'\\ x"])
def test_a_given_key_is_sent_as_it_is(client: human.Client, peer: Peer, key: str) -> None:
    peer.outcome = answered("yes")
    client.ask("Go on?", key=key)
    assert peer.opened[0].headers["idempotency-key"] == key


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"key": ""}, "key"),
        ({"key": "k" * 201}, "key"),
        ({"key": "clé"}, "key"),
        ({"key": "a\r\nX-Evil: 1"}, "key"),
        ({"key": "a\n"}, "key"),
        ({"key": " a"}, "key"),
        ({"key": 7}, "key"),
        ({"timeout_s": "600"}, "timeout_s"),
        ({"timeout_s": True}, "timeout_s"),
        ({"timeout_s": None}, "timeout_s"),
        ({"timeout_s": math.nan}, "timeout_s"),
        ({"timeout_s": math.inf}, "timeout_s"),
        ({"metadata": {"when": object()}}, "metadata"),
        ({"metadata": {"ratio": math.nan}}, "metadata"),
        ({"label": b"bytes"}, "label"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name_and_nobody_is_called(
    client: human.Client, peer: Peer, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(human.InvalidRequest, match=f"nobody was called. {field}: ") as error:
        client.ask("Go on?", **options)
    assert [fault.field for fault in error.value.errors] == [field]
    assert (error.value.code, error.value.status) == ("invalid", None)
    assert peer.seen == []


def test_metadata_that_contains_itself_is_refused(client: human.Client, peer: Peer) -> None:
    metadata: dict[str, Any] = {}
    metadata["me"] = metadata
    with pytest.raises(human.InvalidRequest, match="metadata"):
        client.ask("Go on?", metadata=metadata)
    assert peer.seen == []


def test_an_option_that_does_not_exist_is_a_type_error(client: human.Client, peer: Peer) -> None:
    with pytest.raises(TypeError, match="timeout"):
        client.ask("Go on?", timeout=600)  # type: ignore[call-arg]  # the misspelling is the story
    assert peer.seen == []


def test_half_a_second_stays_half_a_second(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes")
    client.ask("Go on?", timeout_s=1.5)
    client.ask("Go on?", timeout_s=2.0)
    assert [repr(seen.body["timeout_s"]) for seen in peer.opened] == ["1.5", "2"]


def test_a_key_that_names_another_question_says_so(client: human.Client, peer: Peer) -> None:
    peer.outcome = answered("yes")
    client.ask("Which address?", key="refund-1009")
    with pytest.raises(human.InvalidRequest, match="'refund-1009' already names another question") as error:
        client.ask("Which colour?", key="refund-1009")
    assert (error.value.code, error.value.status) == ("idempotency_conflict", 409)
    assert len(peer.handoffs) == 1


def test_refused_fields_are_named_with_their_reasons(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    faults = [("timeout_s", "at most 7776000"), ("reason", "must not be empty")]
    peer.then(replies(422, problem(422, "invalid", "Two fields are wrong.", *faults)))
    with pytest.raises(human.InvalidRequest) as error:
        client.ask("", timeout_s=10**9)
    words = "Refused (HTTP 422, invalid): timeout_s: at most 7776000; reason: must not be empty."
    assert str(error.value) == words
    assert error.value.errors == tuple(human.FieldError(*fault) for fault in faults)
    assert (error.value.code, error.value.status, error.value.handoff_id) == ("invalid", 422, None)
    assert clock.naps == []


@pytest.mark.parametrize("errors", [None, "odd", [1, None, "x"], {}])
def test_a_problem_document_with_odd_errors_is_still_a_refusal(
    client: human.Client, peer: Peer, errors: object
) -> None:
    peer.then(replies(400, {"code": "bad_json", "detail": None, "title": "Not JSON", "errors": errors}))
    with pytest.raises(human.InvalidRequest, match="HTTP 400, bad_json.: Not JSON."):
        client.ask("Go on?")


def test_a_handoff_server_with_nothing_at_that_path_points_at_the_address(
    client: human.Client, peer: Peer
) -> None:
    peer.then(replies(404, problem(404, "not_found", "There is nothing at this address.")))
    with pytest.raises(human.InvalidRequest, match="from the argument url=. the right address"):
        client.ask("Go on?")


@pytest.mark.parametrize(
    "reply",
    [replies(401, problem(401, "unauthorized", "no such key")), replies(401, b"<h1>Who?</h1>", "text/html")],
)
def test_a_wrong_key_is_said_once_with_the_place_it_came_from(
    peer: Peer, clock: HandClock, monkeypatch: pytest.MonkeyPatch, reply: Any
) -> None:
    monkeypatch.setenv("HANDOFF_API_KEY", API_KEY)
    peer.then(reply)
    with human.Client(peer.url, _clock=clock.as_clock()) as client:
        with pytest.raises(human.InvalidRequest, match="environment variable HANDOFF_API_KEY") as error:
            client.ask("Go on?")
    assert (error.value.code, error.value.status) == ("unauthorized", 401)
    assert API_KEY not in str(error.value)
    assert (len(peer.seen), clock.naps) == (1, [])


def test_an_answer_that_is_no_longer_kept_is_uncertain_and_asks_for_a_new_key(
    client: human.Client, peer: Peer
) -> None:
    peer.then(replies(410, problem(410, "answer_deleted", "the answer was deleted")))
    with pytest.raises(human.Uncertain, match="no longer kept .*new key") as error:
        client.ask("Go on?", key="refund-1009")
    assert error.value.key == "refund-1009"
