"""The worker process: takes jobs from RQ's queue and runs them in this process, one after the other.

No fork per job (RQ's SimpleWorker): a fork costs more than the whole of most jobs, and every job has its
own limits on time. Run as many worker processes as calls should be placed at once.
"""

from __future__ import annotations

import time
from types import FrameType

import redis
import structlog
from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.serializers import JSONSerializer

from handoff import bootstrap
from handoff.bootstrap import Services
from workers.enqueue import queue_names

log = structlog.get_logger(__name__)

AGAIN_AFTER_S = 1.0

_services: Services | None = None


class Worker(SimpleWorker):
    """RQ's worker in one process, which remembers that it was told to stop, and looks for a lost Redis every
    few seconds (RQ: up to a minute)."""

    max_connection_wait_time = 2.0
    told_to_stop = False

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        self.told_to_stop = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]  # RQ gives it no types


def current_services() -> Services:
    """The services of this process, for jobs, which RQ calls with nothing but ids."""
    if _services is None:
        raise RuntimeError("this process is not a worker: start one with `handoff worker`")
    return _services


def use(services: Services) -> None:
    """Makes these the services that jobs in this process work with."""
    global _services
    _services = services


def make(services: Services, only: str | None = None) -> Worker:
    """A worker on this installation's queues, or on one of them: `people` or `callbacks`."""
    use(services)
    queues = dict(zip(("people", "callbacks"), queue_names(services.settings.prefix), strict=True))
    return Worker(
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
    worker = None
    while worker is None or not worker.told_to_stop:
        try:
            worker = make(services, only)
            worker.work(with_scheduler=False, logging_level="WARNING")
        except StopRequested:  # told to stop between two workers
            return
        except redis.RedisError as error:
            # RQ also says goodbye to a Redis that is gone, so that this may come after the stop.
            log.warning("worker_lost_redis", why=type(error).__name__)
            time.sleep(AGAIN_AFTER_S)
