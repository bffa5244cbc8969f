"""The text that offers our contact card: sent once for each time it is asked for, and never again when it is
unknown whether it went out. Who gets one is handoff/enrolments.py's business, the card handoff/web/card.py's.
"""

from __future__ import annotations

from typing import Protocol

import structlog
from flask import Response, request

from handoff.commands import Handoffs
from handoff.config import Settings
from handoff.effects import Effect
from handoff.enrolments import Enrolments
from handoff.moments import HOUR, SECOND
from handoff.people import mask
from handoff.store import Plan, Store
from voice import urls
from voice.gateway import Gateway, GatewayError, Retryable
from voice.guarded import blueprint
from voice.reaching import REFUSED_TRIES, REFUSED_WAIT_MS

log = structlog.get_logger(__name__)
bp = blueprint("cards")

#: How long it is worth passing on.
VALID_S = 10 * HOUR // SECOND


class Services(Protocol):
    """What sending needs of the services that bootstrap.py wires."""

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> Store: ...
    @property
    def handoffs(self) -> Handoffs: ...
    @property
    def enrolments(self) -> Enrolments: ...
    @property
    def gateway(self) -> Gateway: ...


def words(url: str) -> str:
    """The text; `url` is the card's page. One segment, unless the address is long."""
    return f"Handoff: save this number so that our calls ring through: {url}"


def send(services: Services, effect: Effect) -> bool:
    """Sends the text. True when the effect is done, whatever came of it."""
    contact = services.enrolments.claim_card(effect)
    if contact is None:
        return True
    base = services.settings.public_url
    try:
        placed = services.gateway.send_text(
            contact.number, words(base + urls.card()), status_url=base + urls.card_status(), valid_s=VALID_S
        )
    except Retryable as error:
        log.warning("card_not_processed", code=error.code, tries=effect.tries)
        if effect.tries < REFUSED_TRIES:
            now = services.handoffs.clock()
            due = now + REFUSED_WAIT_MS * (effect.tries + 1)
            later = effect.model_copy(update={"due": due, "tries": effect.tries + 1, "stored": None})
            services.store.commit(Plan(effects=[later]), now)
    except GatewayError as error:
        log.warning("card_failed", number=mask(contact.number), code=error.code, why=str(error))
    else:
        log.info("card_accepted", number=mask(contact.number), provider_id=placed.provider_id)
    return True


@bp.post("/cards/status")
def status() -> Response:
    """How far such a text has come: for the log alone."""
    form = request.form
    log.info("card_status", status=form.get("MessageStatus", ""), code=form.get("ErrorCode", type=int))
    return Response(status=204)
