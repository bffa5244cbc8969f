"""How a due effect reaches a worker: RQ's queue, ids only.

The row in the outbox is the truth, so that a job that is lost, doubled or late costs nothing but time.
RQ's own Retry is never used. Seen with RQ 3.0: after a SIGKILL a job stays `started` for ten minutes and
its id is refused meanwhile; hence the number of the claim in the id, and a duplicate counts as done.
"""

from __future__ import annotations

from collections.abc import Collection

import redis
import structlog
from rq import Queue
from rq.exceptions import DuplicateJobError
from rq.serializers import JSONSerializer

log = structlog.get_logger(__name__)

#: The longest a job may run, in seconds: the slowest is a create at the provider, which has its own limit.
JOB_TIMEOUT_S = 50
FAILURE_TTL_S = 60


def queue_name(prefix: str) -> str:
    """One queue per installation, so that two on one Redis don't take each other's work."""
    return f"handoff-{prefix}"


class RqEnqueue:
    """Puts effects into the queue. `connection` must not decode responses."""

    def __init__(self, connection: redis.Redis, prefix: str):
        self.queue = Queue(queue_name(prefix), connection=connection, serializer=JSONSerializer)
        self._listed = False

    def __call__(self, effect_ids: Collection[str], lease: int = 1) -> None:
        """Enqueues each under its claim's number. Never fails: what was committed is committed, and a row
        that could not be enqueued now is enqueued by the clock, seconds later."""
        try:
            for effect_id in effect_ids:
                self.put("workers.jobs.perform", effect_id, f"{effect_id}-{lease}")
        except redis.RedisError as error:
            log.warning("enqueue_put_off", why=type(error).__name__, effects=sorted(effect_ids))

    def put(self, job: str, argument: str, job_id: str, ttl_s: int | None = None) -> None:
        """One job. With `ttl_s` it is dropped when no worker takes it within that time."""
        # RQ puts the queue's name on its list with every job, which is a round trip of its own. With a
        # pipeline it leaves that to us, and a unique job goes out by its one script anyway: once is enough.
        listing = self.queue.connection.pipeline()
        try:
            self.queue.enqueue_call(
                job,
                args=(argument,),
                job_id=job_id,
                unique=True,
                timeout=JOB_TIMEOUT_S,
                result_ttl=0,
                failure_ttl=FAILURE_TTL_S,
                ttl=ttl_s,
                pipeline=listing,
            )
            if not self._listed:
                listing.execute()
                self._listed = True
        except DuplicateJobError:
            return
