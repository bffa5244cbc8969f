"""The API, `/v1`: thin views. Who may is context.py's, waiting is waits.py's, shapes are messages.py's."""

from __future__ import annotations

from flask import Blueprint, Response, request

from handoff import ids
from handoff.addresses import UnsafeUrl, check_url
from handoff.commands import fingerprint
from handoff.errors import Forbidden, Invalid
from handoff.messages import CommentRequest, EmptyRequest, OpenRequest, ResolutionRequest
from handoff.models import AskResult, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.rights import ApiKey
from handoff.states import CloseReason, Kind, State
from handoff.store import sha256
from handoff.views import EventList, EventView, HandoffList, HandoffView
from handoff.web import context, problems, waits
from handoff.web.bodies import read_body, said
from handoff.web.openapi import answers, documented

bp = Blueprint("api", __name__, url_prefix="/v1")


@bp.post("/handoffs")
@documented(
    json=OpenRequest,
    resp=answers(_201=HandoffView, _200=HandoffView, _403=None, _409=None, _410=None),
    tags=["handoffs"],
)
def open_handoff() -> Response:
    """Open a handoff: people are reached at once.

    With an `Idempotency-Key`, the same key and body find the same handoff again (200, and
    `Idempotent-Replayed: true`) and ring nobody; the same key with another body is refused (409).
    """
    key = context.agent()
    wanted = read_body(OpenRequest, may_be_empty=False)
    _check_callbacks(wanted)
    opened = context.services().handoffs.open(wanted, key, _idempotency_key(), fingerprint(wanted))
    response = said(HandoffView.of(opened.handoff), 200 if opened.replayed else 201)
    response.headers["Location"] = f"{context.services().settings.public_url}/v1/handoffs/{opened.handoff.id}"
    if opened.replayed:
        response.headers["Idempotent-Replayed"] = "true"
    return response


@bp.get("/handoffs/<handoff_id>")
@documented(
    query=waits.WaitQuery,
    resp=answers(_200=HandoffView, _401=None, _404=None, _422=None),
    tags=["handoffs"],
)
def show_handoff(handoff_id: str) -> Response:
    """The handoff. With `wait`, the answer comes when it closes, or when the wait is over.

    A wait also ends, with the present state, when the server shuts down. `Retry-After` asks for that
    pause before the next request: too many are waiting here already.
    """
    if wait_s := waits.asked_for():
        return waits.long_poll(handoff_id, wait_s)
    _, handoff = context.caller_and_handoff(handoff_id)
    return said(HandoffView.of(handoff))


@bp.get("/handoffs")
@documented(
    query=waits.ListQuery,
    resp=answers(_200=HandoffList, _401=None, _403=None, _422=None),
    tags=["handoffs"],
)
def list_handoffs() -> Response:
    """Handoffs, newest first, by cursor. An agent sees its own; an operator sees all."""
    key = context.caller()
    query = waits.read_list_query(request.args)
    own = None if "operator" in key.scopes else key.agent
    if own and query.agent not in (None, own):
        raise Forbidden("An agent's key lists its own handoffs only.")
    found, cursor = context.services().store.page(
        agent=own or query.agent, state=query.state, before=query.cursor, limit=query.limit
    )
    return said(HandoffList(handoffs=tuple(map(HandoffView.of, found)), next_cursor=cursor))


@bp.get("/handoffs/<handoff_id>/events")
@documented(resp=answers(_200=EventList, _401=None, _404=None), tags=["handoffs"])
def list_events(handoff_id: str) -> Response:
    """The timeline, oldest first. With `Accept: text/event-stream` it goes on live until the close.

    As a stream, each event's id is its `seq`; `Last-Event-ID` goes on after that one, and a stream that
    has nothing left to say answers 204, so that the browser stops asking.
    """
    _, handoff = context.caller_and_handoff(handoff_id)
    after = _last_event_id()
    if request.accept_mimetypes.best_match(["application/json", "text/event-stream"]) == "text/event-stream":
        return waits.event_stream(context.services(), handoff, after)
    events = context.services().store.events(handoff_id, after=after)
    return said(EventList(events=tuple(map(EventView.of, events))))


@bp.post("/handoffs/<handoff_id>/cancellation")
@documented(
    json=EmptyRequest,
    resp=answers(_200=HandoffView, _401=None, _404=None, _409=None, _410=None),
    tags=["handoffs"],
)
def cancel(handoff_id: str) -> Response:
    """Withdraw it: phones stop ringing. Withdrawing it twice is withdrawing it once."""
    key, handoff = context.caller_and_handoff(handoff_id)
    read_body(EmptyRequest)
    reason = CloseReason.OPERATOR if "operator" in key.scopes else CloseReason.AGENT
    services = context.services()
    outcome = services.handoffs.cancel(handoff_id, context.actor(key), reason, _command(key, "cancel"))
    if not outcome.won and outcome.state is not State.CANCELLED:
        raise problems.refused(outcome)
    return said(HandoffView.of(services.handoffs.get(handoff_id)))


