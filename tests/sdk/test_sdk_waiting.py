"""Waiting for a person: however the line behaves meanwhile, the answer arrives or its loss is said."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

import human
from human._conversation import Timing

from .conftest import API_KEY, HandClock
from .peer import (
    DEADLINE_S,
    Behaviour,
    Exchange,
    Peer,
    answered,
    closed,
    hangs_up,
    keeps_to_the_contract,
    pending,
    problem,
    replies,
)

KEY = "run-42-step-3"
ID = "ho_0000000000000000000001"


def holds_for(clock: HandClock, seconds: float, **headers: str) -> Behaviour:
    """An open handoff, reported after a hold that takes no real time."""

    def behaviour(exchange: Exchange) -> None:
        clock.now_s += seconds
        exchange.reply(200, pending(ID), **headers)

    return behaviour


def test_the_wait_is_renewed_every_25_seconds_without_a_pause(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.outcome = answered("yes")
    peer.then(keeps_to_the_contract, holds_for(clock, 25), holds_for(clock, 25))
    assert client.ask("Go on?") == "yes"
    assert {seen.path for seen in peer.polls} == {f"/v1/handoffs/{ID}?wait=25"}
    assert (len(peer.polls), clock.naps) == (3, [])


def test_a_blocked_call_returns_when_a_person_answers(peer: Peer) -> None:
    with human.Client(peer.url, API_KEY) as client, ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.ask, "Which address?")
        peer.wait_until(lambda: len(peer.polls) == 1)
        assert not waiting.done()
        peer.settle(answered("12 Main Street"))
        assert waiting.result(DEADLINE_S) == "12 Main Street"
    assert len(peer.polls) == 1


def test_a_request_may_take_longer_than_the_hold() -> None:
    timing = Timing()
    assert timing.hold_s + timing.margin_s >= 35
    assert timing.hold_s < 30


@pytest.mark.parametrize(
    "trouble",
    [
        replies(500),
        replies(502, b"<h1>Bad Gateway</h1>", "text/html"),
        replies(503, problem(503, "unavailable", "starting")),
        replies(504, b"<h1>Gateway Time-out</h1>", "text/html"),
        replies(524, b""),
        replies(429),
        hangs_up,
        replies(200, b"<h1>We will be right back</h1>", "text/html"),
        replies(302, b"", Location="https://login.example/"),
        replies(403, b"<h1>Checking your browser</h1>", "text/html"),
        replies(404, b"<h1>no such app</h1>", "text/html"),
        replies(200, {**pending("ho_another"), **answered("for someone else")}),
        replies(204, b""),
    ],
)
def test_whatever_a_proxy_says_only_the_server_itself_ends_a_wait(
    client: human.Client, peer: Peer, trouble: Behaviour
) -> None:
    peer.outcome = answered("yes")
    peer.then(keeps_to_the_contract, trouble, trouble)
    assert client.ask("Go on?") == "yes"
    assert len(peer.opened) == 1


def test_a_restart_in_the_middle_of_a_wait_is_ridden_through(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.outcome = answered("yes")
    peer.then(keeps_to_the_contract, hangs_up)
    clock.in_naps.extend([peer.stop, lambda: None, lambda: None, peer.start])
    assert client.ask("Go on?") == "yes"
    assert clock.naps == [0.5, 1, 2, 4]
    assert len(peer.opened) == 1


def test_a_server_that_shuts_down_answers_early_and_is_not_hammered(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.outcome = answered("yes")
    early = holds_for(clock, 0.01)
    peer.then(keeps_to_the_contract, early, early, early, holds_for(clock, 25), early)
    assert client.ask("Go on?") == "yes"
    assert clock.naps == [0.5, 1, 2, 0.5]


def test_an_open_reply_may_ask_for_a_pause(client: human.Client, peer: Peer, clock: HandClock) -> None:
    peer.outcome = answered("yes")
    peer.then(keeps_to_the_contract, holds_for(clock, 25, Retry_After="4"), holds_for(clock, 25))
    assert client.ask("Go on?") == "yes"
    assert clock.naps == [4]


def test_an_absurd_pause_ends_with_the_grace(client: human.Client, peer: Peer, clock: HandClock) -> None:
    peer.outcome = answered("yes")
    peer.then(keeps_to_the_contract, holds_for(clock, 25, Retry_After="999999999"))
    assert client.ask("Go on?") == "yes"
    assert clock.naps == [600 + 60 - 25]


def test_the_deadline_is_the_servers_business(client: human.Client, peer: Peer, clock: HandClock) -> None:
    peer.outcome = closed("expired", "nobody")
    peer.then(keeps_to_the_contract, *[holds_for(clock, 25)] * 40)
    with pytest.raises(human.NobodyAnswered):
        client.ask("Go on?", timeout_s=600)
    assert clock.now_s >= 1_000 + 40 * 25


def test_an_outage_past_deadline_and_grace_is_uncertain_and_the_key_finds_the_answer(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.then(keeps_to_the_contract, hangs_up)
    clock.in_naps.append(peer.stop)
    with pytest.raises(human.Uncertain, match="may have been answered.*key='run-42-step-3'") as error:
        client.ask("Go on?", key=KEY, timeout_s=600)
    assert (error.value.handoff_id, error.value.key, error.value.state) == (ID, KEY, "pending")
    assert error.value.__cause__ is not None
    assert clock.now_s == pytest.approx(1_000 + 600 + 60)
    peer.settle(answered("yes"))
    peer.start()
    assert client.ask("Go on?", key=KEY, timeout_s=600) == "yes"
    assert len(peer.handoffs) == 1


def test_an_outage_after_the_deadline_was_moved_is_ridden_through(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    """The person asked for ten more minutes; the server is away from minute 11 to minute 12."""
    peer.outcome = answered("yes")

    def ten_minutes_more(exchange: Exchange) -> None:
        clock.now_s += 11 * 60
        exchange.reply(200, {**pending(ID), "deadline": "2026-11-30T03:20:00.000Z"})

    peer.then(keeps_to_the_contract, ten_minutes_more, *[replies(503, Retry_After="50")] * 2)
    assert client.ask("Go on?", timeout_s=600) == "yes"
    assert clock.naps == [50, 50]


def test_a_restart_just_after_the_deadline_still_gets_the_grace(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.outcome = closed("expired", "nobody")
    peer.then(keeps_to_the_contract, holds_for(clock, 665), replies(503, Retry_After="50"))
    with pytest.raises(human.NobodyAnswered):
        client.ask("Go on?", timeout_s=600)


def test_a_key_revoked_during_the_wait_is_said_at_once(
    client: human.Client, peer: Peer, clock: HandClock
) -> None:
    peer.then(keeps_to_the_contract, replies(401, problem(401, "unauthorized", "revoked")))
    with pytest.raises(human.InvalidRequest, match=f"API key.*{ID} stays open") as error:
        client.ask("Go on?", key=KEY)
    assert (error.value.status, error.value.handoff_id) == (401, ID)
    assert clock.naps == []


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [(404, "not_found", "does not know it any more"), (410, "answer_deleted", "no longer kept")],
)
def test_a_handoff_the_server_no_longer_has_is_uncertain(
    client: human.Client, peer: Peer, status: int, code: str, words: str
) -> None:
    peer.then(keeps_to_the_contract, replies(status, problem(status, code, "gone")))
    with pytest.raises(human.Uncertain, match=words) as error:
        client.ask("Go on?", key=KEY)
    assert (error.value.handoff_id, error.value.key) == (ID, KEY)


def test_closing_the_client_ends_a_call_of_another_thread_as_uncertain(peer: Peer) -> None:
    client = human.Client(peer.url, API_KEY)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(client.ask, "Go on?")
        peer.wait_until(lambda: len(peer.polls) == 1)
        client.close()
        # Closing does not interrupt a read that is under way: the end of that request is when it is noticed.
        peer.stop()
        error = waiting.exception(DEADLINE_S)
    assert isinstance(error, human.Uncertain)
    assert error.handoff_id == ID
    assert "this client was closed" in str(error)


def test_a_closed_client_says_so_before_anything_is_sent(client: human.Client, peer: Peer) -> None:
    client.close()
    with pytest.raises(human.ConnectionFailed, match="closed"):
        client.ask("Go on?")
    assert peer.seen == []


def test_an_interrupt_leaves_the_handoff_open(client: human.Client, peer: Peer, clock: HandClock) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    peer.then(keeps_to_the_contract, replies(503))
    clock.in_naps.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        client.ask("Go on?", key=KEY)
    assert [seen.method for seen in peer.seen] == ["POST", "GET"]
    peer.settle(answered("yes"))
    assert client.ask("Go on?", key=KEY) == "yes"
    assert len(peer.handoffs) == 1


def test_many_threads_share_one_client_without_waiting_for_each_other(peer: Peer) -> None:
    count = 130  # More than the 100 connections that httpx2 allows by default.
    with human.Client(peer.url, API_KEY) as client, ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(client.ask, f"Question {number}") for number in range(count)]
        peer.wait_until(lambda: len(peer.polls) == count)
        peer.settle(answered("yes"))
        assert {future.result(DEADLINE_S) for future in waiting} == {"yes"}
    assert len(peer.handoffs) == count


def test_trouble_is_logged_without_the_key_or_the_question(
    client: human.Client, peer: Peer, caplog: pytest.LogCaptureFixture
) -> None:
    peer.outcome = answered("yes")
    peer.then(replies(503, problem(503, "unavailable", "starting")), keeps_to_the_contract, hangs_up)
    with caplog.at_level(logging.DEBUG):
        client.ask("The reason", resume_token="rt_made_up", metadata={"note": "hush"})
    ours = [record.getMessage() for record in caplog.records if record.name == "human"]
    assert len(ours) == 2
    assert "HTTP 503 (starting)" in ours[0]
    for secret in (API_KEY, "rt_made_up", "hush", "The reason"):
        assert secret not in caplog.text
