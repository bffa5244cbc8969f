"""A call screener on the line: it is told who calls and what for, and the person it then rings hears all.

Only contacts with `screens_calls` come here: understanding words costs money. Words decide nothing; what they
sound like is overheard.py's business, the menu on_the_line.py's.
"""

from __future__ import annotations

from flask import Response, request

from voice import on_the_line, scripts, unattended, urls
from voice.documents import PLAIN, Voice
from voice.guarded import blueprint, services, spoken_for, twiml
from voice.overheard import Sounds, sounds_like

bp = blueprint("screening")

#: How often one call answers a screener, so that two machines do not talk for ever.
MOST_ASKED = 4


@bp.post("/calls/<call_id>/attempts/<attempt_id>/heard")
def heard(call_id: str, attempt_id: str) -> Response:
    """Words, a key or neither, in a document that listens for a screener. The first document (`asked` is 0)
    had the menu, so that a key in it counts; whoever presses one later has not heard what it is about."""
    at = services()
    call, handoff, attempt = spoken_for(call_id, attempt_id)
    if call is None or handoff is None or attempt is None:
        return twiml(scripts.nobody_home())
    turn, asked = request.args.get("turn", 1, type=int), request.args.get("asked", 0, type=int)
    digits = request.values.get("Digits", "") or request.args.get("key", "")
    if handoff.closed or (digits and asked == 0):
        return on_the_line.key(call_id, attempt_id)
    if digits:
        at.calls.keyed(call_id)
        return twiml(on_the_line.from_the_start(call, handoff, attempt, turn=turn + 1))
    words = request.form.get("SpeechResult", "")
    sounds = sounds_like(words)
    if words and sounds is not Sounds.MAILBOX:  # behind a screener, it means that nobody took the call
        at.calls.screener_spoke(call_id, sounds is not Sounds.OTHER)
    if sounds in (Sounds.OTHER, Sounds.MAILBOX) or asked >= MOST_ASKED:
        # In silence somebody may have picked up as well, and hears it all, once.
        once = not words or sounds is Sounds.MAILBOX
        return twiml(on_the_line.from_the_start(call, handoff, attempt, turn=turn + 1, once=once))
    contact = at.handoffs.contact(call.contact)
    following = at.settings.public_url + urls.heard(call_id, attempt_id, turn=turn + 1, asked=asked + 1)
    return twiml(
        unattended.purpose(
            call.contact_name,
            heard_url=following,
            again_url=following,
            says_it=sounds is Sounds.ASKING,
            voice=Voice(language=contact.language) if contact else PLAIN,
        )
    )
