"""The operator's pages: every handoff so far, one handoff's whole story, and what an operator can do to it.

Thin views: who is signed in is signin.py's, words are words.py's, stories timeline.py's and reached.py's,
waiting console_news.py's; the commands are the domain's. GET and HEAD change nothing. Every act is a POST
with the session's own nonce, which is also the command's id, so that a form sent twice acts once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import redis
import structlog
from flask import Blueprint, Response, current_app, redirect, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from handoff import ids
from handoff.changes import open_calls
from handoff.errors import BadRequest, Invalid, NotFound, Unavailable
from handoff.models import AskResult, Channel, Decision, Handoff, Proof
from handoff.outcomes import Outcome
from handoff.states import CloseReason, Kind, State, Trigger
from handoff.store import sha256
from handoff.views import WarningView
from handoff.waiting import ANY
from handoff.web import console_news, rates, waits, words
from handoff.web.bodies import whole_body
from handoff.web.context import services
from handoff.web.reached import reached
from handoff.web.signin import Operator, current_operator, genuine, page, sign_in_page
from handoff.web.timeline import lines

log = structlog.get_logger(__name__)
bp = Blueprint("console", __name__)

#: Handoffs on one page of the list.
PER_PAGE = 20
#: Acts per operator and minute.
RATE = 60
VERBS = "any(acknowledgement, resolution, refusal, cancellation, ring)"


class NotSignedIn(Exception):
    """An operator's page was asked for by somebody who is none."""


@bp.get("/")
def front_door() -> AnyResponse:
    """What this is; for operators, every handoff so far."""
    operator = current_operator()
    return page("home.html") if operator is None else _list(operator)


@bp.get("/last")
def last() -> AnyResponse:
    """The newest handoff."""
    _operator()
    found, _ = services().store.page(agent=None, state=None, before=None, limit=1)
    return redirect(_at(f"/handoffs/{found[0].id}" if found else "/"), 303)


@bp.get("/console/news")
def list_news() -> AnyResponse:
    """Answers when a page of the list is no longer what was `seen`."""
    _operator()
    query, store = _filters(), services().store

    def look() -> str:
        found, following = store.page(
            agent=query.agent, state=query.state, before=query.cursor, limit=PER_PAGE
        )
        return console_news.list_token(found, following)

    return _news(ANY, look)


@bp.get("/handoffs/<handoff_id>")
def show(handoff_id: str) -> AnyResponse:
    """One handoff: how it stands, what can be done, who was reached, and all that happened."""
    return _case(_operator(), _read(handoff_id))


@bp.get(f"/handoffs/<handoff_id>/<{VERBS}:_>")
def show_again(handoff_id: str, _: str) -> AnyResponse:
    """A form's address without its form, as browsers ask for when they restore a tab: the page itself."""
    return show(handoff_id)


@bp.get("/handoffs/<handoff_id>/news")
def news(handoff_id: str) -> AnyResponse:
    """Answers when the handoff is no longer what was `seen`."""
    _operator()
    _read(handoff_id)
    store = services().store

    def look() -> str:
        handoff = store.read(handoff_id)
        return str(handoff.rev) if handoff else "gone"

    return _news(handoff_id, look)


@bp.post("/handoffs/<handoff_id>/acknowledgement")
def acknowledge(handoff_id: str) -> AnyResponse:
    """I'm on it."""
    return _act(handoff_id, Trigger.ACKNOWLEDGE)


@bp.post("/handoffs/<handoff_id>/resolution")
def resolve(handoff_id: str) -> AnyResponse:
    """Done; or: this is the answer."""
    return _act(handoff_id, Trigger.RESOLVE)


@bp.post("/handoffs/<handoff_id>/refusal")
def refuse(handoff_id: str) -> AnyResponse:
    """It can't be done."""
    return _act(handoff_id, Trigger.DECLINE)


@bp.post("/handoffs/<handoff_id>/cancellation")
def cancel(handoff_id: str) -> AnyResponse:
    """It is withdrawn."""
    return _act(handoff_id, Trigger.CANCEL)


