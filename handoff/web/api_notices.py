"""What operators see and mend over the API apart from handoffs: opt-outs and warnings. Operator keys only."""

from __future__ import annotations

from flask import Blueprint, Response

from handoff.views import OptOutList, OptOutView, WarningList, WarningView
from handoff.web import context
from handoff.web.bodies import said
from handoff.web.openapi import answers, documented

bp = Blueprint("api_notices", __name__, url_prefix="/v1")


@bp.get("/opt-outs")
@documented(resp=answers(_200=OptOutList, _401=None, _403=None), tags=["operators"])
def list_opt_outs() -> Response:
    """Who wants no more calls to a number, or no more texts from a sender; newest first."""
    context.operator()
    found = context.services().handoffs.opt_outs.all()
    return said(OptOutList(opt_outs=tuple(map(OptOutView.of, found))))


@bp.delete("/opt-outs/<opt_out_id>")
@documented(resp=answers(_200=OptOutView, _401=None, _403=None, _404=None), tags=["operators"])
def lift(opt_out_id: str) -> Response:
    """Lift it, when the person asks for that. One of texts means that the next text is tried: after a STOP
    Twilio refuses texts until the person sends START."""
    key = context.operator()
    return said(OptOutView.of(context.services().handoffs.lift(opt_out_id, context.actor(key))))


@bp.get("/warnings")
@documented(resp=answers(_200=WarningList, _401=None, _403=None), tags=["operators"])
def list_warnings() -> Response:
    """What an operator must act on, what was seen last first."""
    context.operator()
    found = context.services().handoffs.warnings.all()
    return said(WarningList(warnings=tuple(map(WarningView.of, found))))


@bp.delete("/warnings/<warning_id>")
@documented(resp=answers(_200=WarningView, _401=None, _403=None, _404=None), tags=["operators"])
def dismiss(warning_id: str) -> Response:
    """Dismiss it. It comes back when it is seen again; an opt-out behind it stays."""
    context.operator()
    return said(WarningView.of(context.services().handoffs.dismiss(warning_id)))
