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


# gunicorn's hooks. They import late: gevent must be patched in before anything of the service is loaded.


def pre_request(_worker, req):  # type: ignore[no-untyped-def]  # gunicorn's own hook signature
    """A request is about to be answered."""
    from handoff.web import process

    process.answering(req)


def post_request(_worker, req):  # type: ignore[no-untyped-def]  # as above
    """It was answered."""
    from handoff.web import process

    process.answered(req)


def post_worker_init(worker):  # type: ignore[no-untyped-def]  # as above
    """A worker has loaded the application."""
    import gc

    from handoff.web import process

    process.begin(worker)
    # A full collection goes through all that thousands of waiting requests hold, and nobody is woken
    # meanwhile. What was loaded at the start is never looked at again, and the rest ten times less often
    # (measured with 4,000 waiters: p50 of a wake-up from 10 to 7 ms, p99 from 47 to 20 ms; bench/wake.py).
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 100)
