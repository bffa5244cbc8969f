"""Every error as one JSON shape: problem documents by RFC 9457, with a stable `code`.

The person's pages and Twilio's webhooks have their own answers; this is the API's.
"""

from __future__ import annotations

import redis
import structlog
from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from handoff.errors import BadRequest, Expired, HandoffError, NotFound, Settled, TooLarge, Unavailable
from handoff.models import ActorKind
from handoff.moments import rfc3339
from handoff.outcomes import Outcome
from handoff.states import CloseReason, State
from handoff.views import ActorView, DecisionView, Problem, ProblemField

log = structlog.get_logger(__name__)


def install(app: Flask) -> None:
    """Makes every error that leaves the application a problem document."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, answer_to)


def answer_to(error: Exception) -> Response:
    """The response for any error but Flask's own; needs no request."""
    if isinstance(error, HandoffError):
        return problem(error)
    if isinstance(error, redis.RedisError):
        log.error("store_away", why=type(error).__name__)
        return problem(
            Unavailable(
                "The store can't be reached right now. Please send the request again.", retry_after_s=1
            )
        )
    log.error("unforeseen", exc_info=error)
    return problem(HandoffError("Something went wrong on our side. It is in the log."))


def problem(error: HandoffError) -> Response:
    """The response for one of our errors."""
    document = Problem(
        type=f"urn:handoff:problem:{error.code}",
        title=error.title,
        status=error.status,
        detail=error.detail,
        code=error.code,
        errors=tuple(ProblemField(field=one.field, message=one.message) for one in error.errors),
        **error.extra,
    )
    response = Response(
        document.model_dump_json(exclude_none=True),
        status=error.status,
        content_type="application/problem+json",
    )
    response.headers["Cache-Control"] = "no-store"
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.retry_after_s is not None:
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def refused(outcome: Outcome) -> Settled:
    """The error for a command that lost, saying to whom and when."""
    when = f" at {rfc3339(outcome.closed_at)}" if outcome.closed_at else ""
    by = outcome.closed_by
    who = f" by {by.name or by.id}" if by and by.kind is not ActorKind.CLOCK else ""
    if outcome.state is State.ACKNOWLEDGED and outcome.holder:
        text = f"{outcome.holder.by.name or outcome.holder.by.id} has it already."
    else:
        was = "" if outcome.state is State.EXPIRED else "was "
        text = f"It {was}{outcome.state}{who}{when}; nothing was changed."
    kind = Expired if outcome.close_reason is CloseReason.NOBODY else Settled
    error = kind(text)
    error.extra = {
        "state": outcome.state,
        "close_reason": outcome.close_reason,
        "closed_at": outcome.closed_at,
        "closed_by": ActorView.of(outcome.closed_by),
        "settlement": DecisionView.of(outcome.settlement),
    }
    return error


def _http(error: HTTPException) -> Response:
    if error.code == 404:
        return problem(NotFound("There is nothing at this address."))
    if error.code == 413:
        return problem(TooLarge("The body is larger than 1 MB."))
    ours = BadRequest(error.description or error.name)
    ours.status = error.code or 400
    ours.code = error.name.lower().replace(" ", "_")
    ours.title = error.name
    response = problem(ours)
    if error.code == 405 and getattr(error, "valid_methods", None):
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))  # type: ignore[attr-defined]  # MethodNotAllowed only
    return response
