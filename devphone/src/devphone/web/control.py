"""The control API: what is known, the clock, the faults, the logs. JSON. The phones are `control_phones.py`.

Not part of Twilio. Errors are `{"error": sentence}` with 400, 404, 405, 409 or 504.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from flask import Blueprint, Response, jsonify, request

from devphone.digits import decimal, whole
from devphone.driver import NotQuiet
from devphone.engine.progress import WrongCallState
from devphone.fault_catalogue import FAULTS
from devphone.faults import BadFault

from .account import driver, the_contract
from .control_bodies import Refused, body, number_field, only, read
from .views import call_view, state_view

control = Blueprint("control", __name__, url_prefix="/_devphone")

LONGEST_WAIT_S = 30.0
HEARTBEAT_S = 15.0


@control.before_request
def read_body() -> None:
    """What a request brought is read or refused, never passed over."""
    read()


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


@control.put("/pace")
def set_pace() -> Response:
    """Set queue_s, ring_s and text_step_s: seconds before dialling, before ringing, per step of a text."""
    wanted, pace = only("pace", "queue_s", "ring_s", "text_step_s"), driver().engine.pace
    values = {name: number_field(wanted, name) for name in wanted}
    with driver().turn():
        for name, value in values.items():
            setattr(pace, name, value)
    return jsonify(queue_s=pace.queue_s, ring_s=pace.ring_s, text_step_s=pace.text_step_s)


@control.post("/clock/advance")
def advance() -> Response:
    """Move a manual clock by `seconds`; answers when the application has answered all that this caused."""
    seconds = number_field(only("an advance", "seconds"), "seconds")
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
    only("a settle")
    try:
        driver().wait_until_quiet()
    except NotQuiet as error:
        raise Refused(str(error), 504) from error
    return jsonify(line_s=driver().clock.now().s)


@control.get("/faults")
def faults() -> Response:
    """The faults still to come, the seed of their draws, and `names`: every fault there is."""
    names = [fault.as_dict() for fault in FAULTS.values()]
    return jsonify(faults=driver().faults.waiting(), seed=driver().faults.seed, names=names)


@control.post("/faults")
def set_faults() -> Response:
    """Ask for faults, each for the next N calls or texts of its kind, or by chance; see `faults.py`."""
    try:
        driver().faults.set(body())
    except BadFault as error:
        raise Refused(str(error)) from error
    return faults()


@control.get("/debugger")
def debugger() -> Response:
    """What Twilio's debugger would list."""
    return jsonify(entries=driver().journal.debugger())


@control.get("/contract")
def contract() -> Response:
    """REST answers that differ from Twilio's description; `on` is false when none was given at the start."""
    number, violations = driver().journal.contract()
    return jsonify(on=the_contract() is not None, checked=number, violations=violations)


@control.get("/requests")
def requests() -> Response:
    """REST requests that came in, with form fields and the millisecond of arrival."""
    return jsonify(requests=driver().journal.requests())


@control.post("/reset")
def reset() -> Response:
    """Forget calls, texts, behaviours, pace, faults and logs."""
    only("a reset")
    driver().reset()
    return jsonify(reset=True)


@control.get("/events")
def events() -> Response:
    """Every happening: a stream of server-sent events, or, with `Accept: application/json`, a list.

    `after` (or Last-Event-ID) is the number of the last event already known; without it the stream begins
    now and the list at the oldest. The list waits up to `wait_s` seconds (at most 30) for a first event.
    """
    journal = driver().journal
    given = request.headers.get("Last-Event-ID") or request.args.get("after")
    known = None if given is None else whole(given)
    if given is not None and known is None:
        raise Refused("after is the number of an event")
    wait_s = decimal(request.args.get("wait_s", "0"))
    if wait_s is None:
        raise Refused("wait_s must be a number from 0")
    if request.accept_mimetypes.best == "application/json":
        found = journal.events_after(known or 0, min(wait_s, LONGEST_WAIT_S))
        newest = found[-1].seq if found else known or 0
        return jsonify(events=[event.as_dict() for event in found], seq=newest)
    start = journal.seq if known is None else known
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
