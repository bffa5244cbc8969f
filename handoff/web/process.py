"""What gunicorn.conf.py needs of the application: its signs of life, and its waiters when it stops."""

from __future__ import annotations

from contextlib import suppress

import redis
from flask import Flask

from handoff.bootstrap import Services
from handoff.waiting import Waiting


def beat(app: Flask) -> None:
    """A sign of life of this web process. Redis being away is no matter here."""
    services: Services = app.extensions["handoff"]
    with suppress(redis.RedisError):
        services.store.beat("web", services.clock())


def waiting_of(app: Flask) -> Waiting:
    """The waiters of this application's process."""
    services: Services = app.extensions["handoff"]
    return services.waiting
