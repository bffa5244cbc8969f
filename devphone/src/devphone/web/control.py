"""The control API: what people, tests and demos do with the phones, the clock and the faults. JSON.

Not part of Twilio. Errors are `{"error": sentence}` with 400, 404, 409 or 504.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, get_args

from flask import Blueprint, Response, jsonify, request

from devphone.driver import NotQuiet
from devphone.engine.actions import Now
from devphone.engine.progress import WrongCallState
from devphone.engine.records import Behaviour, Phone, Texts
from devphone.faults import BadFault
from devphone.numbers import is_e164

from .rest import driver
from .views import call_view, phone_view, state_view

control = Blueprint("control", __name__, url_prefix="/_devphone")

LONGEST_WAIT_S = 30.0
HEARTBEAT_S = 15.0


class Refused(Exception):
    """A control request that can't be done: a sentence and an HTTP status."""

    def __init__(self, text: str, status: int = 400) -> None:
        """`text` is for the person or test that asked."""
        super().__init__(text)
        self.text, self.status = text, status


@control.errorhandler(Refused)
def refuse(error: Refused) -> tuple[Response, int]:
    """The answer to what can't be done."""
    return jsonify(error=error.text), error.status


@control.errorhandler(WrongCallState)
def wrong_state(error: WrongCallState) -> tuple[Response, int]:
    """The phone is not in a state for that."""
    return jsonify(error=str(error)), 409


@control.get("/state")
def state() -> Response:
    """Everything, or with `?number=` what concerns one phone."""
    with driver().turn() as now:
        return jsonify(state_view(driver(), now, request.args.get("number")))


@control.get("/calls/<sid>")
def call(sid: str) -> Response:
    """One call with transcript, keys and documents."""
    with driver().turn():
        found = driver().engine.calls.get(sid)
        if found is None:
            raise Refused("no such call", 404)
        return jsonify(call_view(found))


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
    wanted = _body()
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
            _number(wanted, name)
    with driver().turn():
        phone = replace(driver().engine.phone(number), **(wanted | {"number": number}))
        driver().engine.phones[number] = phone
    return jsonify(phone_view(phone))


@control.put("/pace")
def set_pace() -> Response:
    """Set queue_s, ring_s and text_step_s: seconds before dialling, before ringing, per step of a text."""
    wanted = _body()
    pace = driver().engine.pace
    if unknown := sorted(set(wanted) - {field.name for field in fields(pace)}):
        raise Refused(f"pace has no {', '.join(unknown)}")
    values = {name: _number(wanted, name) for name in wanted}
    with driver().turn():
        for name, value in values.items():
            setattr(pace, name, value)
    return jsonify(queue_s=pace.queue_s, ring_s=pace.ring_s, text_step_s=pace.text_step_s)


@control.post("/clock/advance")
def advance() -> Response:
    """Move a manual clock by `seconds`; answers when the application has answered all that this caused."""
    seconds = _number(_body(), "seconds")
    try:
        driver().advance(seconds)
    except ValueError as error:
        raise Refused(str(error), 409) from error
    except NotQuiet as error:
        raise Refused(str(error), 504) from error
    return jsonify(line_s=driver().clock.now().s)


@control.post("/clock/settle")
def settle() -> Response:
    """Answers when nothing is in flight; moves no clock."""
    try:
        driver().wait_until_quiet()
    except NotQuiet as error:
        raise Refused(str(error), 504) from error
    return jsonify(line_s=driver().clock.now().s)


@control.get("/faults")
def faults() -> Response:
    """The faults still to come."""
    return jsonify(faults=driver().faults.waiting())


@control.post("/faults")
def set_faults() -> Response:
    """Ask for faults, each for the next N creates; see `faults.py`."""
    try:
        driver().faults.set(_body())
    except BadFault as error:
        raise Refused(str(error)) from error
    return faults()


@control.get("/debugger")
def debugger() -> Response:
    """What Twilio's debugger would list."""
    return jsonify(entries=driver().journal.debugger())


@control.get("/requests")
def requests() -> Response:
    """REST requests that came in, with form fields and the millisecond of arrival."""
    return jsonify(requests=driver().journal.requests())


@control.post("/reset")
def reset() -> Response:
    """Forget calls, texts, behaviours, pace, faults and logs."""
    driver().reset()
    return jsonify(reset=True)


@control.get("/events")
def events() -> Response:
    """Every happening: a stream of server-sent events, or, with `Accept: application/json`, a list.

    `after` (or Last-Event-ID) is the number of the last event already known; without it the stream begins
    now and the list at the oldest. The list waits up to `wait_s` seconds (at most 30) for a first event.
    """
    journal = driver().journal
    known = request.headers.get("Last-Event-ID") or request.args.get("after")
    if known is not None and not known.isdigit():
        raise Refused("after is the number of an event")
    if request.accept_mimetypes.best == "application/json":
        wait_s = min(request.args.get("wait_s", 0.0, type=float), LONGEST_WAIT_S)
        found = journal.events_after(int(known or 0), wait_s)
        newest = found[-1].seq if found else int(known or 0)
        return jsonify(events=[event.as_dict() for event in found], seq=newest)
    start = journal.seq if known is None else int(known)
    if start > journal.seq:  # the number is from an earlier run of the program
        start = 0

    def stream() -> Iterator[str]:
        seq = start
        yield ": the dev phone\n\n"
        while True:
            found = journal.events_after(seq, HEARTBEAT_S)
            for event in found:
                seq = event.seq
                yield f"id: {seq}\nevent: happened\ndata: {json.dumps(event.as_dict())}\n\n"
            if not found:
                yield ": still here\n\n"

    return Response(stream(), mimetype="text/event-stream", headers={"Cache-Control": "no-store"})


def _act(sid: str, deed: str) -> Response:
    engine = driver().engine
    deeds: dict[str, Callable[[Now, str], None]] = {
        "answer": engine.answer,
        "hangup": engine.hang_up,
        "busy": engine.busy,
        "decline": engine.decline,
        "press": lambda now, call_sid: engine.press(now, call_sid, str(_body().get("digits", ""))),
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


def _body() -> dict[str, Any]:
    """The JSON object of the request; nothing sent counts as an empty one."""
    body = request.get_json(silent=True) if request.data else {}
    if not isinstance(body, dict):
        raise Refused("a JSON object is wanted")
    return body


def _number(body: dict[str, Any], name: str) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 10_000_000:
        raise Refused(f"{name} must be a number from 0")
    return value
