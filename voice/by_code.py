"""Who needs a code instead of a link, and which one: said in a call, or sent in a text without a link.

What is said and sent is spoken_page.py's and sms.py's business, what a code opens handoff/codes.py's.
"""

from __future__ import annotations

from typing import Protocol

from handoff import code_book
from handoff.codes import SPOKEN_MS, TEXTED_MS
from handoff.commands import Handoffs
from handoff.config import Settings
from handoff.models import Attempt, Call, Handoff, ProofAsked
from voice import sms, spoken_page, urls


class Services(Protocol):
    """What is needed here of the services that bootstrap.py wires."""

    @property
    def settings(self) -> Settings: ...
    @property
    def handoffs(self) -> Handoffs: ...


def sees_pages(services: Services, contact_id: str) -> bool:
    """Whether this contact can use a page. Who can't, hears and reads nothing of links."""
    contact = services.handoffs.rules().people.contact(contact_id)
    return contact is None or contact.screen


def said_page(services: Services, call: Call, handoff: Handoff, attempt: Attempt, text_sent: bool) -> str:
    """The sentence with the page and a code for it; empty where the link in a text does, or no page can.

    The same code for the whole call, a new one after it was used. It is worth a link, so that nothing which
    may be a mailbox hears it: before a key was pressed, the sentence tells only how to hear it.
    """
    rules = services.handoffs.rules()
    contact = rules.people.contact(call.contact)
    if handoff.closed or contact is None or not contact.screen:
        return ""
    if handoff.proof is ProofAsked.PIN and contact.pin is None:  # it is asked for on the page as well
        return ""
    if text_sent and handoff.proof is not ProofAsked.LINK:
        return ""
    if not (call.keyed or call.inbound):
        return "" if text_sent else spoken_page.HOW_TO_HEAR
    code = _code(services, handoff, attempt, SPOKEN_MS)
    return spoken_page.open_and_enter(services.settings.public_url + urls.code_page(), code)


def text_without_link(services: Services, handoff: Handoff, attempt: Attempt) -> str:
    """The text for a contact without a screen: whom to call, and the code to enter."""
    code = _code(services, handoff, attempt, TEXTED_MS)
    return sms.text_with_code(handoff, services.settings.twilio_from, code)


def _code(services: Services, handoff: Handoff, attempt: Attempt, for_ms: int) -> str:
    """A code that is good for so long, and no longer than until the deadline."""
    keys, until = services.settings.secret_keys, min(services.handoffs.clock() + for_ms, handoff.deadline)
    return code_book.give(services.handoffs, keys, handoff.id, attempt.contact, attempt.id, until)
