"""What `handoff doctor` looks at: settings, Redis, the processes, Twilio; in words for an operator.

A first form: it says what is wrong and what to do, and places no call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import redis

from handoff import bootstrap, config
from handoff.bootstrap import Services
from handoff.people import mask
from handoff.web.health import what_is_missing


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    mark: Literal["ok", "!!", "??"]  # fine; wrong; worth a look
    what: str

    @property
    def wrong(self) -> bool:
        return self.mark == "!!"


def examine(environ: Mapping[str, str], *, offline: bool) -> Iterator[Finding]:
    """Everything that was found, in the order in which it is best mended."""
    try:
        settings = config.from_environment(environ)
    except config.BadSettings as error:
        for problem in error.problems:
            yield Finding("!!", problem)
        return
    yield Finding("ok", f"settings; Twilio will sign for {settings.public_url}")
    ladder = ", then ".join(f"{one.name} ({mask(one.number)})" for one in settings.contacts)
    yield Finding("ok", f"rings {ladder}, each for {settings.ring_s} s")
    if len(settings.contacts) == 1:
        yield Finding(
            "??",
            "only one person can be reached: a second in HANDOFF_TO_NUMBER is rung when the first is not",
        )
    if offline:
        return
    services = bootstrap.build(settings)
    yield from _redis(services)
    yield from _twilio(services)


def _redis(services: Services) -> Iterator[Finding]:
    try:
        persistence = services.store.connections.persistence()
    except redis.RedisError as error:
        yield Finding("!!", f"HANDOFF_REDIS_URL: Redis can't be reached ({type(error).__name__})")
        return
    yield Finding("ok", f"Redis {persistence.version}")
    if persistence.kept and persistence.fsync not in ("always", None):
        yield Finding(
            "??", f"appendfsync is {persistence.fsync}: a power cut can lose the last second; use always"
        )
    for missing in what_is_missing(services):
        yield Finding("!!", missing)


def _twilio(services: Services) -> Iterator[Finding]:
    from voice.gateway import GatewayError

    try:
        services.gateway.check()
    except GatewayError as error:
        yield Finding("!!", f"Twilio: {error}")
    else:
        yield Finding("ok", "Twilio accepts the credentials")
