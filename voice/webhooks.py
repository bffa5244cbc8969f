"""What Twilio tells us about calls and texts: how far each has come, and how it ended.

Twice, late, early and out of order are all fine. What Twilio asks us during a call is on_the_line.py's
business, who may tell us anything guarded.py's.
"""

from __future__ import annotations

import structlog
from flask import Response, request

from handoff import attempts, opt_outs
from handoff.models import Channel
from handoff.notices import Notices
from handoff.states import CallState, Disposition
from voice import dispositions, troubles
from voice.guarded import blueprint, services, spoken_for

log = structlog.get_logger(__name__)
bp = blueprint("webhooks")


@bp.post("/calls/<call_id>/status")
def call_status(call_id: str) -> Response:
    """What became of a call. Twice, late, early and out of order are all fine."""
    at, form = services(), request.form
    status, provider_id = form.get("CallStatus", ""), form.get("CallSid")
    state = dispositions.call_state(status)
    spoken_for(call_id)
    log.info("call_status", status=status, seq=form.get("SequenceNumber"))
    if state is CallState.PLACED and provider_id:
        at.calls.placed(call_id, provider_id)
    elif state is CallState.RINGING:
        at.calls.ringing(call_id, provider_id)
    elif state is CallState.ANSWERED:
        at.calls.answered(call_id, provider_id)
    elif state is CallState.ENDED:
        sip, by = form.get("SipResponseCode", type=int), form.get("AnsweredBy")
        at.calls.end(
            call_id, lambda call: dispositions.end_of(call, status, sip, by), provider_id=provider_id
        )
    return Response(status=204)


@bp.post("/texts/<handoff_id>/<attempt_id>/status")
def text_status(handoff_id: str, attempt_id: str) -> Response:
    """How far a text has come. Late and repeated reports never lower it."""
    at, form = services(), request.form
    status = form.get("MessageStatus", "")
    code = form.get("ErrorCode", type=int)
    structlog.contextvars.bind_contextvars(handoff=handoff_id)
    log.info("text_status", status=status, code=code)
    disposition, sender = dispositions.text_disposition(status, code), at.settings.text_sender
    at.handoffs.change(
        handoff_id,
        lambda handoff, now: attempts.text_moved(
            handoff,
            attempt_id,
            now,
            rank=dispositions.text_rank(status),
            disposition=disposition,
            detail=f"Twilio error {code}" if code else None,
            trouble=troubles.of_end(disposition, code, sender),
            proven=_proven(form.get("To", ""), sender) if disposition is Disposition.DELIVERED else None,
        ),
    )
    return Response(status=204)


def _proven(number: str, sender: str) -> Notices:
    """What is no trouble any more, now that a text has arrived there."""
    return opt_outs.arrived(number, sender, services().handoffs.opt_outs.of(Channel.TEXT, number, sender))
