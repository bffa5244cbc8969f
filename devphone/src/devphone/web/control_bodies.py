"""Reading a control request's JSON, and refusing it."""

from __future__ import annotations

import json
from typing import Any

from flask import g, request


class Refused(Exception):
    """A control request that can't be done: a sentence and an HTTP status."""

    def __init__(self, text: str, status: int = 400) -> None:
        """`text` is for the person or test that asked."""
        super().__init__(text)
        self.text, self.status = text, status


def read() -> None:
    """Read the body of this request, for `body` and `only`, also where nobody will ask for it.

    Raises Refused for what is no JSON object in the whole: another content type, numbers that are none,
    and half characters (lone surrogates), which no webhook could carry on.
    """
    g.body = {}
    sent = request.get_data()
    if not sent:
        return
    if not request.is_json:
        raise Refused(f"send JSON with the content type application/json, not {request.mimetype or 'none'}")
    try:
        given = json.loads(sent)
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise Refused("a text in the JSON has half a character (a lone surrogate)") from error
    except (ValueError, RecursionError) as error:
        raise Refused("a JSON object is wanted; this can't be read") from error
    if not isinstance(given, dict):
        raise Refused("a JSON object is wanted")
    g.body = given


def body() -> dict[str, Any]:
    """The JSON object of the request; nothing sent counts as an empty one."""
    found: dict[str, Any] = g.body
    return found


def only(what: str, *names: str) -> dict[str, Any]:
    """The same, describing `what`. Raises Refused when it has fields besides `names`."""
    if unknown := sorted(set(body()) - set(names)):
        raise Refused(f"{what} has no {', '.join(unknown)}")
    return body()


def number_field(given: dict[str, Any], name: str) -> float:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000_000:
        raise Refused(f"{name} must be a number from 0 to 10,000,000")
    return value
