"""The second 8: no more calls to this number, kept first and said then.

The question that comes before is on_the_line.py's, what an opt-out changes handoff/opt_outs.py's.
"""

from __future__ import annotations

from flask import Response, request

from handoff import opt_outs
from handoff.models import Actor, ActorKind
from voice import on_the_line, scripts, scripts_stop
from voice.guarded import blueprint, services, spoken_for, twiml

bp = blueprint("stopping")


@bp.post("/calls/<call_id>/attempts/<attempt_id>/stop")
def stop(call_id: str, attempt_id: str) -> Response:
    """A key was pressed at the question: 8 stops calls, any other does what it does in the menu."""
    at = services()
    if (request.values.get("Digits", "") or request.args.get("key", "")) != "8":
        return on_the_line.key(call_id, attempt_id)
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None or call.inbound:
        return twiml(scripts.nobody_home())
    by = Actor(kind=ActorKind.CONTACT, id=call.contact, name=call.contact_name)
    rules = at.handoffs.rules()
    at.handoffs.change(
        handoff.id,
        lambda fresh, now: opt_outs.no_more_calls(fresh, call, attempt.id, by, rules, now),
    )
    at.calls.pressed(call_id, "8", request.args.get("turn", 1, type=int))
    return twiml(scripts_stop.stopped(on_the_line.voice_of(call)))
