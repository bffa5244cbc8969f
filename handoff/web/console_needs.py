"""What needs an operator, on top of their list: its two buttons. What is shown is console.py's page.

Each act is a POST with the session's nonce; twice is once, since what is gone is gone.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, current_app, redirect
from werkzeug.wrappers import Response as AnyResponse

from handoff.errors import NotFound
from handoff.models import Actor
from handoff.web import rates
from handoff.web.bodies import whole_body
from handoff.web.console import RATE, trouble
from handoff.web.context import services
from handoff.web.signin import current_operator, genuine, sign_in_page

bp = Blueprint("console_needs", __name__)


@bp.post("/console/opt-outs/<opt_out_id>/lifting")
def lift(opt_out_id: str) -> AnyResponse:
    """They asked to be called again."""
    return _act(lambda by: services().handoffs.lift(opt_out_id, by))


@bp.post("/console/warnings/<warning_id>/dismissal")
def dismiss(warning_id: str) -> AnyResponse:
    """Seen, and done with."""
    return _act(lambda _: services().handoffs.dismiss(warning_id))


def _act(do: Callable[[Actor], object]) -> AnyResponse:
    whole_body()
    operator = current_operator()
    if operator is None:
        return sign_in_page(401, "You are not signed in any more. Nothing was changed.", onward="/")
    if not genuine(operator):
        return trouble(403, "This form is too old. Nothing was changed; please go back and try again.")
    if rates.over(f"operator:{operator.actor.id}", RATE):
        return trouble(429, "That was a lot at once. Please wait a minute; nothing was changed.")
    try:
        do(operator.actor)
    except NotFound:
        pass  # pressed twice, or somebody else was quicker: it is as they wanted
    return redirect(f"{current_app.config['URL_PREFIX']}/", 303)
