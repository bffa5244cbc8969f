"""The OpenAPI 3.1 document, generated from the views' models, and the page that shows it.

spectree only documents here: requests are read by bodies.py, which tells 400 from 422 and refuses what
JSON readers disagree on. Of its page templates none is used: they load scripts from elsewhere.
"""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, current_app, jsonify, render_template
from spectree import Response as Answers
from spectree import SecurityScheme, SpecTree
from spectree.models import SecureType, SecuritySchemeData

from handoff.messages import Problem

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
)


def answers(**models: Any) -> Answers:
    """What a view may answer: its own models, and a problem document for every error it names."""
    return Answers(**{f"HTTP_{code.lstrip('_')}": model or Problem for code, model in models.items()})


def document() -> dict[str, Any]:
    """The OpenAPI document of the running application."""
    found: dict[str, Any] = spec.spec
    return found


@bp.get("/openapi.json")
def openapi_json() -> Response:
    """The OpenAPI 3.1 document."""
    return jsonify(document())


@bp.get("/docs")
def docs_page() -> str:
    """The same, to read. No script, nothing from elsewhere."""
    return render_template("docs.html", spec=document(), prefix=current_app.config["URL_PREFIX"])
