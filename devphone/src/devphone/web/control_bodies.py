"""Reading a control request's JSON, and refusing it."""

from __future__ import annotations

from typing import Any

from flask import request


class Refused(Exception):
    """A control request that can't be done: a sentence and an HTTP status."""

    def __init__(self, text: str, status: int = 400) -> None:
        """`text` is for the person or test that asked."""
        super().__init__(text)
        self.text, self.status = text, status


def body() -> dict[str, Any]:
    """The JSON object of the request; nothing sent counts as an empty one."""
    given = request.get_json(silent=True) if request.data else {}
    if not isinstance(given, dict):
        raise Refused("a JSON object is wanted")
    return given


def number_field(given: dict[str, Any], name: str) -> float:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000_000:
        raise Refused(f"{name} must be a number from 0")
    return value
