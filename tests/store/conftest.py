"""A store on the real Redis of the test run, with a key prefix of its own for every test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
import redis

from handoff.dev.redis_server import RunningRedis
from handoff.store import Connections, Keyspace, Store


@pytest.fixture
def raw(running_redis: RunningRedis) -> Iterator[redis.Redis]:
    """A plain client, for looking at what is really there."""
    with redis.Redis.from_url(running_redis.url, decode_responses=True) as client:
        yield client


@pytest.fixture
def store(running_redis: RunningRedis, raw: redis.Redis) -> Iterator[Store]:
    """An installation without anything in it."""
    connections = Connections(running_redis.url)
    made = Store(connections, Keyspace(f"store-{secrets.token_hex(4)}"))
    yield made
    connections.close()
    if left := list(raw.scan_iter("{" + made.keys.prefix + "}:*", count=1_000)):
        raw.unlink(*left)
