"""Texts that people send to our number: STOP and START are kept, everything else is answered by link or call.

Twilio itself answers STOP, START and HELP, and refuses texts after STOP
(https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out), so that nothing is replied to those.
A text decides nothing, touches no call, and its words are kept nowhere.
"""

from __future__ import annotations

import re
import unicodedata

import structlog
from flask import Response, request
from twilio.twiml.messaging_response import MessagingResponse

from handoff import opt_outs
from handoff.models import Channel
from handoff.moments import HOUR, SECOND
from handoff.notices import Notices, Stopped
from handoff.policy import Contact
from handoff.store import Done, Plan, sha256
from voice.guarded import blueprint, services, twiml

log = structlog.get_logger(__name__)
bp = blueprint("inbound_texts")

#: https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out ; YES and UNSTOP are its further words to
#: opt in (https://www.twilio.com/docs/proxy/opt-out-keywords links the article that lists them).
STOP_WORDS = frozenset({"STOP", "STOPALL", "UNSUBSCRIBE", "END", "QUIT", "CANCEL", "REVOKE", "OPTOUT"})
START_WORDS = frozenset({"START", "YES", "UNSTOP"})
HELP_WORDS = frozenset({"HELP", "INFO"})
REPLY = "To answer, use the link in our text, or call this number. Nobody reads texts here."
#: How often in an hour it is looked whether anything waits for somebody who texts.
LOOKS = 20


@bp.post("/texts/inbound")
def inbound() -> Response:
    """A text came in. Strangers get nothing, and nothing of theirs is kept."""
    number, word = request.form.get("From", ""), said(request.form.get("Body", ""), _told())
    contact = _known(number)
    log.info("text_in", known=contact is not None, word=word)
    if contact is None:
        return _nothing()
    at, sender = services(), _sender()
    if word == "STOP":
        _keep(opt_outs.no_more_texts(contact.id, contact.name, number, sender, Stopped.TEXT, at.clock()))
        return _nothing()
    stopped = at.handoffs.opt_outs.of(Channel.TEXT, number, sender)
    if word in ("START", "YES") and (stopped or word == "START"):
        _keep(opt_outs.texts_again(number, sender))
        return _nothing()
    if word == "HELP" or stopped or not _waits_for(contact, number) or not _may_reply(number):
        return _nothing()
    reply = MessagingResponse()
    reply.message(REPLY)
    return twiml(str(reply))


def said(body: str, told: str | None = None) -> str | None:
    """Which word of Twilio's a text is: STOP, START, YES (a START only after a STOP), HELP, or None.

    The whole text must be the word, whatever stands around it: a dot, blanks, an emoji. `told` is what
    Twilio's Advanced Opt-Out made of it (`OptOutType`), whose words may be the operator's own.
    """
    if told in ("STOP", "START", "HELP"):
        return told
    found = re.fullmatch(r"[\W_]*([^\W_]+)[\W_]*", unicodedata.normalize("NFKC", body))
    word = found[1].upper() if found else ""
    if word in START_WORDS:
        return "YES" if word == "YES" else "START"
    return "STOP" if word in STOP_WORDS else "HELP" if word in HELP_WORDS else None


def _told() -> str | None:
    return request.form.get("OptOutType", "").upper() or None


def _sender() -> str:
    """Our sender that the text is about, by the name under which we text: a number in a Messaging Service
    shares the STOPs of the service (https://www.twilio.com/docs/messaging/services), and a text to it names
    both."""
    named = [request.form.get(one, "") for one in ("MessagingServiceSid", "To")]
    ours = services().settings.text_sender
    return ours if ours in named else next(filter(None, named), "")


def _known(number: str) -> Contact | None:
    """Whose number it is. A STOP counts before they said that they may be called, too."""
    return services().handoffs.rules().people.anybody_at(number)


def _keep(notices: Notices) -> None:
    """Keeps it, once for each text: one that is told again after a START must not stop texts again."""
    at = services()
    now = at.clock()
    plan = Plan(notices=[notices], once=sha256(_text_id()))
    if isinstance(at.store.commit(plan, now), Done):
        at.handoffs.hand_out(plan)


def _waits_for(contact: Contact, number: str) -> bool:
    """Whether something open was brought to them. Does not look too often."""
    store = services().store
    if store.over_rate(f"texts-in:{sha256(number)}", LOOKS, HOUR // SECOND):
        return False
    return bool(store.open_of(contact.id, 1))


def _may_reply(number: str) -> bool:
    """One reply an hour; the same text, told again, gets the one it had."""
    return services().handoffs.opt_outs.first_within(f"reply:{number}", _text_id(), HOUR)


def _text_id() -> str:
    return request.form.get("MessageSid", "")


def _nothing() -> Response:
    return twiml(str(MessagingResponse()))