@bp.post("/handoffs/<handoff_id>/ring")
def ring(handoff_id: str) -> AnyResponse:
    """People are rung again, from the first step on."""
    return _act(handoff_id, Trigger.RING_AGAIN)


@bp.errorhandler(NotSignedIn)
def not_signed_in(_: NotSignedIn) -> AnyResponse:
    """To the form, and back; a script is told so in a word, and a form that was sent has changed nothing."""
    where = request.full_path.rstrip("?")
    if request.path.endswith("/news"):
        return Response(status=401, mimetype="text/plain", headers={"Cache-Control": "no-store"})
    if request.method == "POST":
        where, typed = where.rpartition("/")[0], [request.form.get(one, "") for one in ("answer", "comment")]
        notice = "You are not signed in any more. Nothing was changed."
        return sign_in_page(401, notice, onward=where, typed="\n".join(filter(None, typed)))
    return redirect(_at(f"/sign-in?{urlencode({'next': where})}"), 303)


@bp.errorhandler(NotFound)
def not_found(_: NotFound) -> AnyResponse:
    """No such handoff, or it was deleted after its retention time."""
    return trouble(404, "There is no such handoff here. It may have been deleted after its retention time.")


@bp.errorhandler(BadRequest)
def broken_off(_: BadRequest) -> AnyResponse:
    """A form that did not arrive whole."""
    return trouble(400, "That broke off on its way. Nothing was changed; please send it again.")


@bp.errorhandler(Invalid)
def invalid(error: Invalid) -> AnyResponse:
    """An address that somebody wrote by hand."""
    return trouble(422, f"This address makes no sense: {error.detail}.")


@bp.errorhandler(redis.RedisError)
@bp.errorhandler(Unavailable)
def not_now(error: Exception) -> AnyResponse:
    """What was sent may have been taken and the word of it lost; sent again, it counts once."""
    log.error("console_not_available", why=type(error).__name__)
    what = (
        "We can’t reach our own memory right now. If you sent something, send it again: it counts only once."
    )
    return page("console_trouble.html", 503, what=what)


@bp.errorhandler(413)
def too_large(_: Exception) -> AnyResponse:
    """What was sent is more than any form of ours takes."""
    return trouble(413, "That was too long to send. Nothing was changed.")


def _operator() -> Operator:
    operator = current_operator()
    if operator is None:
        raise NotSignedIn
    return operator


def _read(handoff_id: str) -> Handoff:
    if not ids.is_id(handoff_id, ids.HANDOFF):
        raise NotFound("There is no such handoff.")
    return services().handoffs.get(handoff_id)


def _list(operator: Operator) -> Response:
    query, store = _filters(), services().store
    found, following = store.page(agent=query.agent, state=query.state, before=query.cursor, limit=PER_PAGE)
    agents = {key.agent for key in store.api_keys() if "agent" in key.scopes}
    chosen = {"state": query.state, "agent": query.agent}
    # On the newest page only: what is needed is needed once.
    needs = [] if query.cursor else list(map(WarningView.of, services().handoffs.warnings.all()))
    return page(
        "console_rows.html" if "fragment" in request.args else "console.html",
        operator=operator,
        handoffs=found,
        states=State,
        agents=sorted(agents | ({query.agent} if query.agent else set())),
        chosen=chosen,
        here=_query(chosen | {"cursor": query.cursor}),
        first=_query(chosen),
        next=_query(chosen | {"cursor": following}) if following else None,
        older=query.cursor is not None,
        needs=needs,
        seen=console_news.list_token(found, following),
        words=words,
        now=services().clock(),
    )


