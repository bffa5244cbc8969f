"""Workers that die, jobs that run twice, queues that forget: every effect happens, none happens twice."""

from __future__ import annotations

from rq import Queue
from rq.serializers import JSONSerializer

from handoff.effects import Effect, EffectKind
from handoff.states import CallState
from tests.world import BEN, REASON, Agent, Fails, World, in_parallel, until
from tests.world.processes import queues_of
from voice import dialling, texting
from workers import clock
from workers.performing import perform_effect


def test_a_worker_that_dies_before_the_create_costs_that_call_and_nobody_is_rung_twice(world: World) -> None:
    world.dismiss()
    gateway = Fails(world.services.gateway, before=1)
    world.hire(gateway)
    world.expected.failed_jobs = 1
    handoff = world.open()
    world.ada.expect_text()
    world.advance(54)
    assert world.creates() == []
    world.advance(1)
    assert gateway.asked == ["find_call"], "the provider was asked once whether it has the call"
    assert world.dispositions(handoff)[0] == ("ada", "unknown")
    world.reached(world.ben).press("1").hears("Thank you")
    world.advance(60)
    assert len(world.creates()) == 1


def test_a_worker_that_dies_after_the_create_leaves_a_call_that_works(world: World, agent: Agent) -> None:
    world.dismiss()
    world.hire(Fails(world.services.gateway, after=1))
    world.expected.failed_jobs = 1
    blocked = agent.clear_wall(REASON, timeout_s=3600)
    call = world.reached(world.ada)
    call.press("3").hears("You have it")
    world.advance(70)
    assert len(world.creates()) == 1, "the row came back after the dead run's time, and rang nobody"
    call.press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"


def test_a_worker_that_dies_after_the_create_and_no_callback_comes_it_is_looked_up(world: World) -> None:
    world.dismiss()
    gateway = Fails(world.services.gateway, after=1)
    world.hire(gateway)
    world.expected.failed_jobs = 1
    world.phone.faults({"lose_callbacks": 1})
    handoff = world.open()
    world.ada.expect_text()
    ringing = world.ada.let_ring()
    world.advance(55)
    ringing.ended("no-answer")
    assert gateway.asked == ["find_call"]
    assert world.dispositions(handoff)[0] == ("ada", "no_answer")
    world.reached(world.ben).press("1").hears("Thank you")
    world.advance(60)
    assert len(world.creates()) == 2


def test_a_job_that_rq_calls_failed_and_runs_again_rings_nobody_again(world: World) -> None:
    world.dismiss()
    hands = world.hire(Fails(world.services.gateway, after=1))
    world.open()
    call = world.reached(world.ada)
    [failed] = until(hands.failed_jobs, 10, "the failed job")
    hands.run_again(failed)
    world.settle()
    assert len(world.creates()) == 1
    call.press("1").hears("Thank you")
    world.advance(61)
    assert world.due_rows(EffectKind.PLACE_CALL) == []


def test_the_same_effect_on_four_workers_at_once_rings_once_and_texts_once(world: World) -> None:
    world.dismiss()
    world.open()
    [call_row] = world.due_rows(EffectKind.PLACE_CALL)
    [text_row] = world.due_rows(EffectKind.SEND_TEXT)
    runs = [
        lambda: perform_effect(world.services, call_row),
        lambda: perform_effect(world.services, text_row),
    ]
    in_parallel(*runs * 4)
    assert len(world.creates()) == 1 and len(world.creates("Messages")) == 1
    world.hire()
    world.reached(world.ada).press("1").hears("Thank you")


def test_even_without_the_outbox_s_guard_one_call_record_is_created_once(world: World) -> None:
    """The claim on the call's own record is what counts: two runs, of which one was thought dead."""
    world.dismiss()
    world.open()
    [row] = world.due_rows(EffectKind.PLACE_CALL)
    effect = Effect.model_validate_json(world.redis.hget(world.services.store.keys.effects, row))
    in_parallel(*[lambda: dialling.place_call(world.services, effect)] * 4)
    assert len(world.creates()) == 1
    world.hire()
    world.reached(world.ada).press("1").hears("Thank you")


