"""Redis refuses, forgets connections, or is killed: Twilio is told to come again, people hear a sentence."""

from __future__ import annotations

from handoff.dev import redis_server
from handoff.dev.redis_server import RunningRedis
from handoff.states import CallState
from tests.world import REASON, Agent, MakeWorld, World, path_of, refusing_writes, until


def test_a_callback_that_can_not_be_kept_is_refused_and_counts_when_it_comes_again(world: World) -> None:
    """The first delivery once left a mark "seen" and no effect, so that the second was thrown away."""
    world.phone.faults({"lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    world.settle()
    [create] = world.creates()
    path = path_of(create["form"]["StatusCallback"][0])
    ended = {"CallSid": ringing.sid, "CallStatus": "no-answer", "SequenceNumber": "2"}
    before = world.record(handoff)
    with refusing_writes(world):
        assert world.twilio(path, ended).status_code == 503
    assert world.record(handoff) == before
    assert world.twilio(path, ended).status_code == 204
    assert world.dispositions(handoff)[0] == ("ada", "no_answer")
    world.expected.errors = 1
    world.reached(world.ben).press("1").hears("Thank you")


def test_connections_that_break_under_a_callback_cost_nothing(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    world.settle()
    world.services.store.connections.commands.ping()
    world.redis.client_kill_filter(_type="normal", skipme=True)
    call.hang_up()
    world.ada.expect_call("We were cut off.").press("1").hears("Thank you")
    assert world.dispositions(handoff) == [("ada", "hung_up"), ("ada", "resolved")]


def test_who_answers_while_nothing_can_be_kept_is_asked_for_a_moment_and_then_hears_it(world: World) -> None:
    world.open()
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.settle()
    with refusing_writes(world):
        call.answer().hears("One moment, please.")
        world.phone.expect_debugger(11200)
    world.listens(call, "Handoff for shopper")
    call.press("1").hears("Thank you")
    world.expected.errors = 1


def test_a_key_pressed_while_nothing_can_be_kept_is_not_confirmed_before_it_counts(
    world: World, agent: Agent
) -> None:
    blocked = agent.clear_wall(REASON)
    call = world.reached(world.ada)
    with refusing_writes(world):
        call.press("1").hears("One moment, please.")
        assert not blocked.done()
    world.listens(call, "Thank you. It is handed back to shopper")
    assert blocked.result(10).by.name == "Ada"
    assert world.types(world.newest()).count("resolved") == 1


def test_a_store_that_stays_away_gets_an_apology_in_the_end(world: World) -> None:
    handoff = world.open()
    call = world.reached(world.ada)
    with refusing_writes(world):
        call.press("1").hears("One moment, please.")
        for _ in range(20):
            world.phone.advance(1)
        call.hears("Still working on it.")
        call.hears("Sorry, something went wrong here. If you got a text, its link still works.")
    world.phone.expect_debugger(11200)
    world.expected.errors = 1
    world.advance(60)
    assert world.dispositions(handoff)[0] == ("ada", "hung_up"), "found by a look-up"
    world.ada.expect_call("We were cut off.").press("1").hears("Thank you")


def test_a_record_that_can_not_be_read_gets_an_apology_and_a_line_in_the_log(world: World) -> None:
    """Whatever breaks inside, the caller hears a sentence and Twilio gets a document."""
    handoff = world.open()
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.settle()
    key = world.services.store.keys.call(world.record(handoff).attempts[0].call or "")
    good = world.redis.hget(key, "doc")
    world.redis.hset(key, "doc", "{}")
    call.answer().hears("Sorry, something went wrong here.")
    world.redis.hset(key, "doc", good)
    world.phone.expect_debugger(11200)
    world.expected.errors = 1
    world.operator.cancel(handoff["id"])


def test_a_wake_up_is_not_lost_when_its_reader_loses_the_connection_silently(
    world: World, agent: Agent
) -> None:
    """Answered in the gap, elsewhere: after every new beginning the stored state is read again."""
    other = world.start_web()
    blocked = agent.clear_wall(REASON)
    handoff = world.newest()
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.settle()
    world.dismiss()  # so that no later change wakes the agent by the way

    def readers() -> list[str]:
        return [client["id"] for client in world.redis.client_list() if client["cmd"] == "xread"]

    for reader in until(readers, 10, "the reader of wake-ups to read"):
        world.redis.client_kill_filter(_id=reader)
    answer = world.operator.http.post(f"{other.url}/v1/handoffs/{handoff}/resolution", json={})
    assert answer.status_code == 200
    assert blocked.result(5).channel == "console"
    world.hire()
    call.ended("canceled")


def test_redis_killed_and_started_again_while_an_agent_waits_loses_nothing(
    make_world: MakeWorld, private_redis: RunningRedis
) -> None:
    world = make_world(redis_url=private_redis.url)
    blocked = world.agent.clear_wall(REASON)
    call = world.reached(world.ada)
    world.settle()
    private_redis.kill()
    again = redis_server.start(private_redis.data, private_redis.port)
    try:
        until(lambda: call.press("1") and call.hears("Thank you"), 20, "the key to count")
        assert blocked.result(20).by.name == "Ada"
        record = world.services.store.read_call(world.record(world.newest()).attempts[0].call or "")
        assert record is not None and record.state is CallState.ANSWERED
        world.check_ending()
        world.expected.unsettled = True
    finally:
        world.close()
        again.stop()
