"""The door that Twilio's requests come through: signed by our account, or refused; what goes wrong is spoken.

Blueprints of voice/ are made here. What is asked during a call is on_the_line.py's business, what we are told
about calls and texts webhooks.py's.
"""

from __future__ import annotations

from urllib.parse import urlencode

import redis
import structlog
from flask import Blueprint, Response, abort, current_app, request

from handoff.bootstrap import Services
from handoff.errors import HandoffError
from handoff.models import Attempt, Call, Handoff
from voice import scripts

log = structlog.get_logger(__name__)


def blueprint(name: str, *, secret_digits: bool = False) -> Blueprint:
    """A blueprint below `/twilio` whose every request is verified before anything else. `secret_digits`: what
    is typed there goes into no URL; its routes ask again when nothing came."""
    bp = Blueprint(f"twilio_{name}", __name__, url_prefix="/twilio")
    bp.before_request(only_twilio)
    bp.register_error_handler(Exception, broken_in_secret if secret_digits else broken)
    return bp


def only_twilio() -> None:
    """403 unless the request is signed by our account, for exactly this address and body."""
    raw = str(request.environ.get("RAW_URI") or request.environ.get("REQUEST_URI") or request.full_path)
    path, _, query = raw.partition("?")
    at = services()
    body = request.get_data(cache=True)  # before the form is read, which would leave nothing of it
    genuine = at.verifier.verify(
        path_raw=path.removeprefix(request.script_root),
        query_raw=query,
        content_type=request.content_type,
        form=request.form,
        body=body,
        signature=request.headers.get("X-Twilio-Signature"),
    )
    if not genuine:
        log.warning("webhook_refused", path=path)
        abort(403)


def broken_in_secret(error: Exception) -> Response:
    """As `broken`, but what was typed is forgotten and asked for again."""
    return broken(error, with_key=False)


def broken(error: Exception, *, with_key: bool = True) -> Response:
    """A caller hears a sentence, never a stack trace; a status callback may come again."""
    code = getattr(error, "code", None)
    if code in (403, 404, 405, 408, 413):
        return Response(status=code)
    log.error("webhook_failed", path=request.path, exc_info=error)
    if request.path.endswith(("/status", "/machine", "/texts/inbound")):
        return Response(status=503)
    retry = request.args.get("retry", 0, type=int) + 1
    if isinstance(error, redis.RedisError | HandoffError):
        args = request.args.to_dict() | {"retry": str(retry)}
        if with_key:
            # Twilio does not send Digits again after a Redirect, so the key rides along.
            args["key"] = request.form.get("Digits") or request.args.get("key", "")
        again = f"{services().settings.public_url}{request.path}?{urlencode(args)}"
        return twiml(scripts.one_moment(again, retry))
    return twiml(scripts.apology())


def spoken_for(
    call_id: str, attempt_id: str | None = None
) -> tuple[Call | None, Handoff | None, Attempt | None]:
    """The call, and the handoff and attempt that it is about now, or that the URL names."""
    store = services().store
    call = store.read_call(call_id)
    entries = call.entries if call else ()
    entry = next((one for one in reversed(entries) if attempt_id in (None, one.attempt)), None)
    if call is None or entry is None:
        return call, None, None
    structlog.contextvars.bind_contextvars(handoff=entry.handoff, call=call_id)
    handoff = store.read(entry.handoff)
    return call, handoff, handoff.attempt(entry.attempt) if handoff else None


def services() -> Services:
    """What bootstrap.py wired for this application."""
    found: Services = current_app.extensions["handoff"]
    return found


def twiml(document: str) -> Response:
    """A document as Twilio takes it."""
    return Response(document, content_type="text/xml; charset=utf-8")
