"""The agent's own server is told: when it resolved, when it did not, and when it could not be told."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from handoff import resume
from handoff.moments import DAY, SECOND
from tests.world import World

TOLD, REFUSED = "resume_delivered", "resume_failed"


def signed(world: World, number: int = 0) -> None:
    """The callback verifies by the published rule, at the moment it was sent, with this agent's secret."""
    callback = world.web.callbacks[number]
    key = world.record(world.newest()).api_key
    secret = resume.signing_secret(world.services.settings.secret_keys[0], key)
    headers = {name.replace("_", "-"): value for name, value in callback.headers.items()}
    sent_at = datetime.fromtimestamp(int(headers["webhook-timestamp"]), UTC)
    resume.verify(callback.body, headers, secret, now=sent_at)


def test_a_resolved_handoff_is_told_to_the_resume_url_and_no_other(world: World) -> None:
    handoff = world.open(
        resume_url=f"{world.url}/agent/resume",
        outcome_url=f"{world.url}/agent/outcome",
        resume_token="a-token-of-the-agent",
    )
    call = world.reached(world.ada, "checkbox")
    call.press("1").hears("Thank you")
    world.settle()
    (callback,) = world.web.callbacks
    assert callback.name == "resume"
    assert callback.headers["authorization"] == "Bearer a-token-of-the-agent"
    told = json.loads(callback.body)
    assert told["type"] == "handoff.resolved"
    assert told["data"]["handoff"]["id"] == handoff["id"]
    assert told["data"]["handoff"]["result"] == {"kind": "clear", "cleared": True}
    assert "a-token-of-the-agent" not in callback.body.decode()
    signed(world)


@pytest.mark.parametrize("how", ["declined", "cancelled", "expired"])
def test_every_other_end_is_told_to_the_outcome_url(world: World, how: str) -> None:
    handoff = world.open(
        resume_url=f"{world.url}/agent/resume", outcome_url=f"{world.url}/agent/outcome", timeout_s=60
    )
    if how == "declined":
        world.operator.refuse(handoff["id"])
    elif how == "cancelled":
        world.operator.cancel(handoff["id"])
    else:
        world.ada.expect_text()
        world.ada.let_ring()
        world.forgives_what_rang()
        world.advance(61)
    world.forgives_what_rang()
    world.settle()
    assert [(one.name, json.loads(one.body)["type"]) for one in world.web.callbacks] == [
        ("outcome", f"handoff.{how}")
    ]


def test_a_server_that_fails_is_told_again_with_the_same_id_and_bytes(world: World) -> None:
    world.web.agent_answers = [500, 503]
    handoff = world.open(resume_url=f"{world.url}/agent/resume")
    world.operator.resolve(handoff["id"])
    world.forgives_what_rang()
    world.settle()
    assert len(world.web.callbacks) == 1
    world.advance(6)
    world.advance(31)
    first, second, third = world.web.callbacks
    assert first.body == second.body == third.body
    assert first.headers["webhook_id"] == second.headers["webhook_id"] == third.headers["webhook_id"]
    assert first.headers["webhook_timestamp"] < second.headers["webhook_timestamp"]
    assert first.headers["webhook_signature"] != second.headers["webhook_signature"]
    signed(world, 2)
    assert [one for one in world.types(handoff) if one in (TOLD, REFUSED)] == [REFUSED, TOLD]


def test_a_server_that_is_gone_for_a_day_costs_the_callback_and_never_the_answer(world: World) -> None:
    world.web.agent_answers = [500] * 100
    handoff = world.open(resume_url=f"{world.url}/agent/resume")
    world.operator.resolve(handoff["id"])
    world.forgives_what_rang()
    for _ in range(20):
        world.now += 3 * 3_600 * SECOND
        world.settle()
    tries = len(world.web.callbacks)
    assert 8 < tries < 20
    last = [event for event in world.events(handoff) if event.type == REFUSED][-1]
    assert last.data["given_up"] is True and last.data["tries"] == tries
    world.now += DAY
    world.settle()
    assert len(world.web.callbacks) == tries, "it is given up, not forgotten and found again"
    assert world.show(handoff)["result"] == {"kind": "clear", "cleared": True}


def test_a_server_that_wants_no_more_is_told_no_more(world: World) -> None:
    world.web.agent_answers = [410]
    handoff = world.open(resume_url=f"{world.url}/agent/resume")
    world.operator.resolve(handoff["id"])
    world.forgives_what_rang()
    world.settle()
    world.now += DAY
    world.settle()
    assert len(world.web.callbacks) == 1
    assert world.events(handoff)[-1].data["why"] == "refused"
