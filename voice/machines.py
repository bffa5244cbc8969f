"""When machine detection says that no person picked up: the attempt is over, and a short message is left.

A verdict of `human` or `unknown` proves nothing and changes nothing (promise 4). It is asked for by policies
with `detect_machines`; what a verdict means is dispositions.py's business, the words are unattended.py's.
"""

from __future__ import annotations

import structlog
from flask import Response, request

from voice import dispositions, on_the_line, scripts, unattended
from voice.documents import PLAIN, Voice
from voice.guarded import blueprint, services, spoken_for, twiml

log = structlog.get_logger(__name__)
bp = blueprint("machines")


@bp.post("/calls/<call_id>/machine")
def verdict(call_id: str) -> Response:
    """What detection took the one who answered for. Late, twice, or after a key it changes nothing."""
    at, found = services(), request.form.get("AnsweredBy", "")
    spoken_for(call_id)
    log.info("machine_verdict", machine=dispositions.is_machine(found))
    if dispositions.is_machine(found):
        detail = "a fax machine" if found == dispositions.FAX else "found by machine detection"
        at.calls.machine_took_it(call_id, found, detail)
    return Response(status=204)


@bp.post("/calls/<call_id>/message")
def message(call_id: str) -> Response:
    """What is left to a machine, when a call is sent here."""
    call, handoff, attempt = spoken_for(call_id)
    if call is None or handoff is None or attempt is None or handoff.closed:
        return twiml(scripts.nobody_home())
    contact = services().handoffs.contact(call.contact)
    return twiml(
        unattended.message(
            call.contact_name,
            text_sent=on_the_line.text_sent(handoff, attempt),
            voice=Voice(language=contact.language) if contact else PLAIN,
        )
    )
