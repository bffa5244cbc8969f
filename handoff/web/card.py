"""Our contact card, for everybody: the number that we call from, as a page and as a file to save.

No secret is in it, and it tells nothing of anybody. The text that offers it is voice/cards.py's.
"""

from __future__ import annotations

from flask import Blueprint, Response, current_app, render_template

from handoff.people import spaced
from handoff.web.context import services

bp = Blueprint("card", __name__)

#: A browser may keep it for so long, in seconds.
_FRESH_S = 3_600
#: https://www.rfc-editor.org/rfc/rfc2426: version 3.0, which every phone reads; lines end with CR and LF.
_CARD = (
    "BEGIN:VCARD",
    "VERSION:3.0",
    "N:Handoff;;;;",
    "FN:Handoff",
    "TEL;TYPE=VOICE,MSG,PREF:{number}",
    "NOTE:Calls when an agent needs you.",
    "END:VCARD",
    "",
)


@bp.get("/card")
def card() -> Response:
    """Our number, a button that saves it, and how to let it through when the phone is silent."""
    number = services().settings.twilio_from
    page = render_template(
        "card.html", prefix=current_app.config["URL_PREFIX"], number=number, spaced=spaced(number)
    )
    return _kept(Response(page, content_type="text/html; charset=utf-8"))


@bp.get("/card.vcf")
def vcard() -> Response:
    """The same as a vCard, which a phone offers to save."""
    text = "\r\n".join(_CARD).format(number=services().settings.twilio_from)
    response = Response(text, content_type="text/vcard; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="handoff.vcf"'
    return _kept(response)


def _kept(response: Response) -> Response:
    response.headers["Cache-Control"] = f"public, max-age={_FRESH_S}"
    return response
