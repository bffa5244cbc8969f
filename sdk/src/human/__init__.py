"""Reach a person from a program: `human.clear_wall(...)` and `human.ask(...)` block until someone answered.

Only names are gathered here. Set `HANDOFF_URL` and `HANDOFF_API_KEY`, or call `human.configure()`.
"""

from ._client import Client
from ._default import ask, clear_wall, configure
from ._errors import (
    Cancelled,
    ConnectionFailed,
    Declined,
    HumanError,
    InvalidRequest,
    NobodyAnswered,
    Uncertain,
    Unreachable,
)
from ._records import Actor, Attempt, Clearance, FieldError
from ._request import Options
from ._version import __version__

__all__ = [
    "Actor",
    "Attempt",
    "Cancelled",
    "Clearance",
    "Client",
    "ConnectionFailed",
    "Declined",
    "FieldError",
    "HumanError",
    "InvalidRequest",
    "NobodyAnswered",
    "Options",
    "Uncertain",
    "Unreachable",
    "__version__",
    "ask",
    "clear_wall",
    "configure",
]
