"""The person's page behind the link: its addresses, and who a link stands for.

GET and HEAD change nothing, not even "opened": scanners and previews open links (promise 4). What the page
shows is person_page.py's business, what its buttons do person_acts.py's, the live view's frame
person_view.py's.
"""

from __future__ import annotations

import redis
import structlog
from flask import Blueprint
from werkzeug.wrappers import Response as AnyResponse

from handoff import links
from handoff.errors import BadRequest, NotFound, Unavailable
from handoff.models import Proof
from handoff.web import person_page, person_view, rates
from handoff.web.context import services
from handoff.web.person_acts import VERB, VERBS, act
from handoff.web.person_page import Visit, rendered

log = structlog.get_logger(__name__)
bp = Blueprint("person", __name__)


@bp.get("/h/<path:given>")
def page(given: str) -> AnyResponse:
    """The page; the same for everybody who holds the link, and without any effect."""
    visit = _behind(given)
    return person_page.page(visit) if visit else _unknown()


@bp.get(f"/h/<given>/<{VERB}:_>")
def page_again(given: str, _: str) -> AnyResponse:
    """A form's address without its form, as browsers ask for when they restore a tab: the page itself."""
    return page(given)


@bp.post(f"/h/<given>/<{VERB}:verb>")
def button(given: str, verb: str) -> AnyResponse:
    """One of the page's buttons was pressed."""
    # Whoever has no link is turned away before anything of the body is read.
    visit = _behind(given)
    return act(visit, VERBS[verb]) if visit else _unknown()


@bp.get("/h/<given>/news")
def news(given: str) -> AnyResponse:
    """What the page would show now, for a page that is open already; see person_page.news."""
    visit = _behind(given)
    return person_page.news(visit) if visit else _unknown()


@bp.get("/h/<given>/view")
def view(given: str) -> AnyResponse:
    """The frame with the agent's browser."""
    visit = _behind(given)
    return person_view.frame(visit.handoff, visit.contact) if visit else _unknown()


@bp.errorhandler(redis.RedisError)
@bp.errorhandler(Unavailable)
def not_now(error: Exception) -> AnyResponse:
    """Perhaps nothing was changed: the reply to a commit may be what was lost. The form can be sent again."""
    log.error("page_not_available", why=type(error).__name__)
    return rendered("trouble.html", 503, what="We can’t reach our own memory right now.")


@bp.errorhandler(NotFound)
def gone(_: NotFound) -> AnyResponse:
    """It was deleted after its retention time, perhaps a moment ago."""
    return rendered("unknown.html", 404)


@bp.errorhandler(BadRequest)
def broken_off(_: BadRequest) -> AnyResponse:
    """A form that did not arrive whole."""
    return rendered("trouble.html", 400, what="That broke off on its way.", certain=True)


@bp.errorhandler(413)
def too_large(_: Exception) -> AnyResponse:
    """What was sent is more than any form of ours takes."""
    return rendered("trouble.html", 413, what="That was too long to send.", certain=True)


def _behind(given: str) -> Visit | None:
    """Whose link this is and for what; None for one that leads nowhere."""
    link = links.tidy(given)
    found = services().store.link(link) if link else None
    handoff = services().store.read(found.handoff) if found else None
    if link is None or found is None or handoff is None:
        return None
    structlog.contextvars.bind_contextvars(handoff=handoff.id)
    if not handoff.closed and services().handoffs.contact(found.contact) is None:
        return None  # who was taken out of the people file has no say any more
    return Visit(f"/h/{link}", link, handoff, found.contact, Proof.LINK)


def _unknown() -> AnyResponse:
    if rates.over_from_here("unknown-link"):
        return rendered("trouble.html", 429, what=rates.SLOWLY, certain=True)
    return rendered("unknown.html", 404)
