"""Is this process alive (`/healthz`), and is the whole installation fit to take a handoff (`/readyz`)?"""

from __future__ import annotations

import redis
from flask import Blueprint, Response, jsonify

from handoff.bootstrap import Services
from handoff.moments import SECOND
from handoff.people_file import BadPeople
from handoff.web.context import services

bp = Blueprint("health", __name__)

#: How long a kind of process may be silent before it counts as gone.
CLOCK_SILENT_MS, WORKER_SILENT_MS = 15 * SECOND, 30 * SECOND


@bp.get("/healthz")
def healthz() -> Response:
    """200 while the process answers; asks nothing of anybody else."""
    return jsonify(status="ok")


@bp.get("/readyz")
def readyz() -> tuple[Response, int]:
    """200 when Redis is there and keeps what it is told, and a clock and a worker were seen lately, with the
    version of the people file in use; else 503, naming what is missing."""
    missing = what_is_missing(services())
    try:
        people = {} if missing else _people(services())
    except redis.RedisError as error:
        missing = [f"Redis can't be reached ({type(error).__name__})"]
    except BadPeople:
        missing = ["nobody can be reached: the people file can't be used; see `handoff doctor`"]
    if missing:
        return jsonify(status="not ready", missing=missing), 503
    return jsonify(status="ready", missing=[], people=people), 200


def _people(services: Services) -> dict[str, object]:
    """Which people are reached now, and at how many machines the people file is not the one in use. No names:
    the problems themselves are `handoff doctor`'s and the log's to tell."""
    people = services.handoffs.rules().people
    places = services.shared_people.problems(services.clock()) if services.settings.people_path else {}
    return {"version": people.version or None, "contacts": len(people.contacts), "broken_files": len(places)}


def what_is_missing(services: Services) -> list[str]:
    """Everything that keeps the installation from working, in words for an operator."""
    now = services.clock()
    try:
        persistence = services.store.connections.persistence()
        seen = services.store.seen()
    except redis.RedisError as error:
        return [f"Redis can't be reached ({type(error).__name__})"]
    missing = []
    if not persistence.kept:
        missing.append("Redis keeps nothing on disk: turn appendonly on, or accepted handoffs can be lost")
    if now - seen.get("clock", 0) > CLOCK_SILENT_MS:
        missing.append("no clock was seen lately: start one with `handoff clock`")
    if now - seen.get("worker", 0) > WORKER_SILENT_MS:
        missing.append("no worker was seen lately: start one with `handoff worker`")
    return missing
