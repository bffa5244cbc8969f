"""The OpenAPI 3.1 document, generated from the views' models, and the page that shows it.

spectree only documents here: requests are read by bodies.py, which tells 400 from 422 and refuses what
JSON readers disagree on. Of its page templates none is used: they load scripts from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast

from flask import Blueprint, Flask, Response, current_app, jsonify, render_template
from markupsafe import Markup, escape
from spectree import Response as Answers
from spectree import SecurityScheme, SpecTree
from spectree.models import SecureType, SecuritySchemeData

from handoff.views import Problem

View = TypeVar("View", bound=Callable[..., Any])

bp = Blueprint("openapi", __name__)

spec = SpecTree(
    "flask",
    mode="strict",
    title="Handoff",
    version="1",
    openapi_version="3.1.0",
    security_schemes=[
        SecurityScheme(name="apiKey", data=SecuritySchemeData(type=SecureType.HTTP, scheme="bearer"))
    ],
    security={"apiKey": []},
    annotations=False,
    page_templates={},
    validation_error_model=Problem,
    naming_strategy=lambda model: model.__name__,
    nested_naming_strategy=lambda _, child: child,
)

#: What every call of the API may answer, and what every call with a body may; the views name the rest.
ANYWHERE, WITH_BODY = (401, 422, 503), (400, 413)

#: Every POST may carry one: what it means stands beside the call.
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key makes a repeated request the same command, with the outcome it had.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


def register(app: Flask) -> None:
    """Lets spectree see the routes, and keeps the document, which never changes while the process lives."""
    spec.register(app)
    with app.app_context():
        app.extensions["openapi"] = _finished(deepcopy(spec.spec))
    app.jinja_env.filters["ticks"] = _ticks


def documented(**told: Any) -> Callable[[View], View]:
    """Tells spectree of a view and leaves the view as it is: spectree's own wrapper reads every answer to its
    end before it is sent (3.0.0, `validate_response`), so that a stream would come only when it is over."""

    def decorate(view: View) -> View:
        @wraps(spec.validate(skip_validation=True, **told)(view))
        def plain(*args: Any, **kwargs: Any) -> Any:
            return view(*args, **kwargs)

        return cast(View, plain)

    return decorate


def answers(**models: Any) -> Answers:
    """What a view may answer: its own models, and a problem document for every error it names."""
    return Answers(**{f"HTTP_{code.lstrip('_')}": model or Problem for code, model in models.items()})


@bp.get("/openapi.json")
def openapi_json() -> Response:
    """The OpenAPI 3.1 document."""
    return jsonify(current_app.extensions["openapi"])


@bp.get("/docs")
def docs_page() -> str:
    """The same, to read. No script, nothing from elsewhere."""
    return render_template(
        "docs.html", spec=current_app.extensions["openapi"], prefix=current_app.config["URL_PREFIX"]
    )


def _finished(document: dict[str, Any]) -> dict[str, Any]:
    """What spectree can't say: errors are problem documents, POSTs take a key, a timeline can be a stream."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for status in (*ANYWHERE, *WITH_BODY) if method == "post" else ANYWHERE:
                operation["responses"].setdefault(str(status), _problem(status))
            for code, answer in operation["responses"].items():
                content = answer.get("content", {})
                if int(code) >= 400 and "application/json" in content:
                    answer["content"] = {"application/problem+json": content["application/json"]}
            if method == "post":
                operation["parameters"] = [*operation.get("parameters", []), IDEMPOTENCY_KEY]
            if path.endswith("/events"):
                operation["responses"]["200"]["content"]["text/event-stream"] = {"schema": {"type": "string"}}
                operation["responses"]["204"] = {"description": "As a stream: nothing is left to say."}
    return document


def _problem(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": HTTPStatus(status).phrase, "content": {"application/json": {"schema": schema}}}


def _ticks(text: str) -> Markup:
    """Text with `code` in it, as HTML."""
    parts = re.split(r"`([^`]+)`", text)
    marked = [
        Markup("<code>{}</code>").format(part) if odd % 2 else escape(part) for odd, part in enumerate(parts)
    ]
    return Markup("").join(marked)
