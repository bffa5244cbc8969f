"""The control API, what Twilio allows the account: see `engine/account.py`."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from flask import Response, jsonify

from devphone.engine.account import Account
from devphone.numbers import is_e164

from .account import driver
from .control import control
from .control_bodies import Refused, body, number_field

SLOWEST = 0.001
"""Calls a second, as on the command line."""


@control.get("/account")
def account_limits() -> Response:
    """The account's limits."""
    with driver().turn():
        return jsonify(asdict(driver().engine.account))


@control.put("/account")
def set_account_limits() -> Response:
    """Set calls_per_second, concurrent_requests, trial, verified. What is left out stays."""
    changes = _changes(body())
    with driver().turn() as now:
        driver().engine.change_account(now, changes)
        return jsonify(asdict(driver().engine.account))


def _changes(wanted: dict[str, Any]) -> dict[str, Any]:
    """The fields to set. Raises Refused, naming the first one that makes no sense."""
    if unknown := sorted(set(wanted) - {field.name for field in fields(Account)}):
        raise Refused(f"an account has no {', '.join(unknown)}")
    changes = dict(wanted)
    if "calls_per_second" in wanted:
        rate = float(number_field(wanted, "calls_per_second"))
        if 0 < rate < SLOWEST:
            raise Refused(f"calls_per_second must be 0 (no limit) or at least {SLOWEST}")
        changes["calls_per_second"] = rate
    if "concurrent_requests" in wanted:
        number = number_field(wanted, "concurrent_requests")
        if number != int(number):
            raise Refused("concurrent_requests must be a whole number from 0")
        changes["concurrent_requests"] = int(number)
    if not isinstance(wanted.get("trial", False), bool):
        raise Refused("trial must be true or false")
    if "verified" in wanted:
        numbers = wanted["verified"]
        if not isinstance(numbers, list) or not all(isinstance(n, str) and is_e164(n) for n in numbers):
            raise Refused("verified must be a list of numbers of the form +12125550123")
        changes["verified"] = tuple(numbers)
    return changes
