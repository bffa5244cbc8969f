"""How the web processes run: gevent workers, made for thousands of requests that only wait.

Reads HANDOFF_WEB_BIND, HANDOFF_WEB_WORKERS and HANDOFF_WAITERS_PER_WORKER; everything else is the
service's own settings (docs/running.md).
"""

import os

bind = os.environ.get("HANDOFF_WEB_BIND", "127.0.0.1:8000")
workers = int(os.environ.get("HANDOFF_WEB_WORKERS", "2"))
worker_class = "gevent"

# Waiters are capped below this, so that people and Twilio always get in (handoff/waiting.py).
worker_connections = int(os.environ.get("HANDOFF_WAITERS_PER_WORKER", "9000")) + 1_000
backlog = 4_096

# A waiting request costs nothing, so that this only catches a worker whose loop is blocked
# (https://github.com/benoitc/gunicorn/issues/1493).
timeout = 60
graceful_timeout = 10
keepalive = 75

# A restarted master can bind while workers of the dead one are still letting go.
reuse_port = True
control_socket_disable = True
accesslog = None
errorlog = "-"
loglevel = "warning"


_answering = set()  # requests that are being answered
_idle = {}  # greenlet -> the time-out under which it waits for the next request on its connection


def pre_request(_worker, req):  # type: ignore[no-untyped-def]  # gunicorn's own hook signature
    """Notes what is being answered."""
    _answering.add(req)


def post_request(_worker, req):  # type: ignore[no-untyped-def]  # as above
    """It was answered."""
    _answering.discard(req)


def post_worker_init(worker):  # type: ignore[no-untyped-def]  # as above
    """When this worker is told to stop: wakes every waiter, and lets go of every connection, so that a deploy
    takes seconds. Without it a kept connection on which nothing is asked holds gunicorn for all of
    graceful_timeout, and an agent that was answered asks the stopping process again."""
    import gevent

    from handoff.web.process import beat, waiting_of

    class Idle(gevent.Timeout):
        def __enter__(self):  # type: ignore[no-untyped-def]  # gevent's own signature
            _idle[gevent.getcurrent()] = self
            return super().__enter__()

        def __exit__(self, *error):  # type: ignore[no-untyped-def]  # as above
            _idle.pop(gevent.getcurrent(), None)
            return super().__exit__(*error)

    def watch() -> None:
        beats = 0
        while worker.alive:
            if beats % 50 == 0:
                gevent.spawn(beat, worker.wsgi)
            beats += 1
            gevent.sleep(0.1)
        for req in _answering:
            req.force_close()
        waiting_of(worker.wsgi).stop()
        gevent.sleep(0.5)  # what was sent just now is still read and answered
        for greenlet, limit in tuple(_idle.items()):
            greenlet.kill(limit, block=False)

    worker.timeout_ctx = lambda: Idle(keepalive if worker.alive else 1, False)
    gevent.spawn(watch)
