"""The application of one test, on the real Redis of the test run, under a prefix of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest

from handoff.dev.redis_server import RunningRedis

from .site import Site


class MakeSite(Protocol):
    """Makes the application with other settings than the usual ones."""

    def __call__(self, **settings: str) -> Site: ...


@pytest.fixture
def make_site(running_redis: RunningRedis) -> Iterator[MakeSite]:
    made: list[Site] = []

    def make(**settings: str) -> Site:
        made.append(Site(running_redis.url, **settings))
        return made[-1]

    yield make
    for site in made:
        site.close()


@pytest.fixture
def site(make_site: MakeSite) -> Site:
    """Two agents and an operator; Ada and Ben can be reached."""
    return make_site()
