"""A server for the application under test, in a thread of the test's process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

_LOOK_FOR_THE_END_S = 0.02


@contextmanager
def serve(application: WSGIApplication) -> Iterator[str]:
    """Serve on a free port of this machine for as long as the `with` block lasts; gives the URL."""
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(_LOOK_FOR_THE_END_S,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Quiet(WSGIRequestHandler):
    """Says nothing about each request."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing."""
