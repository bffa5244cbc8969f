"""Twilio, far away: the dev phone, which reaches the service only through the test's internet.

Usage: python far_away.py NUMBER, with the account in DEVPHONE_ACCOUNT_SID and DEVPHONE_AUTH_TOKEN and the
internet in HTTPS_PROXY and SSL_CERT_FILE. Prints its port.
"""

from __future__ import annotations

import os
import ssl
import sys

import httpx2

from devphone.clock import RealClock
from devphone.driver import Driver
from devphone.settings import Settings
from devphone.web.app import create_app, serve


def main(number: str) -> None:
    settings = Settings(
        os.environ["DEVPHONE_ACCOUNT_SID"], os.environ["DEVPHONE_AUTH_TOKEN"], numbers=(number,)
    )
    transport = httpx2.HTTPTransport(
        proxy=os.environ["HTTPS_PROXY"],
        verify=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"]),
        limits=httpx2.Limits(max_keepalive_connections=0),
    )
    server = serve(create_app(Driver(settings, RealClock(), transport)), settings.host, settings.port)
    print(server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
