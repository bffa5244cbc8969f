"""The module functions: each is a call on one client that is made on first use.

What they do is in `_client.py`; here is only which client they use.
"""

from __future__ import annotations

import os
import threading
from typing import Unpack

from . import _client, _settings
from ._records import Clearance
from ._request import Options

_lock = threading.Lock()
_shared: _client.Client | None = None
# Clients that were replaced. Kept, not closed: another thread may be blocked in one of them.
_replaced: list[_client.Client] = []


def configure(*, url: str | None = None, api_key: str | None = None) -> None:
    """Sets the server's address and the API key for the module functions and for every later `Client()`.

    An argument beats it, it beats the environment; what is not given stays as it was. Calls that are
    already blocked stay with the server they asked. Nothing is checked until the next call.
    """
    global _shared
    with _lock:
        _settings.configure(url, api_key)
        if _shared is not None:
            _replaced.append(_shared)
            _shared = None


def clear_wall(reason: str, **options: Unpack[Options]) -> Clearance:
    """Has a person clear what blocks the agent: `Client.clear_wall` on the shared client."""
    return _client_in_use().clear_wall(reason, **options)


def ask(question: str, **options: Unpack[Options]) -> str:
    """Asks a person and returns the bare answer: `Client.ask` on the shared client."""
    return _client_in_use().ask(question, **options)


def _client_in_use() -> _client.Client:
    global _shared
    with _lock:
        if _shared is None:
            _shared = _client.Client()
        return _shared


def _forget_after_fork() -> None:
    # The child would share the parent's open connections, and each could read the other's answers.
    global _lock, _shared
    _lock = threading.Lock()
    if _shared is not None:
        _replaced.append(_shared)
        _shared = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
