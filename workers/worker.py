"""The worker process: takes jobs from RQ's queue and runs them in this process, one after the other.

No fork per job (RQ's SimpleWorker): a fork costs more than the whole of most jobs, and every job has its
own limits on time. Run as many worker processes as calls should be placed at once.
"""

from __future__ import annotations

import time

import redis
import structlog
from rq import SimpleWorker
from rq.serializers import JSONSerializer

from handoff import bootstrap
from handoff.bootstrap import Services
from workers.enqueue import queue_names

log = structlog.get_logger(__name__)

AGAIN_AFTER_S = 1.0

_services: Services | None = None


def current_services() -> Services:
    """The services of this process, for jobs, which RQ calls with nothing but ids."""
    if _services is None:
        raise RuntimeError("this process is not a worker: start one with `handoff worker`")
    return _services


def use(services: Services) -> None:
    """Makes these the services that jobs in this process work with."""
    global _services
    _services = services


def make(services: Services, only: str | None = None) -> SimpleWorker:
    """A worker on this installation's queues, or on one of them: `people` or `callbacks`."""
    use(services)
    queues = dict(zip(("people", "callbacks"), queue_names(services.settings.prefix), strict=True))
    return SimpleWorker(
        [queues[only]] if only else list(queues.values()),
        connection=services.store.connections.for_worker(),
        serializer=JSONSerializer,
        default_result_ttl=0,
    )


def run(only: str | None = None) -> None:
    """Works until SIGTERM or SIGINT; the job at hand is finished first. A Redis that is away, or refuses to
    write for a while, is waited for."""
    services = bootstrap.from_environment()
    log.info("worker_started")
    while True:
        try:
            make(services, only).work(with_scheduler=False, logging_level="WARNING")
            return
        except redis.RedisError as error:
            log.warning("worker_lost_redis", why=type(error).__name__)
            time.sleep(AGAIN_AFTER_S)
