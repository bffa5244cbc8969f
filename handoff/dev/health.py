"""Asking a server on this machine whether it is well. No client library, no proxy, never an exception."""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

TIMEOUT_S = 3.0


def problem(url: str) -> str:
    """Empty when `url` answers 200; else what is wrong, with the beginning of what the server says."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT_S)
    try:
        connection.request("GET", parts.path or "/")
        response = connection.getresponse()
        body = response.read(2_000).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
    return "" if response.status == 200 else f"{response.status} {body}".strip()
