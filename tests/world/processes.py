"""The service's processes, in threads of the test's own: a web server and an RQ worker.

The application, the jobs and RQ's queue are the real ones; only signals and process borders are missing,
which tests/chaos is about.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import redis
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty
from werkzeug.serving import WSGIRequestHandler, make_server

from app import create_app
from handoff.bootstrap import Services
from workers import worker
from workers.enqueue import queue_names

from .waits import until

WAIT_S = 20.0
#: How RQ waits for a job: on one queue, on several.
BLOCKED = ("blmove", "blpop")


@dataclass(frozen=True)
class Served:
    """One request that the web process answered."""

    method: str
    path: str
    status: int


@dataclass(frozen=True)
class Callback:
    """What the service POSTed to an agent's own URL, and the name that the test gave that URL."""

    name: str
    headers: dict[str, str]
    body: bytes


class Web:
    """The application behind real HTTP on a loopback port, with a list of what it answered.

    Below `/agent/` it also plays the agent's own server, so that callbacks have somewhere to go.
    """

    def __init__(self, build: Callable[[str], Services]) -> None:
        """`build` makes the services, given the address that was chosen."""
        self.served: list[Served] = []
        self.callbacks: list[Callback] = []
        #: What the agent's server answers, one status for each callback in turn; 204 when none is left.
        self.agent_answers: list[int] = []
        self._server = make_server("127.0.0.1", 0, self._door, threaded=True, request_handler=_Quiet)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.services = build(self.url)
        self._app = create_app(self.services)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="web", daemon=True
        )
        self._thread.start()

    def errors(self) -> list[Served]:
        """What it answered with 500 or above, oldest first."""
        return [one for one in self.served if one.status >= 500]

    def close(self) -> None:
        """Stops listening, wakes whoever waits, and lets the reader of wake-ups end."""
        self.services.waiting.stop()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _door(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        if path.startswith("/agent/"):
            return self._as_the_agent(path.removeprefix("/agent/"), environ, start_response)

        def noting(status: str, headers: Any, *more: Any) -> Any:
            self.served.append(Served(str(environ["REQUEST_METHOD"]), path, int(status[:3])))
            return start_response(status, headers, *more)

        return self._app(environ, noting)

    def _as_the_agent(self, name: str, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        headers = {key[5:].lower(): value for key, value in environ.items() if key.startswith("HTTP_")}
        self.callbacks.append(Callback(name, headers, body))
        status = self.agent_answers.pop(0) if self.agent_answers else 204
        start_response(f"{status} As the test says", [])
        return [b""]


class _Quiet(WSGIRequestHandler):
    """Says nothing about each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""


class Hands:
    """An RQ worker that takes jobs from the installation's own queues and runs them in a thread."""

    def __init__(self, services: Services, name: str = "") -> None:
        """Starts at once. Its jobs work with `services`, as do those of all workers in this process."""
        worker.use(services)
        self.queues = queues_of(services)
        self._worker = _Worker([queue.name for queue in self.queues], services.store.connections.for_worker())
        self._thread = threading.Thread(target=self._work, name=f"worker {name}", daemon=True)
        self._thread.start()

    @property
    def done(self) -> int:
        """How many jobs it has finished."""
        return self._worker.finished

    def ask_to_stop(self) -> None:
        """It ends after its next job."""
        self._worker.stop_asked = True

    def nudge(self) -> None:
        """Queues a job that does nothing, since a worker blocks until one comes; any worker may take it."""
        self.queues[0].enqueue_call("workers.jobs.beat", args=("",), result_ttl=0)

    def ended(self) -> None:
        """Returns when it has ended; every worker has to be asked and nudged before."""
        self._thread.join(WAIT_S)
        self._worker.connection.close()
        self.queues[0].connection.close()

    def failed_jobs(self) -> list[str]:
        """Ids of jobs that RQ counts as failed."""
        return [job for queue in self.queues for job in queue.failed_job_registry.get_job_ids()]

    def run_again(self, job_id: str) -> None:
        """What somebody does who presses "requeue" on a failed job."""
        self.queues[0].failed_job_registry.requeue(job_id)

    def _work(self) -> None:
        self._worker.work(with_scheduler=False, logging_level="WARNING")


def queues_of(services: Services) -> list[Queue]:
    """The installation's queues, on a connection of their own."""
    connection = services.store.connections.for_enqueue()
    names = queue_names(services.settings.prefix)
    return [Queue(name, connection=connection, serializer=JSONSerializer) for name in names]


def all_idle(hands: Sequence[Hands], client: redis.Redis) -> bool:
    """Whether no job is queued and every worker blocks on empty queues.

    `client` is on the same server. A job that was taken and not begun yet is in no list, so that the workers
    themselves are looked for, among the server's clients.
    """
    if any(client.llen(queue.key) for queue in hands[0].queues):
        return False
    blocked = [one for one in client.client_list() if "b" in one["flags"] and one["cmd"] in BLOCKED]
    return len(blocked) == len(hands)


class _Worker(SimpleWorker):
    """RQ's own worker without what only the main thread of a process may do: signals and alarms."""

    death_penalty_class = TimerDeathPenalty

    def __init__(self, queues: list[str], connection: redis.Redis) -> None:
        super().__init__(queues, connection=connection, serializer=JSONSerializer, default_result_ttl=0)
        self.finished, self.stop_asked = 0, False

    def _install_signal_handlers(self) -> None:
        """None in a thread."""

    def subscribe(self) -> None:
        """Commands from outside are of no use here."""

    def execute_job(self, job: Job, queue: Queue) -> None:
        try:
            super().execute_job(job, queue)
        finally:
            self.finished += 1
            self._stop_requested = self.stop_asked


def end_readers() -> None:
    """Waits until the threads that read wake-ups have ended; each was told to stop before."""
    until(
        lambda: not [thread for thread in threading.enumerate() if thread.name == "wake-reader"],
        WAIT_S,
        "the readers of wake-ups to end",
    )
