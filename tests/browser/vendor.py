"""A vendor's live view: a page on a port of its own, which is another origin, and notes what it is told.

As little of it as a browser needs to show it in a frame.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent's browser</title>
<meta name="viewport" content="width=device-width"><h1>The shop's checkout</h1>
<button onclick="this.textContent = 'Ticked'">I am human</button></html>"""


@dataclass
class Vendor:
    """`url` is the live view's and `page` what it shows; `referers`: where browsers said they came from."""

    url: str
    page: str = PAGE
    loads: int = 0
    referers: list[str] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Vendor]:
    """The vendor's server, for as long as the `with` block lasts."""

    class Door(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/favicon.ico":
                self.send_response(204)
                self.end_headers()
                return
            vendor.loads += 1
            vendor.referers += filter(None, [self.headers.get("Referer")])
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(vendor.page.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    vendor = Vendor(f"http://127.0.0.1:{server.server_port}/live?session=a-secret")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="vendor", daemon=True)
    thread.start()
    try:
        yield vendor
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
