"""Redis killed and started again: what was accepted is there. And what it says about its own disk."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import redis

from handoff.dev import redis_server
from handoff.dev.redis_server import RunningRedis
from handoff.store import Connections, Done, Keyspace, Store
from handoff.store.connection import ConnectionBroken
from handoff.store.plan import FIRST_LEASE_MS, Plan
from tests.unit.lives import NOW
from tests.world.waits import until

from .records import Raw, dump, keep, opened, opening, outcome_of, resolved


@pytest.fixture
def store(private_redis: RunningRedis) -> Iterator[Store]:
    connections = Connections(private_redis.url)
    yield Store(connections, Keyspace("durable"))
    connections.close()


@pytest.fixture
def raw(private_redis: RunningRedis) -> Iterator[Raw]:
    with redis.Redis.from_url(private_redis.url, decode_responses=True) as client:
        yield client


@pytest.fixture
def restarted() -> Iterator[list[RunningRedis]]:
    """What a test has started again; ended with the test."""
    again: list[RunningRedis] = []
    yield again
    for one in again:
        one.stop()


def test_everything_accepted_is_there_after_redis_was_killed(
    store: Store, raw: Raw, private_redis: RunningRedis, restarted: list[RunningRedis]
) -> None:
    change = opening()
    assert store.commit(Plan(changes=[change], idempotency=("ak_1", "k", "b")), NOW) == Done()
    store.put_link("L" * 22, change.handoff.id, "ada")
    closing = resolved(change.handoff)
    outcome = outcome_of(closing)
    assert store.commit(Plan(changes=[closing], command=(change.handoff.id, "c", outcome)), NOW) == Done()
    before = dump(raw, store)
    private_redis.kill()
    restarted.append(redis_server.start(private_redis.data, private_redis.port))
    assert dump(raw, store) == before
    assert store.read_for(change.handoff.id, "c") == (closing.handoff, outcome)
    due = {one.effect.id for one in store.claim_due(NOW + FIRST_LEASE_MS)}
    assert f"place_call-{change.calls[0].id}" in due, "an effect that was due is handed out again"


def test_a_store_works_again_by_itself_when_redis_is_back(
    store: Store, private_redis: RunningRedis, restarted: list[RunningRedis]
) -> None:
    handoff = opened(store)
    private_redis.kill()
    answered: list[object] = []
    asking = threading.Thread(target=lambda: answered.append(store.read(handoff.id)))
    asking.start()
    restarted.append(redis_server.start(private_redis.data, private_redis.port))
    asking.join(20)
    assert answered == [handoff]
    keep(store, resolved(handoff))


def test_of_handoffs_opened_while_redis_is_killed_none_that_was_accepted_is_lost(
    store: Store, private_redis: RunningRedis, restarted: list[RunningRedis]
) -> None:
    accepted: list[str] = []
    stop = threading.Event()

    def open_on() -> None:
        while not stop.is_set():
            change = opening()
            if store.commit(Plan(changes=[change]), NOW) == Done():
                accepted.append(change.handoff.id)

    writers = [threading.Thread(target=open_on) for _ in range(4)]
    for writer in writers:
        writer.start()
    until(lambda: len(accepted) > 50, 20, "some handoffs")
    private_redis.kill()
    restarted.append(redis_server.start(private_redis.data, private_redis.port))
    at_restart = len(accepted)
    until(lambda: len(accepted) > at_restart + 50, 20, "some more after the restart")
    stop.set()
    for writer in writers:
        writer.join(20)
    assert all(store.read(one) is not None for one in accepted)
    assert all(len(store.events(one)) == 2 for one in accepted)


def test_a_reader_of_wake_ups_says_when_its_connection_broke(
    store: Store, private_redis: RunningRedis
) -> None:

    with pytest.raises(ConnectionBroken), store.reading_wakes() as wakes:
        assert wakes.newest() == "0-0"
        private_redis.kill()
        wakes.after("0-0")


def test_a_server_with_an_append_only_file_keeps_what_it_is_told(store: Store) -> None:
    said = store.connections.persistence()
    assert said.kept and said.append_only and said.fsync == "always"
    assert int(said.version.partition(".")[0]) >= 7


def test_a_server_that_keeps_nothing_on_disk_says_so(store: Store, raw: Raw) -> None:
    raw.config_set("appendonly", "no")
    raw.config_set("appendfsync", "everysec")
    said = store.connections.persistence()
    assert not said.kept and said.fsync == "everysec"


def test_a_server_that_allows_no_config_command_is_asked_what_it_tells(store: Store, raw: Raw) -> None:
    """As managed Redis services are."""
    raw.acl_setuser("default", enabled=True, nopass=True, keys=["*"], commands=["+@all", "-config"])
    said = store.connections.persistence()
    assert said.kept and said.fsync is None


def test_a_redis_that_is_not_there_is_an_error_and_not_an_answer(private_redis: RunningRedis) -> None:
    private_redis.kill()
    client = redis.Redis.from_url(private_redis.url, retry=None)
    with pytest.raises(redis.RedisError):
        client.ping()
    client.close()
