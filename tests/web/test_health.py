"""Alive, and fit to take a handoff: what /readyz says is missing, in words for whoever runs it."""

from __future__ import annotations

from handoff.dev.redis_server import RunningRedis

from .conftest import MakeSite
from .site import Site


def missing(site: Site) -> list[str]:
    answer = site.anybody.get("/readyz")
    document = answer.get_json()
    assert (answer.status_code == 200) == (document["missing"] == []) == (document["status"] == "ready")
    assert answer.status_code in (200, 503)
    return list(document["missing"])


def test_alive_asks_nothing_of_anybody(site: Site) -> None:
    before = site.dump()
    answer = site.anybody.get("/healthz")
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ok"})
    assert site.dump() == before


def test_ready_once_a_clock_and_a_worker_were_seen_and_not_before(site: Site) -> None:
    assert len(missing(site)) == 2
    site.services.store.beat("clock", site.now)
    [worker] = missing(site)
    assert "handoff worker" in worker
    site.services.store.beat("worker", site.now)
    assert missing(site) == []


def test_a_clock_or_a_worker_that_fell_silent_is_missing_again(site: Site) -> None:
    for who in ("clock", "worker"):
        site.services.store.beat(who, site.now)
    site.now += 15_000
    assert missing(site) == []
    site.now += 1
    [clock] = missing(site)
    assert "handoff clock" in clock
    site.now += 20_000
    assert len(missing(site)) == 2


def test_a_redis_that_keeps_nothing_on_disk_is_said_loudly(
    private_redis: RunningRedis, make_site: MakeSite
) -> None:
    site = make_site(HANDOFF_REDIS_URL=private_redis.url)
    for who in ("clock", "worker"):
        site.services.store.beat(who, site.now)
    assert missing(site) == []
    private = site.services.store.connections.commands
    private.config_set("appendonly", "no")
    [told] = missing(site)
    assert "appendonly" in told and "lost" in told


def test_neither_tells_a_secret_or_an_address(site: Site) -> None:
    for path in ("/healthz", "/readyz"):
        text = site.anybody.get(path).text
        assert "redis://" not in text and "127.0.0.1" not in text
