"""The control API, what a person does with a phone, and how a phone behaves by itself.

The clock, the faults and the logs are `control.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import get_args

from flask import Response, jsonify

from devphone.engine.actions import Now
from devphone.engine.phones import Behaviour, Phone, Texts
from devphone.numbers import is_e164

from .account import driver
from .control import control
from .control_bodies import Refused, body, number_field
from .views import call_view, phone_view


@control.post("/calls/<sid>/<deed>")
def act_on_call(sid: str, deed: str) -> Response:
    """answer, press, hangup, busy or decline."""
    return _act(sid, deed)


@control.post("/phones/<number>/<deed>")
def act_on_phone(number: str, deed: str) -> Response:
    """The same, on the call that this phone has now."""
    with driver().turn():
        calls = driver().engine.calls.values()
        live = [found.sid for found in calls if found.request.to == number and not found.over]
    if not live:
        raise Refused("this phone has no call now", 409)
    return _act(live[-1], deed)


@control.put("/phones/<number>")
def describe_phone(number: str) -> Response:
    """Set how a number behaves: behaviour, after_s, records_s, texts, error_code. What is left out stays."""
    wanted = body()
    if not is_e164(number):
        raise Refused("not a number of the form +12125550123")
    if unknown := sorted(set(wanted) - {field.name for field in fields(Phone)}):
        raise Refused(f"a phone has no {', '.join(unknown)}")
    if wanted.get("behaviour", "rings") not in get_args(Behaviour):
        raise Refused(f"behaviour is one of {', '.join(get_args(Behaviour))}")
    if wanted.get("texts", "delivered") not in get_args(Texts):
        raise Refused(f"texts is one of {', '.join(get_args(Texts))}")
    for name in ("after_s", "records_s", "error_code"):
        if name in wanted:
            number_field(wanted, name)
    with driver().turn():
        phone = replace(driver().engine.phone(number), **(wanted | {"number": number}))
        driver().engine.phones[number] = phone
    return jsonify(phone_view(phone))


def _act(sid: str, deed: str) -> Response:
    engine = driver().engine
    deeds: dict[str, Callable[[Now, str], None]] = {
        "answer": engine.answer,
        "hangup": engine.hang_up,
        "busy": engine.busy,
        "decline": engine.decline,
        "press": lambda now, call_sid: engine.press(now, call_sid, str(body().get("digits", ""))),
    }
    if deed not in deeds:
        raise Refused(f"a person can {', '.join(deeds)}", 404)
    if sid not in engine.calls:
        raise Refused("no such call", 404)
    with driver().turn() as now:
        try:
            deeds[deed](now, sid)
        except ValueError as error:
            raise Refused(str(error)) from error
    with driver().turn():
        return jsonify(call_view(engine.calls[sid]))
