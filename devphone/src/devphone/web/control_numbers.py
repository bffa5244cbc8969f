"""The control API, the account's numbers: where their inbound calls and texts are sent.

The same data as Twilio's IncomingPhoneNumbers (`incoming_numbers.py`).
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from flask import Response, jsonify

from devphone.engine.lines import Line
from devphone.urls import is_web_url

from .account import driver
from .control import control
from .control_bodies import Refused, body
from .incoming_numbers import METHODS, URLS

HIDDEN = frozenset({"order", "created", "updated"})
SETTABLE = frozenset({"friendly_name", *URLS.values(), *METHODS.values()})


@control.get("/numbers")
def numbers() -> Response:
    """All of them, in the order in which they were given at the start."""
    with driver().turn():
        return jsonify(numbers=[number_view(line) for line in driver().engine.lines.values()])


@control.put("/numbers/<number>")
def set_number(number: str) -> Response:
    """Set URLs (absolute, "" = none), their methods, friendly_name. What is left out stays."""
    wanted = body()
    if unknown := sorted(set(wanted) - SETTABLE):
        raise Refused(f"a number has no {', '.join(unknown)}")
    for name, value in wanted.items():
        if not isinstance(value, str):
            raise Refused(f"{name} must be text")
        if name in URLS.values() and value and not is_web_url(value):
            raise Refused(f"{name} must be an http or https URL, or empty")
        if name in METHODS.values() and value not in ("GET", "POST"):
            raise Refused(f"{name} must be GET or POST")
    with driver().turn() as now:
        line = replace(line_of(number), updated=now, **wanted)
        driver().engine.lines[number] = line
        return jsonify(number_view(line))


def number_view(line: Line) -> dict[str, Any]:
    """A number and where it sends what comes in."""
    return {name: value for name, value in asdict(line).items() if name not in HIDDEN}


def line_of(number: object) -> Line:
    """The account's number; `number` as it came. Raises Refused with 404 when the account has no such one."""
    line = driver().engine.lines.get(number) if isinstance(number, str) else None
    if line is None:
        raise Refused(f"{number} is not a number of this account", 404)
    return line