def test_a_text_whose_worker_died_is_not_sent_again(world: World) -> None:
    world.dismiss()
    world.open()
    [row] = world.due_rows(EffectKind.SEND_TEXT)
    effect = Effect.model_validate_json(world.redis.hget(world.services.store.keys.effects, row))
    in_parallel(*[lambda: texting.send_text(world.services, effect)] * 4)
    assert len(world.creates("Messages")) == 1
    world.hire()
    world.reached(world.ada).press("1").hears("Thank you")
    assert len(world.creates("Messages")) == 1


def test_a_queue_that_forgets_its_jobs_costs_seconds(world: World, agent: Agent) -> None:
    world.dismiss()
    blocked = agent.clear_wall(REASON)
    handoff = world.newest()
    people, _ = queues_of(world.services)
    until(lambda: people.count == 2, 10, "the call and the text to be queued")
    people.connection.delete(people.key)
    people.connection.close()
    world.hire()
    world.settle()
    assert world.creates() == []
    world.advance(5)
    world.reached(world.ada).press("1").hears("Thank you")
    assert blocked.result(10).handoff_id == handoff


def test_a_worker_that_dies_right_after_taking_the_jobs_costs_seconds(world: World, agent: Agent) -> None:
    """RQ goes on thinking that they are being done; the rows know better."""
    world.dismiss()
    blocked = agent.clear_wall(REASON)
    world.newest()
    queues = queues_of(world.services)
    until(lambda: queues[0].count == 2, 10, "the call and the text to be queued")
    for _ in range(2):
        assert Queue.dequeue_any(queues, None, queues[0].connection, serializer=JSONSerializer)
    assert queues[0].is_empty()
    queues[0].connection.close()
    world.hire()
    world.settle()
    assert world.creates() == []
    world.advance(5)
    world.reached(world.ada).press("1").hears("Thank you")
    assert blocked.result(10).by.name == "Ada"


def test_three_clocks_and_two_workers_do_everything_once(world: World) -> None:
    world.dismiss()
    opened = [world.open(reason=f"Wall number {number}") for number in range(8)]
    world.now += 5_000
    in_parallel(*[lambda: clock.tick(world.services)] * 3)
    world.hire()
    world.hire()
    world.settle()
    assert len(world.creates()) == 1, "one call at a time on Ada's line"
    assert len(world.creates("Messages")) == 8
    world.ada.let_ring()
    for _ in opened:
        world.ada.expect_text("Wall number")
    for one in opened:
        assert world.operator.cancel(one["id"]).status_code == 200
    world.advance(5)
    assert [world.dispositions(one) for one in opened] == [[("ada", "withdrawn")]] * 8


def test_two_clocks_at_the_moment_a_step_is_due_ring_the_next_person_once(world: World) -> None:
    handoff = world.open(timeout_s=3600)
    world.reached(world.ada).press("3").hears("You have it").hang_up()
    world.settle()
    world.now += 300_000
    in_parallel(*[lambda: clock.tick(world.services)] * 4)
    world.settle()
    assert world.types(handoff).count("lapsed") == 1
    assert len(world.creates(to=BEN)) == 1
    world.reached(world.ben).press("1").hears("Thank you")


def test_a_deadline_that_two_clocks_see_closes_it_once(world: World) -> None:
    handoff = world.open(timeout_s=5, outcome_url=f"{world.url}/agent/outcome")
    world.ada.expect_text()
    call = world.ada.let_ring()
    world.settle()
    world.now += 5_000
    in_parallel(*[lambda: clock.tick(world.services)] * 4)
    world.settle()
    assert world.types(handoff).count("expired") == 1
    assert [one.name for one in world.web.callbacks] == ["outcome"]
    call.ended("canceled")


def test_a_call_record_says_what_happened_to_it(world: World) -> None:
    """From due to ended, with the provider's id, so that an operator can find it over there."""
    handoff = world.open()
    call = world.reached(world.ada)
    record = world.services.store.read_call(world.record(handoff).attempts[0].call or "")
    assert record is not None and (record.state, record.provider_id) == (CallState.ANSWERED, call.sid)
    call.press("1").hears("Thank you")
    call.hang_up()
    world.settle()
    ended = world.services.store.read_call(record.id)
    assert ended is not None and (ended.state, ended.pressed) == (CallState.ENDED, "1")
