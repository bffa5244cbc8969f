"""How a stopping web process finds its waiters."""

from __future__ import annotations

from flask import Flask

from handoff.bootstrap import Services
from handoff.waiting import Waiting


def waiting_of(app: Flask) -> Waiting:
    """The waiters of this application's process."""
    services: Services = app.extensions["handoff"]
    return services.waiting
