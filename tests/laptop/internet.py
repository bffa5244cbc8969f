"""A small internet for one test: names that lead to this machine, TLS in front of them, a proxy on the way.

The tunnel stand-ins (stand_ins.py) enter their names here; everything that carries HTTPS_PROXY finds them.
Requests are passed on byte for byte in path, query and body, as a tunnel does.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2

# For *.trycloudflare.com, *.ngrok-free.app and 127.0.0.1, made for these tests; it opens nothing anywhere.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIB8TCCAZagAwIBAgICEAAwCgYIKoZIzj0EAwIwJjEkMCIGA1UEAwwbdGhlIGlu
dGVybmV0IG9mIHRoZXNlIHRlc3RzMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
MDAwMDAwWjAmMSQwIgYDVQQDDBt0aGUgaW50ZXJuZXQgb2YgdGhlc2UgdGVzdHMw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATiE4QTBiRTNw6w9mYWvo5f8O1vc/hq
gLkQToCephSricplMpEzAJykyvjnAuaLvdm3KUqLg4P0DBBJhCcs5Gmvo4GxMIGu
MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgKEMBMGA1UdJQQMMAoGCCsG
AQUFBwMBMB0GA1UdDgQWBBReZaMxdtWkkZvJEcH7ioayYOu/qzAfBgNVHSMEGDAW
gBReZaMxdtWkkZvJEcH7ioayYOu/qzA2BgNVHREELzAtghMqLnRyeWNsb3VkZmxh
cmUuY29tghAqLm5ncm9rLWZyZWUuYXBwhwR/AAABMAoGCCqGSM49BAMCA0kAMEYC
IQDgmHslwWNBZPNjOmLA1VsMjVc8Ob9ZRiRGXKVKOGzfkgIhAN2+HsV9p1rFK3E1
tYY7HdcbODeDGFYaCIwz5bvIJUPv
-----END CERTIFICATE-----
"""
KEY = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgicDNqHb4ke9Sn5Em
G0Ac585mdRvsabvVuiAloBlQnu2hRANCAATiE4QTBiRTNw6w9mYWvo5f8O1vc/hq
gLkQToCephSricplMpEzAJykyvjnAuaLvdm3KUqLg4P0DBBJhCcs5Gmv
-----END PRIVATE KEY-----
"""
_OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "proxy-connection"}


class Internet:
    """`proxy` is how to get in; `names` is a folder in which HOST is a file with a port and a process id."""

    def __init__(self, folder: Path) -> None:
        """`folder` is for the certificate and the names."""
        self.names, self.certificate = folder / "names", folder / "certificate.pem"
        self.names.mkdir(parents=True)
        self.certificate.write_text(CERTIFICATE)
        key = folder / "key.pem"
        key.write_text(KEY)
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(self.certificate, key)
        self.proxy = ""

    def environment(self) -> dict[str, str]:
        """What a program needs to live in this internet; no other one is there for it."""
        certificate = str(self.certificate)
        return {
            "INTERNET": str(self.names),
            "HTTPS_PROXY": self.proxy,
            "https_proxy": self.proxy,
            "SSL_CERT_FILE": certificate,
            "REQUESTS_CA_BUNDLE": certificate,
        }

    def transport(self) -> httpx2.HTTPTransport:
        """For an httpx2 client that lives in it."""
        tls = ssl.create_default_context(cafile=str(self.certificate))
        return httpx2.HTTPTransport(proxy=self.proxy, verify=tls)

    def port_of(self, host: str) -> int | None:
        """The port behind a name, for as long as the program lives that entered it."""
        try:
            entry = json.loads((self.names / host).read_text())
            os.kill(entry["pid"], 0)
        except (FileNotFoundError, ProcessLookupError):
            return None
        return int(entry["port"])

    @contextmanager
    def tls_in_front_of(self, port: int) -> Iterator[str]:
        """An https address on this machine that leads to a port which only knows http."""

        def serve(connection: socket.socket, peer: Any, server: socketserver.BaseServer) -> None:
            self.pass_on(connection, peer, server, port)

        with _serving(serve) as there:
            yield f"https://127.0.0.1:{there}"

    def pass_on(
        self, connection: socket.socket, peer: Any, server: socketserver.BaseServer, port: int
    ) -> None:
        """Ends TLS here and hands one request on to a port of this machine."""

        class Passing(_Passing):
            to = port

        try:
            with closing(self._tls.wrap_socket(connection, server_side=True)) as secure:
                Passing(secure, peer, server)  # type: ignore[arg-type]  # it only uses what every server has
        except OSError:
            return  # whoever asked went away, or does not trust us


@contextmanager
def internet(folder: Path) -> Iterator[Internet]:
    """An internet with its proxy, for as long as the block lasts."""
    made = Internet(folder)

    def serve(connection: socket.socket, peer: Any, server: socketserver.BaseServer) -> None:
        with connection.makefile("rb", buffering=0) as asked:
            host = asked.readline().split()[1].decode().partition(":")[0]
            while asked.readline() not in (b"\r\n", b""):
                pass
        port = made.port_of(host)
        if port is None:
            connection.sendall(b"HTTP/1.1 502 Nobody Has This Name\r\n\r\n")
            return
        connection.sendall(b"HTTP/1.1 200 Go On\r\n\r\n")
        made.pass_on(connection, peer, server, port)

    with _serving(serve) as port:
        made.proxy = f"http://127.0.0.1:{port}"
        yield made


class _Passing(BaseHTTPRequestHandler):
    """One request, asked again at `to`."""

    to = 0

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        kept = {name: text for name, text in self.headers.items() if name.lower() not in _OF_THE_CONNECTION}
        kept["X-Forwarded-For"] = "203.0.113.7"
        with closing(http.client.HTTPConnection("127.0.0.1", self.to, timeout=60)) as inside:
            inside.request(self.command, self.path, body, kept)
            answer = inside.getresponse()
            said = answer.read()
        self.send_response_only(answer.status, answer.reason)
        for name, text in answer.getheaders():
            if name.lower() not in _OF_THE_CONNECTION:
                self.send_header(name, text)
        if answer.getheader("Content-Length") is None:
            self.send_header("Content-Length", str(len(said)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(said)

    do_POST = do_HEAD = do_DELETE = do_GET


class _Threads(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@contextmanager
def _serving(serve: Any) -> Iterator[int]:
    """A loopback port on which `serve` gets every connection, in a thread of its own."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            serve(self.request, self.client_address, self.server)

    with _Threads(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