@bp.post("/handoffs/<handoff_id>/observation")
@documented(
    json=EmptyRequest,
    resp=answers(_200=HandoffView, _401=None, _403=None, _404=None, _409=None, _410=None, _422=None),
    tags=["handoffs"],
)
def observe(handoff_id: str) -> Response:
    """The agent saw that the wall is gone. Only for `clear`; it never counts as a person's word."""
    key, handoff = context.caller_and_handoff(handoff_id)
    context.agent()
    read_body(EmptyRequest)
    if handoff.kind is not Kind.CLEAR:
        raise Invalid("Only a handoff of kind `clear` can be observed to be over.")
    outcome = context.services().handoffs.observe(handoff_id, context.actor(key), _command(key, "observe"))
    return _settled(handoff_id, outcome)


@bp.post("/handoffs/<handoff_id>/acknowledgement")
@documented(
    json=CommentRequest,
    resp=answers(_200=HandoffView, _401=None, _403=None, _404=None, _409=None, _410=None),
    tags=["operators"],
)
def acknowledge(handoff_id: str) -> Response:
    """An operator has it: escalation pauses."""
    key, handoff = _as_operator(handoff_id)
    decision = _decision(key, read_body(CommentRequest))
    command = _command(key, "acknowledge")
    return _settled(handoff.id, context.services().handoffs.acknowledge(handoff.id, decision, command))


@bp.post("/handoffs/<handoff_id>/resolution")
@documented(
    json=ResolutionRequest,
    resp=answers(_200=HandoffView, _401=None, _403=None, _404=None, _409=None, _410=None, _422=None),
    tags=["operators"],
)
def resolve(handoff_id: str) -> Response:
    """An operator settles it: the wall is gone, or this is the answer."""
    key, handoff = _as_operator(handoff_id)
    body = read_body(ResolutionRequest)
    if handoff.kind is Kind.CLEAR and body.answer is not None:
        raise Invalid.field("answer", "This handoff asks for no answer; leave it out.")
    result = AskResult(answer=body.answer) if handoff.kind is Kind.ASK else None
    outcome = context.services().handoffs.resolve(
        handoff.id, _decision(key, body), _command(key, "resolve"), result=result, known=handoff
    )
    return _settled(handoff.id, outcome)


@bp.post("/handoffs/<handoff_id>/refusal")
@documented(
    json=CommentRequest,
    resp=answers(_200=HandoffView, _401=None, _403=None, _404=None, _409=None, _410=None),
    tags=["operators"],
)
def refuse(handoff_id: str) -> Response:
    """An operator says no; `comment` tells the agent why."""
    key, handoff = _as_operator(handoff_id)
    decision = _decision(key, read_body(CommentRequest))
    command = _command(key, "refuse")
    outcome = context.services().handoffs.decline(handoff.id, decision, command, known=handoff)
    return _settled(handoff.id, outcome)


def _as_operator(handoff_id: str) -> tuple[ApiKey, Handoff]:
    """404 before 403, so that an agent's key learns nothing of other agents' handoffs."""
    _, handoff = context.caller_and_handoff(handoff_id)
    return context.operator(), handoff


def _settled(handoff_id: str, outcome: Outcome) -> Response:
    if not outcome.won:
        raise problems.refused(outcome)
    return said(HandoffView.of(context.services().handoffs.get(handoff_id)))


def _decision(key: ApiKey, body: CommentRequest) -> Decision:
    return Decision(
        by=context.actor(key),
        channel=Channel.CONSOLE,
        proof=Proof.CONSOLE,
        at=context.services().clock(),
        comment=body.comment,
    )


def _command(key: ApiKey, verb: str) -> str:
    """The command's id: from the caller's Idempotency-Key if it sent one, for its retries. Another body under
    the same key is another command, and is told that this one settled it."""
    body = sha256(request.get_data(as_text=True))[:16]
    return f"{verb}-{key.id}-{_idempotency_key() or ids.random_text(22)}-{body}"


def _idempotency_key() -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and (not 1 <= len(key) <= 200 or not (key.isascii() and key.isprintable())):
        raise Invalid.field("Idempotency-Key", "must be 1 to 200 printable ASCII characters")
    return key


def _last_event_id() -> int:
    text = request.headers.get("Last-Event-ID", "0").strip() or "0"
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise Invalid.field("Last-Event-ID", "must be the id of an event of this handoff")
    return int(text)


def _check_callbacks(wanted: OpenRequest) -> None:
    """Refuses callback addresses that can be seen now to be private; the others are checked when called."""
    for field in ("resume_url", "outcome_url"):
        url = getattr(wanted, field)
        if url is not None:
            try:
                check_url(url, allow_private=context.services().settings.allow_private_callbacks)
            except UnsafeUrl as error:
                raise Invalid.field(field, str(error)) from None
