"""The control API, what a person does with a phone, and how a phone behaves by itself.

The clock, the faults and the logs are `control.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, get_args

from flask import Response, jsonify

from devphone.engine.actions import Now
from devphone.engine.phones import Behaviour, Phone, Texts, Verdict
from devphone.numbers import is_e164

from .account import driver
from .control import control
from .control_bodies import Refused, body, number_field, only
from .views import call_view, phone_view

LONGEST_GREETING = 1000
MOST_KEYS = 100
USUAL_CONFIDENCE = 0.9
_CHOICES: dict[str, tuple[str, ...]] = {
    "behaviour": get_args(Behaviour),
    "answered_by": get_args(Verdict),
    "texts": get_args(Texts),
}
_NUMBERS = ("after_s", "records_s", "listens_s", "drops_after_s", "verdict_after_s", "error_code")
_MAY_BE_NULL = ("after_s", "greeting", "answered_by", "verdict_after_s")


@control.post("/phones/<number>/call")
def call_from_phone(number: str) -> tuple[Response, int]:
    """The person calls a number of the account: `to`."""
    to = only("a call", "to").get("to")
    with driver().turn() as now:
        engine = driver().engine
        if not isinstance(to, str) or to not in engine.lines:
            raise Refused(f"to must be a number of the account: {', '.join(engine.lines)}")
        if not is_e164(number) or number in engine.lines:
            raise Refused(f"{number} is not a person's number of the form +12125550123")
        call = engine.receive_call(now, number, engine.lines[to])
        return jsonify(call_view(call)), 201


@control.post("/calls/<sid>/<deed>")
def act_on_call(sid: str, deed: str) -> Response:
    """answer, press, say, hangup, busy, decline or voicemail."""
    return _act(sid, deed)


@control.post("/phones/<number>/<deed>")
def act_on_phone(number: str, deed: str) -> Response:
    """The same, on the newest call that this phone has now."""
    with driver().turn():
        calls = driver().engine.calls.values()
        live = [found.sid for found in calls if found.person == number and not found.over]
    if not live:
        raise Refused("this phone has no call now", 409)
    return _act(live[-1], deed)


@control.put("/phones/<number>")
def describe_phone(number: str) -> Response:
    """Set how a number behaves: the fields of `engine/phones.py`. What is left out stays."""
    if not is_e164(number):
        raise Refused("not a number of the form +12125550123")
    changes = _changes(body())
    with driver().turn():
        phone = replace(driver().engine.phone(number), **changes)
        driver().engine.phones[number] = phone
    return jsonify(phone_view(phone))


def _changes(wanted: dict[str, Any]) -> dict[str, Any]:
    """The fields to set. Raises Refused, naming the first one that makes no sense."""
    if unknown := sorted(set(wanted) - {field.name for field in fields(Phone)} | set(wanted) & {"number"}):
        raise Refused(f"a phone has no {', '.join(unknown)}")
    changes = dict(wanted)
    given = {name: value for name, value in wanted.items() if value is not None or name not in _MAY_BE_NULL}
    for name, choices in _CHOICES.items():
        if name in given and given[name] not in choices:
            raise Refused(f"{name} is one of {', '.join(choices)}")
    for name in _NUMBERS:
        if name in given:
            number_field(given, name)
    if not isinstance(given.get("previews", False), bool):
        raise Refused("previews must be true or false")
    if not isinstance(given.get("error_code", 0), int):
        raise Refused("error_code must be a whole number")
    greeting = given.get("greeting", "")
    if not isinstance(greeting, str) or len(greeting) > LONGEST_GREETING:
        raise Refused(f"greeting must be a text of at most {LONGEST_GREETING} characters")
    if "lets_through" in given:
        numbers = given["lets_through"]
        if not isinstance(numbers, list) or not all(isinstance(n, str) and is_e164(n) for n in numbers):
            raise Refused("lets_through must be a list of numbers of the form +12125550100")
        changes["lets_through"] = tuple(numbers)
    return changes


def _spoken() -> tuple[str, float | None]:
    """What the person says, and how well it is understood: 0 to 1, null = it is not told."""
    given = only("say", "text", "confidence")
    text, confidence = given.get("text"), given.get("confidence", USUAL_CONFIDENCE)
    if not isinstance(text, str) or len(text) > LONGEST_GREETING:
        raise Refused(f"text must be a text of at most {LONGEST_GREETING} characters")
    if confidence is not None and number_field({"confidence": confidence}, "confidence") > 1:
        raise Refused("confidence must be a number from 0 to 1, or null")
    return text, confidence


def _keys() -> str:
    keys = only("press", "digits").get("digits")
    if not isinstance(keys, str) or len(keys) > MOST_KEYS:
        raise Refused(f"digits must be a text of at most {MOST_KEYS} keys")
    return keys


def _act(sid: str, deed: str) -> Response:
    engine = driver().engine
    deeds: dict[str, Callable[[Now, str], None]] = {
        "answer": engine.answer,
        "hangup": engine.hang_up,
        "busy": engine.busy,
        "decline": engine.decline,
        "voicemail": engine.send_to_mailbox,
        "press": lambda now, call_sid: engine.press(now, call_sid, _keys()),
        "say": lambda now, call_sid: engine.say(now, call_sid, *_spoken()),
    }
    if deed not in deeds:
        raise Refused(f"a person can {', '.join(deeds)}", 404)
    if deed not in ("press", "say"):
        only(deed)
    if sid not in engine.calls:
        raise Refused("no such call", 404)
    with driver().turn() as now:
        try:
            deeds[deed](now, sid)
        except ValueError as error:
            raise Refused(str(error)) from error
    with driver().turn():
        return jsonify(call_view(engine.calls[sid]))