def _case(operator: Operator, handoff: Handoff, *, status: int = 200, notice: str = "") -> Response:
    at = services()
    events = at.store.events(handoff.id)
    found = (at.store.read_call(one.call) for one in handoff.attempts if one.call)
    calls = {call.id: call for call in found if call is not None}
    return page(
        "console_story.html" if "fragment" in request.args and request.method == "GET" else "handoff.html",
        status,
        operator=operator,
        handoff=handoff,
        notice=notice,
        lines=lines(handoff, events, calls),
        reached=reached(handoff, events, calls),
        mine=handoff.held_by(operator.actor.kind, operator.actor.id),
        open=not handoff.closed and at.clock() < handoff.deadline,
        ringing=[one.contact_name for one in open_calls(handoff)],
        metadata=json.dumps(handoff.metadata, ensure_ascii=False, indent=2) if handoff.metadata else "",
        answer=request.form.get("answer", ""),
        comment=request.form.get("comment", ""),
        words=words,
        now=at.clock(),
    )


def _act(handoff_id: str, asked: Trigger) -> AnyResponse:
    whole_body()  # also of who is not signed in any more: what was typed is shown to them once more
    operator = _operator()
    handoff = _read(handoff_id)
    if not genuine(operator):
        notice = "This form is too old. Nothing was changed; please try again."
        return _case(operator, handoff, status=403, notice=notice)
    if rates.over(f"operator:{operator.actor.id}", RATE):
        notice = "That was a lot at once. Please wait a minute; nothing was changed."
        return _case(operator, handoff, status=429, notice=notice)
    try:
        outcome = _decide(operator, handoff, asked)
    except Invalid as error:
        notice = error.errors[0].message if error.errors else error.detail
        return _case(operator, handoff, status=422, notice=notice)
    if outcome.won:
        return redirect(_at(f"/handoffs/{handoff.id}"), 303)
    status = 410 if outcome.close_reason is CloseReason.NOBODY else 409
    return _case(operator, _read(handoff.id), status=status, notice=words.lost(outcome))


def _decide(operator: Operator, handoff: Handoff, asked: Trigger) -> Outcome:
    # Browsers count a line end as one character and send two.
    do, answer = services().handoffs, request.form.get("answer", "").replace("\r\n", "\n")
    comment = request.form.get("comment", "").strip()[:1_000] or None
    decision = Decision(
        by=operator.actor,
        channel=Channel.CONSOLE,
        proof=Proof.CONSOLE,
        at=services().clock(),
        comment=comment,
    )
    # The page's forms share its nonce; another form, or the same with other words in it, is another command.
    command = f"console-{asked}-{request.form['nonce']}-{sha256(f'{answer}|{comment}')[:16]}"
    match asked:
        case Trigger.ACKNOWLEDGE:
            return do.acknowledge(handoff.id, decision, command)
        case Trigger.DECLINE:
            return do.decline(handoff.id, decision, command, known=handoff)
        case Trigger.CANCEL:
            return do.cancel(handoff.id, operator.actor, CloseReason.OPERATOR, command)
        case Trigger.RING_AGAIN:
            return do.ring_again(handoff.id, decision, command)
        case _:
            result = AskResult(answer=answer) if handoff.kind is Kind.ASK else None
            return do.resolve(handoff.id, decision, command, result=result, known=handoff)


def _news(watched: str, look: Callable[[], str]) -> Response:
    wait_s = waits.asked_for() or console_news.WAIT_S
    return console_news.news(services(), watched, request.args.get("seen", ""), look, wait_s)


def _filters() -> waits.ListQuery:
    """What the list is narrowed to; a form without script sends what was not chosen as nothing."""
    given = {name: request.args.get(name, "") for name in ("state", "agent", "cursor")}
    query = waits.read_list_query(MultiDict({name: text for name, text in given.items() if text}))
    if query.agent is not None and not ids.AGENT_NAME.fullmatch(query.agent):
        raise Invalid.field("agent", "is no name of an agent")
    return query


def _query(chosen: dict[str, Any]) -> str:
    """A query with these filters, without those that are not set; it begins with `?`, or is `?` alone."""
    return "?" + urlencode({name: value for name, value in chosen.items() if value})


def _at(path: str) -> str:
    return f"{current_app.config['URL_PREFIX']}{path}"


def trouble(status: int, what: str) -> Response:
    """The page that says why something did not work."""
    return page("console_trouble.html", status, what=what, operator=current_operator())
