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

from handoff.effects import EffectKind

log = structlog.get_logger(__name__)

#: The longest a job may run, in seconds: the slowest is a create at the provider, which has its own limit.
JOB_TIMEOUT_S = 50
FAILURE_TTL_S = 60


def queue_names(prefix: str) -> tuple[str, str]:
    """The two queues of an installation, in the order in which a worker empties them: what reaches people,
    and callbacks to agents, whose servers may take their time (ten seconds each) and must not make a phone
    wait. Two installations on one Redis don't take each other's work."""
    return f"handoff-{prefix}", f"handoff-{prefix}-callbacks"


class RqEnqueue:
    """Puts effects into the queues. `connection` must not decode responses."""

    def __init__(self, connection: redis.Redis, prefix: str):
        people, callbacks = queue_names(prefix)
        self._prefix = prefix
        self._people = Queue(people, connection=connection, serializer=JSONSerializer)
        self._callbacks = Queue(callbacks, connection=connection, serializer=JSONSerializer)

    def __call__(self, effect_ids: Collection[str], lease: int = 1, urgent: Collection[str] = ()) -> None:
        """Enqueues each under its claim's number, those of `urgent` before all that waits.

        Never fails because of Redis: what was committed is committed, and a row that could not be enqueued
        now is enqueued by the clock, seconds later.
        """
        try:
            for effect_id in effect_ids:
                queue = self._callbacks if effect_id.startswith(EffectKind.RESUME) else self._people
                if lease == 1 or not any(_waits(queue, f"{effect_id}-{one}") for one in {1, lease - 1}):
                    front = effect_id in urgent
                    self._put(queue, "workers.jobs.perform", effect_id, f"{effect_id}-{lease}", front=front)
        except redis.RedisError as error:
            log.warning("enqueue_put_off", why=type(error).__name__, effects=sorted(effect_ids))

    def ask_for_beat(self, number: int) -> None:
        """Asks a worker to show that it takes jobs, unless none does so within half a minute."""
        self._put(self._people, "workers.jobs.beat", "", f"beat-{self._prefix}-{number}", ttl_s=30)

    def _put(
        self,
        queue: Queue,
        job: str,
        argument: str,
        job_id: str,
        *,
        ttl_s: int | None = None,
        front: bool = False,
    ) -> None:
        try:
            queue.enqueue_call(
                job,
                args=(argument,),
                job_id=job_id,
                unique=True,
                at_front=front,
                timeout=JOB_TIMEOUT_S,
                result_ttl=0,
                failure_ttl=FAILURE_TTL_S,
                ttl=ttl_s,
            )
        except DuplicateJobError:
            return


def _waits(queue: Queue, job_id: str) -> bool:
    """Whether no worker has come to this job yet: then a second one would only make the backlog longer.

    Looked up in the list itself (0.1 ms where 10,000 wait), since RQ's own word for it, the job's status,
    stays `queued` when a worker dies just after it took the job.
    """
    return queue.connection.lpos(queue.key, job_id) is not None
