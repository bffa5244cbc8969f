"""What those share who ask the provider for something: dialling.py, texting.py, hanging_up.py, looking_up.py.

Each performs effects, and is safe to run again. How the provider is asked is gateway.py's business.
"""

from __future__ import annotations

from typing import Protocol

import structlog

from handoff.calls import Calls
from handoff.claims import Claims
from handoff.commands import Handoffs
from handoff.config import Settings
from handoff.models import Call
from handoff.moments import SECOND
from handoff.store import Pacer, Store
from voice.gateway import Gateway

#: How often a create that the provider did not process is tried again, and how long between the tries.
REFUSED_TRIES = 5
REFUSED_WAIT_MS = 5 * SECOND


class Services(Protocol):
    """What the effects need of the services that bootstrap.py wires."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def handoffs(self) -> Handoffs: ...
    @property
    def calls(self) -> Calls: ...
    @property
    def claims(self) -> Claims: ...
    @property
    def pacer(self) -> Pacer: ...
    @property
    def gateway(self) -> Gateway: ...


def with_handoff(call: Call | None) -> Call | None:
    """Every log line from here on names the handoff that the call is for."""
    if call is not None and call.entries:
        structlog.contextvars.bind_contextvars(handoff=call.entries[0].handoff, call=call.id)
    return call
