"""Races on a real store through the real application: one winner each, and nobody is told anything else."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import pytest

from handoff.effects import EffectKind
from handoff.models import Actor, ActorKind, Channel, Decision, Proof
from handoff.moments import rfc3339
from handoff.states import CLOSED
from tests.world import Cutter, World
from workers.performing import perform_effect

HANDOFFS, RACERS = 200, 24
#: Every fifth handoff also has the deadline in the race: it passes in the middle of the storm.
SHORT = 5


@pytest.mark.timeout(120)
def test_a_thousand_racing_settlements_of_two_hundred_handoffs_have_two_hundred_winners(world: World) -> None:
    world.dismiss()
    opened = [
        world.open(kind="clear", timeout_s=30 if number % SHORT == 0 else 3600) for number in range(HANDOFFS)
    ]
    told: dict[str, list[tuple[str, bool, str, Any]]] = defaultdict(list)
    race: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def settle(handoff: str, verb: str) -> None:
        told[handoff].append(_settle(world, handoff, verb))

    moves = [
        (one["id"], verb) for one in opened for verb in ("resolve", "refuse", "cancel", "contact", "expire")
    ]
    random.Random(7).shuffle(moves)
    for number, (handoff, verb) in enumerate(moves):
        if number == len(moves) // 2:
            race.put(lambda: setattr(world, "now", world.now + 30_000))
        race.put(partial(settle, handoff, verb))

    def run() -> None:
        while True:
            try:
                move = race.get_nowait()
            except Empty:
                return
            move()

    threads = [threading.Thread(target=run) for _ in range(RACERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    expired = 0
    for one in opened:
        shown, answers = world.show(one), told[one["id"]]
        assert len(answers) == 5
        closing = [event for event in world.types(one) if event in {state.value for state in CLOSED}]
        assert closing == [shown["state"]], "closed once"
        winners = [verb for verb, won, _, _ in answers if won]
        if shown["state"] == "expired":
            expired += 1
            assert winners in ([], ["expire"]), "a word may have said that it was too late, and none won"
        else:
            assert len(winners) == 1, answers
        settled_at = shown["settlement"]["at"] if shown["settlement"] else None
        for verb, won, state, at in answers:
            if verb == "expire" and not won and state not in {state.value for state in CLOSED}:
                continue  # the clock looked before the deadline, and nothing was settled yet
            assert (state, at) == (shown["state"], settled_at), (verb, answers)
    assert expired, "some were lost to the deadline, else this tests less than it says"

    for row in world.due_rows(EffectKind.PLACE_CALL, EffectKind.SEND_TEXT, EffectKind.HANG_UP):
        perform_effect(world.services, row)
    assert world.creates() == [] and world.creates("Messages") == [], "all were over before anybody was rung"
    assert world.due_rows() == world.due_rows(EffectKind.PURGE)


def _settle(world: World, handoff: str, verb: str) -> tuple[str, bool, str, Any]:
    """One move: what it was, whether it was told that it won, and the state and decision it was told."""
    do = world.services.handoffs
    if verb == "expire":
        outcome = do.expire(handoff)
        return verb, outcome.won, outcome.state.value, _at(outcome.settlement)
    if verb == "contact":
        by = Actor(kind=ActorKind.CONTACT, id="ada", name="Ada")
        word = Decision(by=by, channel=Channel.CALL, proof=Proof.KEYPRESS, at=world.now)
        outcome = do.resolve(handoff, word, f"key-{handoff}")
        return verb, outcome.won, outcome.state.value, _at(outcome.settlement)
    if verb == "cancel":
        answer = world.http.post(f"/v1/handoffs/{handoff}/cancellation")
    else:
        answer = getattr(world.operator, verb)(handoff)
    assert answer.status_code in (200, 409, 410), answer.text
    body = answer.json()
    settlement = body.get("settlement")
    won = answer.status_code == 200
    return verb, won, body["state"], settlement["at"] if settlement else None


def _at(decision: Decision | None) -> str | None:
    return rfc3339(decision.at) if decision else None


@pytest.mark.parametrize("verb", ["resolve", "refuse", "cancel", "acknowledge"])
def test_a_settlement_whose_reply_is_lost_between_us_and_redis_is_told_that_it_won(
    world: World, verb: str
) -> None:
    """The client repeats the script by itself; without its own outcome it would be told that it lost."""
    relay, other = _behind_a_relay(world)
    handoff = world.open()
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.settle()
    relay.lose_the_answer_to(lambda data: b"EVALSHA" in data and handoff["id"].encode() in data)
    where = {"resolve": "resolution", "refuse": "refusal", "cancel": "cancellation"}.get(
        verb, "acknowledgement"
    )
    answer = world.operator.http.post(f"{other}/v1/handoffs/{handoff['id']}/{where}", json={})
    assert relay.cuts == 1
    assert answer.status_code == 200, answer.text
    told = world.types(handoff)
    closing = {"resolve": "resolved", "refuse": "declined", "cancel": "cancelled"}.get(verb, "acknowledged")
    assert told.count(closing) == 1 and "late_answer_refused" not in told
    world.advance(5)
    call.ended("canceled")
    world.operator.cancel(handoff["id"])
    relay.close()


def test_an_opening_whose_reply_is_lost_between_us_and_redis_is_new_and_rings_once(world: World) -> None:
    relay, other = _behind_a_relay(world)
    relay.lose_the_answer_to(lambda data: b"EVALSHA" in data and b"opened" in data)
    body = {"kind": "clear", "reason": "A wall"}
    answer = world.http.post(f"{other}/v1/handoffs", json=body, headers={"Idempotency-Key": "once"})
    assert relay.cuts == 1
    assert answer.status_code == 201 and "Idempotent-Replayed" not in answer.headers
    world.reached(world.ada, "A wall").press("1").hears("Thank you")
    assert world.types(answer.json()["id"]).count("opened") == 1
    assert len(world.creates()) == 1
    relay.close()


def test_a_key_whose_reply_is_lost_between_us_and_redis_is_confirmed(world: World) -> None:
    relay, other = _behind_a_relay(world)
    handoff = world.open()
    call = world.reached(world.ada)
    world.settle()
    attempt = next(one for one in world.record(handoff).attempts if one.call)
    path = f"/twilio/calls/{attempt.call}/attempts/{attempt.id}/key?turn=1&silent=1"
    relay.lose_the_answer_to(lambda data: b"EVALSHA" in data and b"key-at_" in data)
    answer = world.twilio(path, {"CallSid": call.sid, "Digits": "1"}, at=other)
    assert relay.cuts == 1
    assert "Thank you. It is handed back to shopper" in answer.text
    assert world.types(handoff).count("resolved") == 1
    call.hang_up()
    relay.close()


def test_a_settlement_whose_answer_is_lost_on_the_way_to_the_operator_is_repeated_and_won(
    world: World,
) -> None:
    handoff = world.open()
    world.ada.expect_text()
    call = world.ada.let_ring()
    relay = Cutter("127.0.0.1", urlsplit(world.url).port or 0)
    relay.lose_the_answer_to(lambda data: b"/resolution" in data)
    url = f"http://127.0.0.1:{relay.port}/v1/handoffs/{handoff['id']}/resolution"
    headers = {"Idempotency-Key": "click-1"}
    with pytest.raises(Exception, match="disconnected|reset|closed"):
        world.operator.http.post(url, json={}, headers=headers)
    assert relay.cuts == 1
    again = world.operator.http.post(url, json={}, headers=headers)
    assert (again.status_code, again.json()["state"]) == (200, "resolved")
    somebody_else = world.operator.http.post(url, json={}, headers={"Idempotency-Key": "click-2"})
    assert somebody_else.status_code == 409
    call.ended("canceled")
    relay.close()


def _behind_a_relay(world: World) -> tuple[Cutter, str]:
    """A second web process whose Redis is behind a relay, and its address."""
    redis_url = urlsplit(world.services.settings.redis_url)
    relay = Cutter("127.0.0.1", redis_url.port or 0)
    web = world.start_web(HANDOFF_REDIS_URL=f"redis://127.0.0.1:{relay.port}/0")
    return relay, web.url
