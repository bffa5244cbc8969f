"""How the service connects to Redis, and what it asks of it. What it keeps there is store.py's business.

Facts that shaped this (redis-py 8.1.0, read in its source and tried): a default pool raises at 100
connections instead of waiting; the default socket time-out of 5 s breaks a read that blocks longer;
every command is retried by the client itself on a lost connection, so that a write may arrive twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry

READ_TIMEOUT_S = 5.0
QUEUE_POOL_SIZE = 16
#: A wake-up read blocks for at most this long, and its socket waits longer than that.
WAKE_BLOCK_MS = 5_000


class ConnectionBroken(Exception):
    """A read that blocks has lost its connection; what was stored meanwhile must be read again."""


@dataclass(frozen=True)
class Persistence:
    """What the server says about surviving its own death."""

    version: str
    append_only: bool
    fsync: str | None  # appendfsync, or None where CONFIG is not allowed

    @property
    def kept(self) -> bool:
        """Whether what was accepted is on disk (promise 1)."""
        return self.append_only


class Connections:
    """A bounded pool for commands, and single connections for reads that block."""

    def __init__(self, url: str, *, pool_size: int = 32):
        self.url = url
        pool = redis.BlockingConnectionPool.from_url(
            url,
            max_connections=pool_size,
            timeout=10,
            decode_responses=True,
            socket_timeout=READ_TIMEOUT_S,
            socket_connect_timeout=2,
            retry=_patience(),
        )
        self.commands: redis.Redis = redis.Redis.from_pool(pool)

    def blocking(self) -> redis.Redis:
        """A client with one connection of its own for the reader of wake-ups; it does not retry by itself,
        since its caller must read the stored state again after every break. Raises ConnectionBroken."""
        try:
            # A single connection is made here and now, not at the first command.
            return redis.Redis.from_url(
                self.url,
                decode_responses=True,
                single_connection_client=True,
                socket_timeout=WAKE_BLOCK_MS / 1000 + 5,
                socket_connect_timeout=2,
                retry=Retry(ExponentialWithJitterBackoff(cap=0.1, base=0.01), 0),
            )
        except redis.RedisError as error:
            raise ConnectionBroken(type(error).__name__) from error

    def for_enqueue(self) -> redis.Redis:
        """A client for putting jobs into RQ's queues, which needs bytes; as patient as `commands`."""
        return redis.Redis.from_pool(self._byte_pool(READ_TIMEOUT_S))

    def for_worker(self) -> redis.Redis:
        """A client for an RQ worker, whose reads block for minutes."""
        return redis.Redis.from_pool(self._byte_pool(None))

    def _byte_pool(self, read_timeout_s: float | None) -> redis.BlockingConnectionPool:
        return redis.BlockingConnectionPool.from_url(
            self.url,
            max_connections=QUEUE_POOL_SIZE,
            timeout=10,
            socket_connect_timeout=2,
            socket_timeout=read_timeout_s,
            retry=_patience(),
        )

    def persistence(self) -> Persistence:
        """Asks the server how it persists. Raises redis.RedisError when it can't be reached."""
        info = self.commands.info()
        try:
            fsync = self.commands.config_get("appendfsync").get("appendfsync")
        except redis.ResponseError:  # managed Redis services refuse CONFIG
            fsync = None
        return Persistence(
            version=str(info.get("valkey_version") or info.get("redis_version")),
            append_only=bool(info.get("aof_enabled")),
            fsync=fsync,
        )

    def close(self) -> None:
        self.commands.close()


def _patience() -> Retry:
    """About six seconds in all: a Redis that is killed and started again is back within that."""
    return Retry(ExponentialWithJitterBackoff(cap=1.0, base=0.05), 10)
